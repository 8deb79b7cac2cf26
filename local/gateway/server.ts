import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** An HTTP server on the loopback address. */
export interface LocalServer {
  readonly port: number;
  /**
   * Takes no more requests, gives those under way a moment, and ends. Once is enough, more do no
   * harm.
   */
  stop(): Promise<void>;
}

/** The port that was asked for is somebody else's. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken';
}

/**
 * As long as API Gateway keeps connections open, so that no client meets one that is just closing.
 */
const keepAliveMs = 75_000;
const graceMs = 3000;

/**
 * Listens on a port of the loopback address. Requests that come before there is a listener wait for
 * it.
 *
 * @param port 0 for any that is free
 * @throws PortTaken where something listens there already
 */
export const listen = async (port: number, listener: Promise<RequestListener>): Promise<LocalServer> => {
  // Whoever gave it sees its failure; no request shall end the process over it.
  const answer: RequestListener = (req, res) => {
    listener.then(
      (serve) => serve(req, res),
      () => res.destroy(),
    );
  };
  const server = createServer({ keepAliveTimeout: keepAliveMs, requestTimeout: 120_000 }, answer);
  // The body's reader tells a client that waits with its body to go on, or not.
  server.on('checkContinue', answer);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new PortTaken(`port ${port} is taken: end what listens there, or set PORT to another (0 for any)`);
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
