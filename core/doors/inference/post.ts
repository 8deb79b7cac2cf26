import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Headers } from './request.ts';

const connectMs = 5000;

/**
 * How long an idle connection is reused, in ms. Many servers close theirs after five seconds, and a
 * frozen function does not notice. A request that fails on a closed connection may have been
 * served, so it is not sent again.
 */
const idleMs = 4000;

const agents = {
  'http:': new HttpAgent({ keepAlive: true }),
  'https:': new HttpsAgent({ keepAlive: true }),
};

const freedAt = new WeakMap<Socket, number>();
for (const agent of Object.values(agents))
  agent.on('free', (socket: Socket) => freedAt.set(socket, Date.now()));

const closeIdle = (agent: HttpAgent): void => {
  const sockets = Object.values(agent.freeSockets).flatMap((list) => list ?? []);
  for (const socket of sockets) {
    if (Date.now() - (freedAt.get(socket) ?? 0) > idleMs) socket.destroy();
  }
};

/**
 * POSTs a body once, without retries and without following redirects.
 *
 * @param signal aborts the request and its answer
 * @returns the answer as soon as its headers have come; its body is as the server encoded it
 * @throws Error if no connection is made within five seconds or it breaks before the answer; the
 * signal's AbortError
 */
export const post = (
  url: URL,
  headers: Headers,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<IncomingMessage> => {
  const secure = url.protocol === 'https:';
  const agent = agents[secure ? 'https:' : 'http:'];
  closeIdle(agent);
  return new Promise((resolve, reject) => {
    const request = (secure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
      agent,
      signal,
    });
    const giveUp = () => request.destroy(new Error(`no connection within ${connectMs} ms`));
    const timer = setTimeout(giveUp, connectMs);
    const connected = () => clearTimeout(timer);
    request.once('socket', (socket) => {
      if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', connected);
      else connected();
    });
    request.once('close', connected);
    request.once('response', resolve);
    // An error after the answer has begun reaches the reader of its body instead.
    request.on('error', reject);
    request.end(body);
  });
};
