import { ExactNumber, isNumber, plainNumber } from '../wire/index.ts';
import type { Conversion } from './model.ts';
import type { Value } from './values.ts';

/**
 * A decimal number as JSON writes it, perhaps with another sign or dot. Number() alone also reads
 * '' and '0x10'.
 */
const decimal = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

/** An integer by its digits. Numbers that are one keep all of them. */
const isWhole = /^-?[1-9]\d*$/;

const toDouble = (value: Value): number | undefined => {
  if (isNumber(value)) return Number(value);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string' || !decimal.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
};

const toInt = (value: Value): number | ExactNumber | undefined => {
  if (value instanceof ExactNumber && isWhole.test(value.text)) return value;
  const number = toDouble(value);
  // Adding 0 turns -0 into 0.
  return number === undefined ? undefined : Math.trunc(number) + 0;
};

const toText = (value: Value): string | undefined => {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const words: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

const toBool = (value: Value): boolean | undefined => {
  if (typeof value === 'boolean') return value;
  if (isNumber(value)) return plainNumber(value) !== 0;
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return Object.hasOwn(words, word) ? words[word] : undefined;
};

/**
 * Converts a value; undefined if it cannot be converted: a text that is no number, say.
 *
 * - `double`: numbers; booleans as 0 and 1; texts that are decimal numbers
 * - `int`: the same, cut off towards zero
 * - `string`: texts; anything else as JSON
 * - `bool`: booleans; numbers, of which 0 is false; `true`, `false`, `1` and `0` as texts
 * - `exists`: whether there is a value
 */
export const convert = (value: Value, to: Conversion): Value => {
  switch (to) {
    case 'double':
      return toDouble(value);
    case 'int':
      return toInt(value);
    case 'string':
      return toText(value);
    case 'bool':
      return toBool(value);
    case 'exists':
      return value !== undefined && value !== null;
  }
};
