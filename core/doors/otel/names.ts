import { createHash } from 'node:crypto';
import { isId } from '../../foundations/wire/index.ts';

const maxName = 1024;
const maxId = 256;
const digestLength = 24;

/** What neither a name nor an id may hold: controls and lone surrogates. */
const unprintable = /[\p{Cc}\p{Cs}]+/gu;
const lineSeparators = /[\p{Zl}\p{Zp}]+/gu;

/**
 * A span's name as an op's: 1–1,024 characters without controls. Others become spaces, and a longer
 * name is cut.
 */
export const opNameOf = (name: string): string => {
  const clean = name.slice(0, maxName).replace(unprintable, ' ');
  return clean === '' ? 'unnamed' : clean;
};

/**
 * A client's text as an id of 1–256 printable characters. A longer one is cut and ends in a digest,
 * so that different texts give different ids.
 *
 * @returns undefined if nothing printable is in the text
 */
export const idFrom = (text: string): string | undefined => {
  if (isId(text)) return text;
  const clean = text.replace(unprintable, ' ').replace(lineSeparators, ' ').trim();
  if (clean === '') return undefined;
  if (isId(clean)) return clean;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, digestLength);
  const kept = [...clean.slice(0, 2 * maxId)].slice(0, maxId - digestLength - 1).join('');
  return `${kept.replace(unprintable, ' ')}-${digest}`;
};
