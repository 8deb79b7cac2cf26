import { randomUUID } from 'node:crypto';
import { finished } from 'node:stream/promises';
import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { matcher, parseMetadata, proxyEvent } from 'cdk-local-runner/gateway';
import { awslambda, delimiterLength, isStreaming, ResponseStream } from 'cdk-local-runner/runtime';
import { readStack } from 'cdk-local-runner/template';
import { vi } from 'vitest';
import { isKeyed, type Route } from '../../../api/endpoint.ts';
import { allRoutes } from '../../../api/routes.ts';
import { toContext } from '../../../foundations/auth/index.ts';
import type { DeployedStores } from '../../../lambdas/common/http/stores.ts';
import type { Limits } from '../../../lambdas/common/http/stream.ts';
import { bundledConstants } from '../../../lib/handlers.ts';
import { startEchoModel } from '../../../local/inference.ts';
import { type FaultPlan, faultPlan, makeFaulty, planned, type SdkClient } from '../faults/faulty-client.ts';
import { assembly } from '../stack/assembly.ts';
import { startContainer } from './container.ts';
import { shards } from './shards.ts';
import { createStores, type Stores } from './stores.ts';

/** A request to a route. */
export interface Sent {
  /** The path as it is asked for. */
  readonly path: string;
  /** @default POST */
  readonly method?: 'PUT' | 'GET';
  /** JSON, or bytes as they are sent; a GET has none. */
  readonly body: object | Buffer;
  /** Whether what is looked at may not be there, which is a 404. */
  readonly mayBeAbsent?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What became of a request. */
export interface Answer {
  /** Undefined where the function failed before its answer began: API Gateway answers 502 then. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Whether the answer came to its end; false where the connection would have been broken off. */
  readonly complete: boolean;
}

/** How a request is made. */
export interface SendOptions {
  readonly plan?: FaultPlan;
  /** How long the function may take, in milliseconds. @default - the time of its route */
  readonly timeMs?: number;
}

/** Takes requests to any route. */
export interface Sender {
  send(request: Sent): Promise<Answer>;
}

/** Every handler of a route that takes a key in this process, on stores of its own. */
export interface InProcess extends Sender {
  readonly stores: Stores;
  /** The lines that the functions logged of the request that an answer is to. */
  getLog(answer: Answer): string;
  send(request: Sent, options?: SendOptions): Promise<Answer>;
}

type Handler = (event: object, ...rest: unknown[]) => Promise<unknown>;

const setEnvironment = (stores: Stores, environment: Readonly<Record<string, string>>): void => {
  const { callsTable, objectsTable, costsTable, feedbackTable, rollupsTable, keysTable, auditTable, bucket } =
    stores;
  const all = {
    ...stores.environment,
    SHARDS: '4',
    CALLS_TABLE: callsTable,
    OBJECTS_TABLE: objectsTable,
    COSTS_TABLE: costsTable,
    FEEDBACK_TABLE: feedbackTable,
    BOOKKEEPING_TABLE: rollupsTable,
    KEYS_TABLE: keysTable,
    AUDIT_TABLE: auditTable,
    AUDIT_DAYS: '365',
    PAYLOADS_BUCKET: bucket,
    ...environment,
  };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  for (const [name, text] of Object.entries(bundledConstants())) vi.stubGlobal(name, text);
};

/** The body of a request as it is sent. */
export const toBytes = ({ method, body }: Sent): Buffer => {
  if (method === 'GET') return Buffer.alloc(0);
  return Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
};

/** The handlers of all routes that take a key, by path. They share one container. */
const loadHandlers = async (bounds: Partial<Limits>): Promise<Map<string, Handler>> => {
  const load = startContainer();
  const { limits } = await load<{ limits: Limits }>('lambdas/common/http/stream.ts');
  Object.assign(limits, bounds);
  const { stores } = await load<{ stores: DeployedStores }>('lambdas/common/http/stores.ts');
  for (const client of [stores.calls.table.client, await stores.calls.bucket.client])
    makeFaulty(client as SdkClient);
  const loaded = allRoutes.filter(isKeyed).map(async ({ path, handler }): Promise<[string, Handler]> => {
    const module = await load<{ handler: Handler }>(`lambdas/endpoints/${handler}.ts`);
    return [path, module.handler];
  });
  return new Map(await Promise.all(loaded));
};

const caller = toContext({
  user: 'ada',
  keyId: '0123456789abcdef',
  grants: [
    { scope: '*', role: 'write' },
    { scope: '*', role: 'inference' },
    { scope: '*', role: 'admin' },
  ],
});

const buffered = async (handler: Handler, event: object, context: Context): Promise<Answer> => {
  const { statusCode, headers, body } = (await handler(event, context)) as APIGatewayProxyResult;
  return { status: statusCode, headers: headers as Record<string, string>, text: body, complete: true };
};

const streamed = async (handler: Handler, event: object, context: Context): Promise<Answer> => {
  const pieces: Uint8Array[] = [];
  const stream: ResponseStream = new ResponseStream((bytes) => {
    pieces.push(bytes);
    setImmediate(() => stream.taken(bytes.length));
  });
  const over = finished(stream).then(
    () => true,
    () => false,
  );
  const handled = await handler(event, stream, context).then(
    () => true,
    () => {
      stream.end();
      return false;
    },
  );
  const complete = (await over) && handled;
  const bytes = Buffer.concat(pieces);
  const at = bytes.indexOf(Buffer.alloc(delimiterLength));
  if (at < 0) return { status: undefined, headers: {}, text: '', complete: false };
  const { status, headers } = parseMetadata(bytes.toString('utf8', 0, at));
  const text = bytes.toString('utf8', at + delimiterLength);
  return { status, headers: Object.fromEntries(headers), text, complete };
};

/**
 * Loads the handlers of all routes that take a key into this process, as their functions would with
 * the stack's environment, on empty stores. Their requests to stores suffer the faults that a
 * request is sent with, however many are sent at once. Once a test file.
 *
 * @param environment beside that of the stores
 * @param bounds on streamed answers, in place of those that are deployed
 */
export const startInProcess = async (
  environment: Readonly<Record<string, string>> = {},
  bounds: Partial<Limits> = {},
): Promise<InProcess> => {
  const stores = await createStores();
  setEnvironment(stores, environment);
  vi.stubGlobal('awslambda', awslambda);
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  const handlers = await loadHandlers(bounds);
  const { api } = readStack(assembly());
  const match = matcher(api.routes);

  const send = async (request: Sent, { plan = faultPlan(), timeMs }: SendOptions = {}): Promise<Answer> => {
    const found = match(request.method ?? 'POST', getPath(request));
    const handler = found && handlers.get(found.route.path);
    if (!found || !handler) throw new Error(`no route ${request.path}`);
    const event = proxyEvent(api, gatewayRequest(request), found, {
      authorizer: { ...caller },
      body: toBytes(request),
    });
    const deadline = Date.now() + (timeMs ?? findRoute(found.route.path).timeoutSeconds * 1000);
    const context = { getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()) } as Context;
    const answer = isStreaming(handler) ? streamed : buffered;
    return planned(plan, () => answer(handler, event, context));
  };
  const getLog = ({ headers }: Answer): string => {
    const id = headers['x-request-id'];
    return id === undefined ? '' : lines.filter((line) => line.includes(id)).join('');
  };
  return { stores, getLog, send };
};

const getPath = ({ path }: Sent): string => path.split('?')[0] ?? path;

const gatewayRequest = (request: Sent) => ({
  id: randomUUID(),
  method: request.method ?? 'POST',
  path: getPath(request),
  query: new URLSearchParams(request.path.split('?')[1]),
  headers: Object.entries({ 'content-type': 'application/json', ...request.headers }),
  sourceIp: '127.0.0.1',
  receivedAt: Date.now(),
});

const findRoute = (path: string): Route => {
  const route = allRoutes.find((candidate) => candidate.path === path);
  if (!route) throw new Error(`${path} is not in the list of routes`);
  return route;
};

/** Handlers in this process with a model behind inference, which is to be stopped. */
export interface InProcessWithModel extends InProcess {
  readonly stop: () => Promise<void>;
}

/**
 * As {@link startInProcess}, with a model that echoes as the upstream of all models, and the shards
 * of tests.
 */
export const startInProcessWithModel = async (): Promise<InProcessWithModel> => {
  const model = await startEchoModel();
  const upstreams = [{ name: 'local', models: ['*'], baseUrl: model.baseUrl }];
  const environment = { INFERENCE_UPSTREAMS: JSON.stringify(upstreams), SHARDS: String(shards) };
  const service = await startInProcess(environment);
  return { ...service, stop: () => model.stop() };
};
