import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { makeApp } from '../../lib/app.ts';
import { bundle } from '../../lib/bundles.ts';
import { constantsOf, handlersIn } from '../../lib/handlers.ts';
import { pageHandler } from '../../lib/page.ts';
import { root } from './project.ts';

/*
 * The app of a test run: the project's own, which bundles all handlers that there are, in both
 * dialects. Stacks with other settings are made from these bundles (`synthesize-with.ts`).
 */
const app = await makeApp({}, handlersIn('svc'));
await bundle({
  root,
  handlers: handlersIn('weave'),
  outdir: join(app.outdir, 'bundles/weave'),
  constants: constantsOf('weave'),
});
// The page is the same in both.
const pageIn = (bundles: string) => join(app.outdir, bundles, pageHandler, 'page');
cpSync(pageIn('bundles'), pageIn('bundles/weave'), { recursive: true });
app.synth();
