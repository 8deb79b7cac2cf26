import type { IncomingMessage, ServerResponse } from 'node:http';
import { drain } from './body.ts';
import type { CompleteAnswer } from './gateway-response.ts';
import { type GatewayRequest, readRequest } from './request.ts';

/** The client closed the connection before it had the complete answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** A request with its connection, until the answer is sent. */
export interface Exchange {
  readonly request: GatewayRequest;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /**
   * Aborted when the function's answer is no longer needed. The reason is ClientGone, or the
   * Refusal that the client gets instead.
   */
  readonly ending: AbortController;
  /** The authorizer's context; empty before it was asked. */
  authorizer: Readonly<Record<string, string>>;
}

/** Begins an exchange: assigns the request's id and watches the connection. */
export const exchangeOf = (req: IncomingMessage, res: ServerResponse): Exchange => {
  const request = readRequest(req);
  const ending = new AbortController();
  res.once('close', () => ending.abort(new ClientGone('the client has gone')));
  res.setHeader('x-amzn-RequestId', request.id);
  return { request, req, res, ending, authorizer: {} };
};

/**
 * Sets status and headers.
 *
 * @throws TypeError if a header has invalid characters
 */
export const setHead = (
  res: ServerResponse,
  { status, headers }: Pick<CompleteAnswer, 'status' | 'headers'>,
): void => {
  res.statusCode = status;
  for (const [name, value] of headers) res.appendHeader(name, value);
};

/**
 * Sends a complete answer. If the client is still sending its body, the rest is read and dropped.
 */
export const sendComplete = async ({ req, res }: Exchange, answer: CompleteAnswer): Promise<void> => {
  setHead(res, answer);
  res.setHeader('content-length', answer.body.length);
  if (req.complete) {
    res.end(answer.body);
    return;
  }
  res.setHeader('connection', 'close');
  res.write(answer.body);
  await drain(req);
  res.end();
};

/** Sends an answer instead of one that was prepared but not sent. */
export const sendReplacement = async (exchange: Exchange, answer: CompleteAnswer): Promise<void> => {
  const { request, res } = exchange;
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  res.setHeader('x-amzn-RequestId', request.id);
  await sendComplete(exchange, answer);
};
