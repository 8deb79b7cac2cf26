import { echo } from './echo-model/echo.ts';
import { listen } from './gateway/server.ts';
import type { FunctionSpec } from './template/functions.ts';
import type { StackSpec } from './template/stack.ts';

/** The local upstream of model requests, whatever the model. */
export interface LocalUpstream {
  readonly baseUrl: string;
  readonly key?: string;
}

/** The route whose function forwards model requests. */
const inferencePath = '/inference/v1/{path+}';

/**
 * Gives the stack's functions this upstream in place of the configured ones. The keys of those are
 * in Secrets Manager, which does not run locally.
 */
export const withUpstream = (
  { api, functions }: Pick<StackSpec, 'api' | 'functions'>,
  { baseUrl, key }: LocalUpstream,
): FunctionSpec[] => {
  const route = api.routes.find(({ path }) => path === inferencePath);
  const upstreams = [{ name: 'local', models: ['*'], baseUrl, ...(key !== undefined && { key }) }];
  const environment = { INFERENCE_UPSTREAMS: JSON.stringify(upstreams) };
  return functions.map((spec) =>
    spec.arn === route?.function.arn
      ? { ...spec, environment: { ...spec.environment, ...environment } }
      : spec,
  );
};

/** Starts the echo model on the loopback address. */
export const startEchoModel = async (): Promise<LocalUpstream & { stop(): Promise<void> }> => {
  const server = await listen(0, Promise.resolve(echo));
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop() };
};
