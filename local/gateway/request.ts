import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** A request as API Gateway sees it. */
export interface GatewayRequest {
  /** The gateway's id of it, a UUID. */
  readonly id: string;
  readonly method: string;
  /** As sent, so still encoded; without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names as sent, values in order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly sourceIp: string;
  /** When it came, in milliseconds since 1970. */
  readonly receivedAt: number;
}

/** Names and values by turns, as Node has them, in pairs. */
const pairs = (raw: readonly string[]): [string, string][] =>
  raw.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));

/** Reads a request's head. */
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

/** The values of a header, whatever the case of its name. */
export const headerValues = ({ headers }: GatewayRequest, name: string): string[] =>
  headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
