import { join } from 'node:path';
import { makeApp } from '../../lib/app.ts';
import { bundle } from '../../lib/bundles.ts';
import { constantsOf, handlersIn } from '../../lib/handlers.ts';
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
app.synth();
