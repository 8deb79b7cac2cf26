import * as z from 'zod/mini';

/*
 * Fields that people and programs name freely. In Weave's dialect a name is made to fit and not
 * refused. One bad name would cost the whole batch, and the SDKs send a batch again and again, or
 * end their program.
 */

const maxName = 1024;
const maxId = 256;
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;

/** A text without what cannot be printed, cut to so many characters. */
const printable = (text: string, length: number): string =>
  text
    .replace(unprintable, ' ')
    .slice(0, length)
    .replace(/[\ud800-\udbff]$/, '');

/** A name that people read. An empty one is called `unnamed`, since a call must have a name. */
export const lenientName = z.pipe(
  z.string(),
  z.transform((text) => printable(text, maxName) || 'unnamed'),
);

const lenient = (length: number) =>
  z.pipe(
    z.nullable(z.string()),
    z.transform((text) => (text && printable(text, length)) || null),
  );

/** A name that may be taken away: an empty one is none. */
export const optionalName = lenient(maxName);

/** An id that a program names freely, such as a thread's; an empty one is none. */
export const optionalId = lenient(maxId);
