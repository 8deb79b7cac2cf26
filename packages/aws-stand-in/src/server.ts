import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Doorkeeping, guarded, loopback } from './loopback.ts';

/** A server, on the loopback address unless it was told another. */
export interface LocalServer {
  readonly port: number;
  /**
   * Accepts no more requests, waits up to three seconds for pending ones, and ends. Further calls do
   * nothing.
   */
  stop(): Promise<void>;
}

/** Another process listens on the requested port. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken';
  readonly port: number;

  constructor(port: number) {
    super(
      `port ${port} is in use: end the process that listens on it, or choose another (0 for any free port)`,
    );
    this.port = port;
  }
}

/**
 * API Gateway keeps idle connections as long, in ms. Clients rarely meet a connection that is
 * closing.
 */
const keepAliveMs = 75_000;

/** API Gateway ends an answer of which nothing has gone out for as long, in ms. */
const silentMs = 300_000;
const graceMs = 3000;

/** A port of this machine that nothing listens on at the moment. */
export const freePort = async (): Promise<number> => {
  const { port, stop } = await listen(
    0,
    Promise.resolve(() => {}),
  );
  await stop();
  return port;
};

/**
 * Listens on a port of the loopback address. Requests wait until the listener resolves.
 *
 * @param port 0 for any free port
 * @param options whose requests come in, after how many ms without a byte in or out a connection is
 * closed, and another address to listen on. @default - those of programs on this machine, as API Gateway
 * does, and the loopback address
 * @throws PortTaken if another process listens on it
 */
export const listen = async (
  port: number,
  listener: Promise<RequestListener>,
  {
    idleMs = silentMs,
    address: host = loopback,
    ...doorkeeping
  }: Doorkeeping & { readonly idleMs?: number; readonly address?: string } = {},
): Promise<LocalServer> => {
  // The caller sees the listener's failure. A request must not end the process because of it.
  const answer = guarded((req, res) => {
    listener.then(
      (serve) => serve(req, res),
      () => res.destroy(),
    );
  }, doorkeeping);
  const server = createServer({ keepAliveTimeout: keepAliveMs, requestTimeout: 120_000 }, answer);
  server.setTimeout(idleMs);
  // The body's reader decides whether a waiting client may send its body.
  server.on('checkContinue', answer);
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new PortTaken(port);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    server.closeIdleConnections();
    await Promise.race([closed, sleep(graceMs, undefined, { ref: false })]);
    server.closeAllConnections();
    await closed;
  };
  return {
    port: address.port,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
};
