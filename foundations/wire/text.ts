/** A text; undefined for any other value. */
export const asString = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** A text that is not empty; undefined for any other value. */
export const nonEmptyString = (value: unknown): string | undefined => asString(value) || undefined;

/** The text of bytes in UTF-8, without a copy of them. */
export const decodeUtf8 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
