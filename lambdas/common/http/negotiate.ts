import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import Negotiator from 'negotiator';
import { type ErrorBody, ServiceError } from '../../../foundations/wire/index.ts';
import { getHeaders } from './headers.ts';

type Headers = Pick<APIGatewayProxyEvent, 'headers'>;

/**
 * Chooses the media type of an answer among those that can be written. It is the one that the
 * client likes best, or the first without an `accept` header.
 *
 * @throws ServiceError 406 when the client accepts none of them
 */
export const mediaType = (event: Headers, written: readonly string[]): string => {
  // A charset makes no difference: all answers are UTF-8.
  const accept = getHeaders(event).accept?.replace(/;\s*charset=[^;,]*/gi, '') || '*/*';
  const chosen = new Negotiator({ headers: { accept } }).mediaType([...written]);
  if (chosen !== undefined) return chosen;
  throw new ServiceError(406, [
    { loc: ['header', 'accept'], msg: `should accept one of ${written.join(', ')}`, type: 'not_acceptable' },
  ]);
};

/**
 * The longest answer that goes out uncompressed to whoever has no key, in bytes. Anybody can ask for a
 * longer one any number of times, at the operator's expense.
 */
export const maxPlainBytes = 16 * 1024;

/** The body of the 406 to a request that would get a longer one. */
export const compressedOnly = (codings: readonly string[]): ErrorBody => ({
  detail: [
    {
      loc: ['header', 'accept-encoding'],
      msg: `should accept ${codings.join(' or ')}: this answer is sent compressed alone. With curl, add --compressed`,
      type: 'not_acceptable',
    },
  ],
});

/** The codings that an answer can be compressed with, ours to prefer first. */
const codings = ['zstd', 'gzip'] as const;
export type Coding = (typeof codings)[number];

/** Compresses an answer that is there as a whole. */
export const compress = { zstd: zstdCompressSync, gzip: gzipSync } as const satisfies Record<Coding, unknown>;

/** Negotiator with an option that its types do not have yet. */
interface Preferring {
  encoding(available: readonly string[], options: { preferred: readonly string[] }): string | undefined;
}

/**
 * Chooses among codings: by the client's preference, and among equals the first. The client must
 * name a coding, since `*` alone does not say that it can read it.
 *
 * @returns undefined for an answer as it is
 */
export const preferredCoding = <C extends string>(event: Headers, preferred: readonly C[]): C | undefined => {
  const headers = getHeaders(event);
  const header = headers['accept-encoding']?.toLowerCase() ?? '';
  const named = header.split(',').map((part) => part.split(';', 1)[0]?.trim());
  const available = preferred.filter((coding) => named.includes(coding));
  if (available.length === 0) return undefined;
  const negotiator: Preferring = new Negotiator({ headers });
  const chosen = negotiator.encoding([...available, 'identity'], { preferred });
  return available.find((coding) => coding === chosen);
};

/** Chooses how to compress an answer; undefined for an answer as it is. */
export const contentCoding = (event: Headers): Coding | undefined => preferredCoding(event, codings);
