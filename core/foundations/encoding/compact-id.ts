import { joinBytes } from './join-bytes.ts';
import { packUuid, unpackUuid } from './uuid.ts';

/** Marks a UUID. Ids hold no control characters, so none begins with this byte. */
const uuidTag = 1;

/**
 * An id for keys that only tell ids apart. A canonical UUID, the usual case, takes 17 bytes instead
 * of 36; any other id is its UTF-8.
 */
export const compactId = (id: string): Buffer => {
  const packed = packUuid(id);
  return packed ? joinBytes(uuidTag, packed) : Buffer.from(id, 'utf8');
};

/** Undoes {@link compactId}. */
export const fromCompactId = (bytes: Uint8Array): string =>
  bytes[0] === uuidTag
    ? unpackUuid(bytes.subarray(1))
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
