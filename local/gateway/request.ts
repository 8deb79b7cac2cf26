import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** A request as API Gateway sees it. */
export interface GatewayRequest {
  /** The gateway's id of the request, a UUID. */
  readonly id: string;
  readonly method: string;
  /** As sent: still encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names as sent, values in order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly sourceIp: string;
  /** When the request came, in ms since 1970. */
  readonly receivedAt: number;
}

/** Pairs the names and values that Node gives as a flat list. */
const pairs = (raw: readonly string[]): [string, string][] =>
  raw.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));

/** Reads id, method, path, query and headers of a request. */
export const readRequest = (req: IncomingMessage): GatewayRequest => {
  const [path = '/', query] = (req.url ?? '/').split(/\?(.*)/s);
  return {
    id: randomUUID(),
    method: req.method ?? 'GET',
    path,
    query: new URLSearchParams(query),
    headers: pairs(req.rawHeaders),
    sourceIp: req.socket.remoteAddress ?? '127.0.0.1',
    receivedAt: Date.now(),
  };
};

/**
 * The values of a header.
 *
 * @param name the header's name in lower case
 */
export const headerValues = ({ headers }: Pick<GatewayRequest, 'headers'>, name: string): string[] =>
  headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
