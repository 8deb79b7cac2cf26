import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** What can be done to a request on its way to a store. */
export type Fault =
  /** It goes through. */
  | 'none'
  /** It is refused for its rate and never reaches the store. */
  | 'throttle'
  /** It is refused for good, as no repetition would change. */
  | 'refuse'
  /** It is never answered, and never reaches the store. */
  | 'hang'
  /** The store has it, and the answer is an internal error all the same. */
  | 'error'
  /** The store has it, and the connection breaks before the answer. */
  | 'reset'
  /** A batch is done by half; the rest comes back unprocessed, or throttled one by one. */
  | 'half';

/** A request as it passes the proxy. */
export interface PassingRequest {
  /** The operation, e.g. `Query`; empty where the store is not DynamoDB. */
  readonly operation: string;
  readonly body: string;
}

/** A proxy in front of a store that does to each request what it is told. */
export interface FaultyProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Every request so far, whatever was done to it. */
  readonly requests: readonly PassingRequest[];
}

/**
 * Starts a proxy.
 *
 * @param target where the store answers
 * @param decide what is to be done to a request
 */
export const startFaultyProxy = async (
  target: string,
  decide: (request: PassingRequest) => Fault,
): Promise<FaultyProxy> => {
  const requests: PassingRequest[] = [];

  const forward = (req: IncomingMessage, body: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = { ...req.headers, 'content-length': String(Buffer.byteLength(body)) };
      const onward = request(
        new URL(req.url ?? '/', target),
        { method: req.method ?? 'POST', headers },
        async (answer) =>
          resolve({ status: answer.statusCode ?? 500, text: (await buffer(answer)).toString('utf8') }),
      );
      onward.once('error', reject).end(body);
    });

  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = (await buffer(req)).toString('utf8');
    const operation =
      String(req.headers['x-amz-target'] ?? '')
        .split('.')
        .at(-1) ?? '';
    requests.push({ operation, body });
    const answer = (status: number, text: string) =>
      res.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
    const fail = (status: number, type: string) =>
      answer(
        status,
        JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'made by the test' }),
      );

    const fault = decide({ operation, body });
    if (fault === 'throttle') return void fail(400, 'ProvisionedThroughputExceededException');
    if (fault === 'hang') return;
    if (fault === 'refuse') return void fail(400, 'AccessDeniedException');
    const halve = fault === 'half' ? halves[operation] : undefined;
    if (halve)
      return void answer(200, await halve(JSON.parse(body), async (kept) => (await forward(req, kept)).text));
    const { status, text } = await forward(req, body);
    if (fault === 'error') return void fail(500, 'InternalServerError');
    if (fault === 'reset') return void res.destroy();
    answer(status, text);
  };

  const server = createServer((req, res) => {
    serve(req, res).catch(() => res.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** Sends the first half of a batch on, and gives the answer with what is left of it. */
type Halve = (batch: Batch, send: (body: string) => Promise<string>) => Promise<string>;

interface Batch {
  RequestItems: Record<string, unknown>;
  Statements: unknown[];
}

const split = <T>(list: readonly T[]): [first: T[], rest: T[]] => {
  const middle = Math.ceil(list.length / 2);
  return [list.slice(0, middle), list.slice(middle)];
};

const halves: Readonly<Record<string, Halve>> = {
  BatchWriteItem: async (batch, send) => {
    const [table = '', items] = Object.entries(batch.RequestItems)[0] ?? [];
    const [first, rest] = split(items as unknown[]);
    const answer = JSON.parse(await send(JSON.stringify({ ...batch, RequestItems: { [table]: first } })));
    return JSON.stringify({ ...answer, UnprocessedItems: rest.length > 0 ? { [table]: rest } : {} });
  },
  BatchGetItem: async (batch, send) => {
    const [table = '', wanted] = Object.entries(batch.RequestItems)[0] ?? [];
    const { Keys, ...others } = wanted as { Keys: unknown[] };
    const [first, rest] = split(Keys);
    const half = { ...batch, RequestItems: { [table]: { ...others, Keys: first } } };
    const answer = JSON.parse(await send(JSON.stringify(half)));
    return JSON.stringify({
      ...answer,
      UnprocessedKeys: rest.length > 0 ? { [table]: { ...others, Keys: rest } } : {},
    });
  },
  BatchExecuteStatement: async (batch, send) => {
    const [first, rest] = split(batch.Statements);
    const answer = JSON.parse(await send(JSON.stringify({ ...batch, Statements: first })));
    const throttled = rest.map(() => ({ Error: { Code: 'ThrottlingError', Message: 'made by the test' } }));
    return JSON.stringify({ ...answer, Responses: [...answer.Responses, ...throttled] });
  },
};
