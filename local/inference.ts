import { echo } from './echo-model/echo.ts';
import { listen } from './gateway/server.ts';
import type { FunctionSpec } from './template/functions.ts';
import type { StackSpec } from './template/stack.ts';

/** Where model requests go locally, whatever model they are for. */
export interface LocalUpstream {
  readonly baseUrl: string;
  readonly key?: string;
}

/** The route whose function passes model requests on. */
const inferencePath = '/inference/v1/{path+}';

/**
 * The functions of a stack, with this upstream in the environment of the one that passes model
 * requests on, in the place of those of the settings: their keys are in Secrets Manager, which
 * there is none of here.
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

/** Starts a model that echoes, on the loopback address. */
export const startEchoModel = async (): Promise<LocalUpstream & { stop(): Promise<void> }> => {
  const server = await listen(0, Promise.resolve(echo));
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop() };
};
