/**
 * Joins what a key is made of: texts as UTF-8, numbers from 0 to 255 as one byte each, bytes as
 * they are.
 */
export const joinBytes = (...parts: (string | Uint8Array | number)[]): Buffer =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'number'
        ? Buffer.of(part)
        : typeof part === 'string'
          ? Buffer.from(part, 'utf8')
          : part,
    ),
  );
