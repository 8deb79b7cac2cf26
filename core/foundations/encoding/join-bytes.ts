/** Joins the parts of a key: texts as UTF-8, numbers from 0 to 255 as one byte, bytes unchanged. */
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
