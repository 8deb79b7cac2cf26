import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { getHandlers } from '../../../api/endpoint.ts';
import { allRoutes } from '../../../api/routes.ts';
import { bundle, requireHandlers } from '../../../lib/bundles.ts';
import { root } from '../../support/run/project.ts';

it('every route has its handler', () => {
  expect(() => requireHandlers(root, getHandlers(allRoutes))).not.toThrow();
});

it('bundling begins with the name of each handler that is missing, and of what needs it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'api'));
  writeFileSync(join(folder, 'api/reports.ts'), "endpoint({ path: '/call/start' })");
  const bundling = bundle({ root: folder, handlers: ['call/start', 'alerts'], outdir: 'nowhere' });
  await expect(bundling).rejects.toThrow(
    [
      'lambdas/endpoints/call/start.ts is missing: it answers POST /call/start, which api/reports.ts describes. Write it, or name another',
      'lambdas/background/alerts.ts is missing: lib/handlers.ts or lib/features.ts names it. Write it, or name another',
    ].join('\n'),
  );
});
