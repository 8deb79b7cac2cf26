import { join, resolve } from 'node:path';
import { App, type AppProps } from 'aws-cdk-lib';
import { routesOf } from '../api/routes.ts';
import { bundle } from './bundles.ts';
import { readConfig } from './config.ts';
import { constantsOf } from './constants.ts';
import { bundleOf } from './functions.ts';
import { handlersFor } from './handlers.ts';
import { pageHandler, placePage } from './page.ts';
import { PennytraceStack } from './stack.ts';

const root = resolve(import.meta.dirname, '..');

/**
 * Makes the CDK app. Bundles the handlers into the app's output folder and builds the stack from
 * the bundles. Settings come from the context: the CDK CLI reads it from cdk.json and its `-c`
 * options.
 *
 * @param others handlers to bundle beside those of the stack, for stacks with other settings
 * @throws SettingsError if a setting is unknown or bad
 * @throws Error if a handler does not build
 */
export const makeApp = (props: AppProps = {}, others: readonly string[] = []): App => {
  const app = new App({ analyticsReporting: false, autoSynth: false, ...props });
  const config = readConfig(app.node.getAllContext());
  const routes = routesOf(config.dialect);
  const handlers = [...new Set([...handlersFor(config, routes), ...others])];
  const constants = constantsOf(config.serviceName, config.dialect);
  const bundles = bundle({ root, handlers, outdir: join(app.outdir, 'bundles'), constants });
  placePage(root, bundleOf(bundles, pageHandler));
  new PennytraceStack(app, { config, routes, bundles });
  return app;
};
