import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type Fault, getOperation, type StoreAnswer, withFault } from './faults.ts';

export type { Fault } from './faults.ts';

/** A request as it passes the proxy. */
export interface PassingRequest {
  /** The operation, e.g. `Query` or `PutObject`. */
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
 * @param decide what is to be done to a request, perhaps after a while
 * @param done is told of a request that the store has done, before its answer goes back
 */
export const startFaultyProxy = async (
  target: string,
  decide: (request: PassingRequest) => Fault | Promise<Fault>,
  done: (request: PassingRequest) => Promise<void> | void = () => {},
): Promise<FaultyProxy> => {
  const requests: PassingRequest[] = [];

  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = await buffer(req);
    const named = getOperation(req.headers['x-amz-target']?.toString(), req.method ?? 'POST');
    const passing = { operation: named.operation, body: body.toString('utf8') };
    requests.push(passing);
    const fault = await decide(passing);
    const outcome = await withFault(fault, { ...named, body }, (kept) => forward(target, req, kept));
    await done(passing);
    if (outcome === 'silence') return;
    if (outcome === 'break') return void res.destroy();
    res.writeHead(outcome.status, outcome.headers).end(outcome.body);
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

/** Headers that are between two ends of one connection. */
const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding']);

const forward = (target: string, req: IncomingMessage, body: Buffer): Promise<StoreAnswer> =>
  new Promise((resolve, reject) => {
    const { 'transfer-encoding': _, ...headers } = req.headers;
    const sent = { ...headers, 'content-length': String(body.length) };
    const onward = request(
      new URL(req.url ?? '/', target),
      { method: req.method ?? 'POST', headers: sent },
      (answer) => {
        const kept = Object.entries(answer.headers).filter(([name]) => !hopByHop.has(name));
        const headers = Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
        buffer(answer).then(
          (bytes) => resolve({ status: answer.statusCode ?? 500, headers, body: bytes }),
          reject,
        );
      },
    );
    onward.once('error', reject).end(body);
  });
