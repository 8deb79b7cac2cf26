import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Fault, fits, getOperation, type StoreAnswer, withFault } from './faults.ts';

/** A request of an AWS SDK client, as it reaches the client's connection. */
interface SdkRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface SdkResponse {
  readonly response: {
    readonly statusCode: number;
    readonly headers: Record<string, string>;
    readonly body?: unknown;
  };
}

interface HandlerOptions {
  readonly abortSignal?: AbortSignal;
}

/** What an SDK client makes its requests with. */
interface RequestHandler {
  handle(request: SdkRequest, options?: HandlerOptions): Promise<SdkResponse>;
}

/** An SDK client, as far as it is looked at here. */
export interface SdkClient {
  readonly config: { requestHandler: unknown };
}

/** What happens to the requests to stores that one piece of work makes. */
export interface FaultPlan {
  /**
   * Says what is to be done to the request of this number, from 0; what does not fit its operation
   * is not done.
   */
  readonly decide: (number: number, operation: string) => Fault;
  /** The operations of the requests so far, repetitions by the SDK included. */
  readonly operations: string[];
  /** The operations of the requests that are under way. */
  underWay: string[];
}

/** A plan of its own for one piece of work. */
export const faultPlan = (decide: FaultPlan['decide'] = () => 'none'): FaultPlan => ({
  decide,
  operations: [],
  underWay: [],
});

const plans = new AsyncLocalStorage<FaultPlan>();

/**
 * Does something whose requests to stores have their faults from a plan, whatever is done beside
 * it.
 */
export const planned = <T>(plan: FaultPlan, work: () => Promise<T>): Promise<T> => plans.run(plan, work);

/**
 * How long a client waits for an answer that does not come, in milliseconds: in the service it is
 * seconds.
 */
const silenceMs = 30;

/** What a client throws whose request was not answered, or was given up. */
const silence = async (signal: AbortSignal | undefined): Promise<never> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, silenceMs);
  signal?.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
  const name = signal?.aborted ? 'AbortError' : 'TimeoutError';
  throw Object.assign(new Error('made by the test'), { name });
};

/** The bytes of a request's body. */
export const toBytes = (body: unknown): Buffer =>
  body instanceof Uint8Array ? Buffer.copyBytesFrom(body) : Buffer.from(String(body ?? ''));

const toAnswer = async ({ response }: SdkResponse): Promise<StoreAnswer> => ({
  status: response.statusCode,
  headers: response.headers,
  body: await buffer(response.body as Readable),
});

const fromAnswer = ({ status, headers, body }: StoreAnswer): SdkResponse => ({
  response: { statusCode: status, headers: { ...headers }, body: Readable.from([body]) },
});

/** Has a client's requests suffer the faults of the plan that they are made under. */
export const makeFaulty = (client: SdkClient): void => {
  const inner = client.config.requestHandler as RequestHandler;
  const faulty = async (
    plan: FaultPlan,
    request: SdkRequest,
    options: HandlerOptions,
  ): Promise<SdkResponse> => {
    const named = getOperation(request.headers['x-amz-target'], request.method);
    const number = plan.operations.push(named.operation) - 1;
    const wanted = plan.decide(number, named.operation);
    const fault = fits(wanted, named.operation) ? wanted : 'none';
    if (fault === 'none') return inner.handle(request, options);
    const body = toBytes(request.body);
    const outcome = await withFault(fault, { ...named, body }, async (kept) => {
      const headers = { ...request.headers, 'content-length': String(kept.length) };
      const sent = typeof request.body === 'string' ? kept.toString('utf8') : kept;
      return toAnswer(await inner.handle(Object.assign(clone(request), { headers, body: sent }), options));
    });
    if (outcome === 'silence') return silence(options.abortSignal);
    if (outcome === 'break')
      throw Object.assign(new Error('the connection broke'), { code: 'ECONNRESET', name: 'Error' });
    return fromAnswer(outcome);
  };
  client.config.requestHandler = Object.assign(Object.create(inner) as RequestHandler, {
    handle: async (request: SdkRequest, options: HandlerOptions = {}) => {
      const plan = plans.getStore();
      if (!plan) return inner.handle(request, options);
      const { operation } = getOperation(request.headers['x-amz-target'], request.method);
      plan.underWay.push(operation);
      try {
        return await faulty(plan, request, options);
      } finally {
        plan.underWay.splice(plan.underWay.indexOf(operation), 1);
      }
    },
  });
};

/** The SDK's own requests have a prototype that its handlers look for. */
const clone = (request: SdkRequest): SdkRequest =>
  Object.assign(Object.create(Object.getPrototypeOf(request)), request) as SdkRequest;
