import { uuidv7 } from 'uuidv7';

const printable = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+$/u;

/** What an id must look like, for error messages. */
export const idRule = 'should be 1 to 256 printable characters';

/** Whether a client's id is 1–256 printable characters (code points): no controls, line breaks, lone surrogates. */
export const isId = (text: string): boolean =>
  text.length > 0 &&
  text.length <= 512 &&
  (text.length <= 256 || [...text].length <= 256) &&
  printable.test(text);

/** Makes an id of the server's own: a UUIDv7, so in order of time. */
export const newId = (): string => uuidv7();
