import * as z from 'zod/mini';
import type { WireNames } from './names.ts';
import { displayText, id } from './schema.ts';

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
export const nameIn = ({ dialect }: WireNames) =>
  dialect === 'svc'
    ? displayText
    : z.pipe(
        z.string(),
        z.transform((text) => printable(text, maxName) || 'unnamed'),
      );

/** A name that may be taken away: an empty one is none. */
export const optionalNameIn = ({ dialect }: WireNames) =>
  dialect === 'svc'
    ? z.nullable(displayText)
    : z.pipe(
        z.nullable(z.string()),
        z.transform((text) => (text && printable(text, maxName)) || null),
      );

/** An id that a program names freely, such as a thread's; an empty one is none. */
export const optionalIdIn = ({ dialect }: WireNames) =>
  dialect === 'svc'
    ? z.nullable(id)
    : z.pipe(
        z.nullable(z.string()),
        z.transform((text) => (text && printable(text, maxId)) || null),
      );
