import { join, resolve } from 'node:path';
import { App, type AppProps, CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { tables } from '../core/foundations/storage/tables.ts';
import { routesOf } from '../weave/api/routes.ts';
import { bundle } from './bundles.ts';
import { type Config, readConfig } from './config.ts';
import { bundleOf } from './functions.ts';
import { constantsOf, handlersFor } from './handlers.ts';
import { addPage, pageHandler } from './page.ts';
import { defaultId, Pennytrace, type Prebuilt } from './pennytrace.ts';

interface PennytraceStackProps extends Prebuilt {
  readonly config: Config;
}

/** The service alone in a stack for any account and region, with outputs that name its stores. */
export class PennytraceStack extends Stack {
  readonly service: Pennytrace;

  constructor(scope: Construct, { config, ...prebuilt }: PennytraceStackProps) {
    const { stackName, ...settings } = config;
    super(scope, stackName, {
      description: 'Tracing, feedback and inference for LLM applications, paid per request',
    });

    // The id keeps the logical ids of before there was the construct: another one would be another
    // table for what is stored.
    const service = new Pennytrace(this, defaultId, settings, prebuilt);
    this.service = service;

    this.#output('ApiUrl', service.apiUrl, 'The base URL of the service');
    this.#output(tables.keys.output, service.keysTable.tableName, 'Where `npm run keys` keeps the keys');
    this.#output(tables.calls.output, service.callsTable.tableName, 'Where calls are kept');
    this.#output(tables.objects.output, service.objectsTable.tableName, 'Where objects are kept');
    this.#output('PayloadsBucket', service.payloadsBucket.bucketName, 'Where big payloads are kept');
    this.#output(tables.costs.output, service.costsTable.tableName, 'Where prices of models are kept');
    this.#output(tables.feedback.output, service.feedbackTable.tableName, 'Where feedback is kept');
    this.#output(tables.rollups.output, service.rollupsTable.tableName, 'Where rollups of calls are kept');
    this.#analyticsOutputs(service);
  }

  /** What there is with the setting `analytics` alone. */
  #analyticsOutputs({ analyticsBucket, analyticsDatabase }: Pennytrace): void {
    if (!analyticsBucket || analyticsDatabase === undefined) return;
    this.#output('AnalyticsBucket', analyticsBucket.bucketName, 'Where the files of analytics are');
    this.#output('AnalyticsDatabase', analyticsDatabase, 'The database and the workgroup of Athena');
  }

  #output(name: string, value: string, description: string): void {
    new CfnOutput(this, name, { value, description });
  }
}

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
  const constants = constantsOf(config.dialect);
  const bundles = bundle({ root, handlers, outdir: join(app.outdir, 'bundles'), constants });
  addPage(root, bundleOf(bundles, pageHandler));
  new PennytraceStack(app, { config, routes, bundles });
  return app;
};
