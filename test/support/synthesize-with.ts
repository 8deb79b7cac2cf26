import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { routesOf } from '../../api/routes.ts';
import { PennytraceStack } from '../../lib/app.ts';
import { bundle } from '../../lib/bundles.ts';
import { type Config, readConfig } from '../../lib/config.ts';
import { constantsOf, handlersFor } from '../../lib/handlers.ts';
import { bundlesOf } from './assembly.ts';
import { cdkContext, root } from './project.ts';

/** The one handler whose bundle depends on the settings: it answers the OpenAPI document. */
const documentHandler = 'openapi';

const usual = readConfig(cdkContext);

/** The bundle of the document, if it is not that of this test run's stack. */
const documentBundle = ({ serviceName, dialect }: Config, outdir: string): ReadonlyMap<string, string> =>
  serviceName === usual.serviceName && dialect === usual.dialect
    ? new Map()
    : bundle({ root, handlers: [documentHandler], outdir, constants: constantsOf(serviceName, dialect) });

/**
 * Synthesizes the stack with settings, from the bundles of this test run's stack: bundling again
 * takes most of a synthesis.
 *
 * @param outdir the folder for the template
 */
export const synthesizeWith = (settings: Readonly<Record<string, unknown>>, outdir: string): void => {
  const app = new App({ outdir, context: { ...cdkContext, ...settings }, analyticsReporting: false });
  const config = readConfig(app.node.getAllContext());
  const routes = routesOf(config.dialect);
  const bundles = new Map([
    ...bundlesOf(handlersFor(config, routes)),
    ...documentBundle(config, join(outdir, 'bundles')),
  ]);
  new PennytraceStack(app, { config, routes, bundles });
  app.synth();
};
