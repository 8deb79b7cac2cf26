import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { handlersOf, routesOf } from '../../api/routes.ts';
import { readConfig } from '../../lib/config.ts';
import { PennytraceStack } from '../../lib/stack.ts';
import { assembly } from './assembly.ts';
import { cdkContext, temporaryFolder } from './project.ts';

/**
 * Synthesizes the stack with settings, from the bundles of this test run's stack: bundling again
 * takes most of a synthesis. The one bundle that holds settings, `openapi`, is the default's.
 *
 * @returns the folder that the stack was synthesized to
 */
export const assemblyWith = (settings: Readonly<Record<string, unknown>>): string => {
  const outdir = temporaryFolder();
  const app = new App({ outdir, context: { ...cdkContext, ...settings }, analyticsReporting: false });
  const config = readConfig(app.node.getAllContext());
  const routes = routesOf(config.dialect);
  const folderOf = (handler: string) => join(assembly(), 'bundles', handler);
  const bundles = new Map(
    [...handlersOf(routes), 'authorizer'].map((handler) => [handler, folderOf(handler)]),
  );
  for (const [handler, folder] of bundles)
    if (!existsSync(folder)) throw new Error(`the stack of this run has no bundle of ${handler}`);
  new PennytraceStack(app, { config, routes, bundles });
  app.synth();
  return outdir;
};
