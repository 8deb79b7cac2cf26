import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { isKeyed, type Route } from '../api/routes.ts';
import { tables } from '../core/storage/tables.ts';
import { Api } from './api.ts';
import { Auth } from './auth.ts';
import type { Config } from './config.ts';
import { Functions } from './functions.ts';
import { Inference } from './inference.ts';
import { Observability } from './observability.ts';
import { Storage } from './storage.ts';

/** What the service is made from. */
export interface PennytraceStackProps {
  readonly config: Config;
  readonly routes: readonly Route[];
  /** Each handler's bundle: those of all routes, and `authorizer`. */
  readonly bundles: ReadonlyMap<string, string>;
}

/** A route whose function does not delete feedback together with calls, nor may it. */
const withoutErasing = (route: Route): Route => {
  const { feedback, ...others } = route.stores;
  return isKeyed(route) && feedback === 'erase' ? { ...route, stores: others } : route;
};

/** The whole service, for any account and region. */
export class PennytraceStack extends Stack {
  constructor(scope: Construct, { config, bundles, ...props }: PennytraceStackProps) {
    super(scope, config.stackName, {
      description: 'Tracing, feedback and inference for LLM applications, paid per request',
    });

    const routes = config.keepFeedback ? props.routes.map(withoutErasing) : props.routes;
    const storage = new Storage(this, 'Storage', config);
    const auth = new Auth(this, 'Auth', { config, routes, bundles });
    const inference = new Inference(this, 'Inference', config);
    const functions = new Functions(this, 'Functions', { config, routes, storage, inference, bundles });
    const api = new Api(this, 'Api', { config, routes, auth, functions });
    new Observability(this, 'Observability', { config, routes, storage, auth, functions, api });

    this.#output('ApiUrl', api.url, 'The base URL of the service');
    this.#output(tables.keys.output, auth.keys.tableName, 'Where `npm run keys` keeps the keys');
    this.#output(tables.calls.output, storage.calls.tableName, 'Where calls are kept');
    this.#output(tables.objects.output, storage.objects.tableName, 'Where objects are kept');
    this.#output('PayloadsBucket', storage.payloads.bucketName, 'Where big payloads are kept');
    this.#output(tables.costs.output, storage.costs.tableName, 'Where prices of models are kept');
    this.#output(tables.feedback.output, storage.feedback.tableName, 'Where feedback is kept');
    this.#output(tables.rollups.output, storage.rollups.tableName, 'Where rollups of calls are kept');
  }

  #output(name: string, value: string, description: string): void {
    new CfnOutput(this, name, { value, description });
  }
}
