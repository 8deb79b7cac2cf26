import type { APIGatewayProxyEvent } from 'aws-lambda';
import Negotiator from 'negotiator';
import { ServiceError } from '../../core/wire/index.ts';
import { headersOf } from './event.ts';

type Headers = Pick<APIGatewayProxyEvent, 'headers'>;

/**
 * The media type that an answer is to have: of those that can be written, the first that the client
 * likes best; without an `accept` header, the first.
 *
 * @throws ServiceError 406 when the client accepts none of them
 */
export const mediaType = (event: Headers, written: readonly string[]): string => {
  // A charset narrows nothing here: all that is written is UTF-8.
  const accept = headersOf(event).accept?.replace(/;\s*charset=[^;,]*/gi, '') || '*/*';
  const chosen = new Negotiator({ headers: { accept } }).mediaType([...written]);
  if (chosen !== undefined) return chosen;
  throw new ServiceError(406, [
    { loc: ['header', 'accept'], msg: `should accept one of ${written.join(', ')}`, type: 'not_acceptable' },
  ]);
};

/**
 * Whether the client would have its answer compressed with gzip. Only what it names counts: `*`
 * alone does not.
 */
export const acceptsGzip = (event: Headers): boolean => {
  const headers = headersOf(event);
  if (!/gzip/i.test(headers['accept-encoding'] ?? '')) return false;
  return new Negotiator({ headers }).encoding(['gzip', 'identity']) === 'gzip';
};
