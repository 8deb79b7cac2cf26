import type { APIGatewayProxyEvent } from 'aws-lambda';
import Negotiator from 'negotiator';
import { ServiceError } from '../../core/wire/index.ts';
import { headersOf } from './event.ts';

type Headers = Pick<APIGatewayProxyEvent, 'headers'>;

/**
 * Chooses the media type of an answer among those that can be written: the one that the client
 * likes best, or the first without an `accept` header.
 *
 * @throws ServiceError 406 when the client accepts none of them
 */
export const mediaType = (event: Headers, written: readonly string[]): string => {
  // A charset makes no difference: all answers are UTF-8.
  const accept = headersOf(event).accept?.replace(/;\s*charset=[^;,]*/gi, '') || '*/*';
  const chosen = new Negotiator({ headers: { accept } }).mediaType([...written]);
  if (chosen !== undefined) return chosen;
  throw new ServiceError(406, [
    { loc: ['header', 'accept'], msg: `should accept one of ${written.join(', ')}`, type: 'not_acceptable' },
  ]);
};

/**
 * Whether the client wants its answer compressed with gzip. It must name gzip: `*` alone does not
 * count.
 */
export const acceptsGzip = (event: Headers): boolean => {
  const headers = headersOf(event);
  if (!/gzip/i.test(headers['accept-encoding'] ?? '')) return false;
  return new Negotiator({ headers }).encoding(['gzip', 'identity']) === 'gzip';
};
