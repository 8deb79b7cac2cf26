import type { IncomingMessage, ServerResponse } from 'node:http';
import { drain } from './body.ts';
import type { WholeAnswer } from './gateway-response.ts';
import { type GatewayRequest, readRequest } from './request.ts';

/** Why nobody waits for an answer any more. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** One request on its way to its answer. */
export interface Exchange {
  readonly request: GatewayRequest;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /**
   * Aborted when nobody waits for a function any more: with ClientGone, or the refusal that the
   * client gets instead.
   */
  readonly ending: AbortController;
  /** What the authorizer said of the caller; empty until it has been asked. */
  authorizer: Readonly<Record<string, string>>;
}

/** Begins an exchange: gives the request its id and watches the client. */
export const exchangeOf = (req: IncomingMessage, res: ServerResponse): Exchange => {
  const request = readRequest(req);
  const ending = new AbortController();
  res.once('close', () => ending.abort(new ClientGone('the client has gone')));
  res.setHeader('x-amzn-RequestId', request.id);
  return { request, req, res, ending, authorizer: {} };
};

/** Sets status and headers. Throws where a header has characters that none may have. */
export const setHead = (
  res: ServerResponse,
  { status, headers }: Pick<WholeAnswer, 'status' | 'headers'>,
): void => {
  res.statusCode = status;
  for (const [name, value] of headers) res.appendHeader(name, value);
};

/**
 * Sends an answer that is complete, also where the client is still sending a body that nobody
 * reads.
 */
export const sendWhole = async ({ req, res }: Exchange, answer: WholeAnswer): Promise<void> => {
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

/** Sends an answer in the place of whatever was begun, but not sent. */
export const sendInstead = async (exchange: Exchange, answer: WholeAnswer): Promise<void> => {
  const { request, res } = exchange;
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  res.setHeader('x-amzn-RequestId', request.id);
  await sendWhole(exchange, answer);
};
