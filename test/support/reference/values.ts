import { isJsonObject, type JsonValue } from '../../../foundations/wire/index.ts';

/** A value of a call, or undefined where its path leads nowhere. */
export type Value = JsonValue | undefined;

/** Whether there is nothing: a path that leads nowhere and null mean the same. */
export const isMissing = (value: Value): value is null | undefined => value === undefined || value === null;

/** The types of JSON values, in the order in which they sort. */
const types = ['null', 'boolean', 'number', 'string', 'list', 'object'];

const getType = (value: JsonValue): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value;
};

/** JSON text that is the same for equal values: compact, the keys of each object in order. */
export const canonical = (value: JsonValue): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${members.sort().join(',')}}`;
};

/** Whether two values are the same JSON; the order of keys means nothing. */
export const isEqual = (a: JsonValue, b: JsonValue): boolean => canonical(a) === canonical(b);

/**
 * The code points of a text. Half a surrogate pair is none; it counts as U+FFFD, as where text is
 * written as UTF-8.
 */
const codePoints = (text: string): number[] =>
  Array.from(text.toWellFormed(), (character) => character.codePointAt(0) ?? 0);

/** Below, at or above 0 as the first text comes before, with or after the second by code points. */
export const compareTexts = (a: string, b: string): number => {
  const left = codePoints(a);
  const right = codePoints(b);
  for (const [i, point] of left.entries()) {
    const other = right[i];
    if (other === undefined) return 1;
    if (point !== other) return point - other;
  }
  return left.length - right.length;
};

/**
 * Below, at or above 0 as the first value sorts before, with or after the second. Values sort by
 * type (null, boolean, number, string, list, object). Then false comes before true; numbers sort by
 * size, strings by code point. Lists sort with all lists, objects with all objects.
 */
export const compareValues = (a: JsonValue, b: JsonValue): number => {
  if (getType(a) !== getType(b)) return types.indexOf(getType(a)) - types.indexOf(getType(b));
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  return 0;
};

/**
 * {@link compareValues} where `$gt` and its like have an order: between booleans, numbers or
 * strings. Else NaN, which is neither above nor below.
 */
export const compareScalars = (a: Value, b: Value): number => {
  if (isMissing(a) || isMissing(b)) return Number.NaN;
  if (getType(a) !== getType(b) || typeof a === 'object') return Number.NaN;
  return compareValues(a, b);
};

/** Whether an operand counts as true where an operation is expected. */
export const isTrue = (value: Value): boolean =>
  !(isMissing(value) || value === false || value === 0 || value === '');

/** What `$convert` can make. */
export type Conversion = 'double' | 'int' | 'string' | 'bool' | 'exists';

/**
 * What people take for a decimal number: a sign, leading zeros and a bare dot are fine; hexadecimal
 * digits, separators and words are not.
 */
const decimal = /^\s*[+-]?(\d+|\d+\.|\d*\.\d+)([eE][+-]?\d+)?\s*$/;

const toDouble = (value: JsonValue): Value => {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string' || !decimal.test(value)) return undefined;
  return Number.isFinite(Number(value)) ? Number(value) : undefined;
};

const toBool = (value: JsonValue): Value => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (typeof value !== 'string') return undefined;
  const word = value.trim().toLowerCase();
  if (word === '1' || word === 'true') return true;
  return word === '0' || word === 'false' ? false : undefined;
};

/**
 * Converts a value; undefined where it has no counterpart of that type. Only `exists` makes
 * something of a missing one.
 */
export const convert = (value: Value, to: Conversion): Value => {
  if (to === 'exists') return !isMissing(value);
  if (isMissing(value)) return undefined;
  switch (to) {
    case 'double':
      return toDouble(value);
    case 'int': {
      const double = toDouble(value);
      return typeof double === 'number' ? Math.trunc(double) : undefined;
    }
    case 'string':
      return typeof value === 'string' ? value : JSON.stringify(value);
    case 'bool':
      return toBool(value);
  }
};
