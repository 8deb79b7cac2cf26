/** A UUID in lower-case hex with its four hyphens. Its 16 bytes give only this spelling back. */
const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The 16 bytes of a canonical UUID of any version; undefined for any other text. */
export const packUuid = (id: string): Buffer | undefined =>
  id.length === 36 && canonicalUuid.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : undefined;

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The canonical UUID of 32 hex digits. */
export const uuidOfHex = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

/** The canonical UUID of 16 bytes. Undoes {@link packUuid}. */
export const unpackUuid = (bytes: Uint8Array): string => uuidOfHex(asBuffer(bytes).toString('hex'));
