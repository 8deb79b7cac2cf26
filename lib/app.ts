import { join, resolve } from 'node:path';
import { App, type AppProps } from 'aws-cdk-lib';
import { allRoutes } from '../api/routes.ts';
import { bundle } from './bundles.ts';
import { readConfig } from './config.ts';
import { bundledConstants, getBundle } from './handlers.ts';
import { addPage, buildPage, pageHandler } from './page.ts';

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
export const makeApp = async (props: AppProps = {}, others: readonly string[] = []): Promise<App> => {
  const app = new App({ analyticsReporting: false, autoSynth: false, ...props });
  const config = readConfig(app.node.getAllContext());
  // esbuild builds the page while CDK's constructs load.
  const [page, { handlersFor }, { PennytraceStack }] = await Promise.all([
    buildPage(root),
    import('./features.ts'),
    import('./stack.ts'),
  ]);
  const handlers = [...new Set([...handlersFor(config, allRoutes), ...others])];
  const outdir = join(app.outdir, 'bundles');
  const bundles = await bundle({ root, handlers, outdir, constants: bundledConstants() });
  addPage(page, getBundle(bundles, pageHandler));
  new PennytraceStack(app, { config, routes: allRoutes, bundles });
  return app;
};
