import { promisify } from 'node:util';
import { gunzip, inflate, inflateRaw } from 'node:zlib';
import { ServiceError, tooLarge } from '../../../foundations/wire/index.ts';
import { badBody } from './bad-body.ts';

/** The most bytes of an unpacked body. zlib stops there, before it unfolds more. */
const maxUnpackedBytes = 32 * 1024 * 1024;

type Unpack = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

const unpackers = {
  gzip: promisify(gunzip) as Unpack,
  zlib: promisify(inflate) as Unpack,
  raw: promisify(inflateRaw) as Unpack,
};

/** Neither a JSON object nor a message of this kind begins like packed bytes. */
const looksUnpacked = (first: number | undefined): boolean =>
  first === undefined || first === 0x0a || first === 0x7b || first === 0x20;

/**
 * Whether bytes begin as RFC 1950 has it. Most senders of `deflate` mean that; some send RFC 1951
 * without a head.
 */
const isZlib = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;

/**
 * How a body is packed; undefined if it is not. API Gateway documents that it unpacks bodies by
 * itself and does not say what becomes of the header, so the bytes decide.
 *
 * @throws ServiceError 415 for another encoding
 */
const packingOf = (encoding: string, bytes: Uint8Array): keyof typeof unpackers | undefined => {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return bytes[0] === 0x1f && bytes[1] === 0x8b ? 'gzip' : undefined;
    case 'deflate':
      if (isZlib(bytes)) return 'zlib';
      return looksUnpacked(bytes[0]) ? undefined : 'raw';
    default: {
      const msg = `should be gzip, deflate or absent, not ${encoding.slice(0, 100)}`;
      throw new ServiceError(415, [
        { loc: ['header', 'content-encoding'], msg, type: 'unsupported_media_type' },
      ]);
    }
  }
};

/**
 * Unpacks a body of at most 32 MB.
 *
 * @param encoding the `content-encoding` header; empty if there is none
 * @throws ServiceError 400 if it is packed otherwise, 413 if it is too long, 415 for another
 * encoding
 */
export const unpackBody = async (bytes: Uint8Array, encoding: string): Promise<Uint8Array> => {
  const packing = packingOf(encoding, bytes);
  if (packing === undefined) return bytes;
  try {
    return await unpackers[packing](bytes, { maxOutputLength: maxUnpackedBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE')
      throw badBody(`is not ${encoding.trim().toLowerCase()}, as content-encoding says`, error);
    const msg = `should be at most ${maxUnpackedBytes} bytes unpacked: lower OTEL_BSP_MAX_EXPORT_BATCH_SIZE, or send_batch_max_size of a collector`;
    throw tooLarge({ loc: ['body'], msg, type: 'too_large' });
  }
};
