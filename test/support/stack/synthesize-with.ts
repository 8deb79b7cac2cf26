import { App } from 'aws-cdk-lib';
import { allRoutes } from '../../../api/routes.ts';
import { readConfig } from '../../../lib/config.ts';
import { handlersFor } from '../../../lib/features.ts';
import { PennytraceStack } from '../../../lib/stack.ts';
import { cdkContext } from '../run/project.ts';
import { bundlesOf } from './assembly.ts';

/**
 * Synthesizes the stack with settings, from the bundles of this test run's stack: bundling again
 * takes most of a synthesis.
 *
 * @param outdir the folder for the template
 */
export const synthesizeWith = (settings: Readonly<Record<string, unknown>>, outdir: string): void => {
  const app = new App({ outdir, context: { ...cdkContext, ...settings }, analyticsReporting: false });
  const config = readConfig(app.node.getAllContext());
  const bundles = bundlesOf(handlersFor(config, allRoutes));
  new PennytraceStack(app, { config, routes: allRoutes, bundles });
  app.synth();
};
