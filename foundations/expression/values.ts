import {
  compareNumbers,
  ExactNumber,
  isJsonObject,
  isNumber,
  type JsonObject,
  type JsonValue,
  parseTime,
  plainNumber,
} from '../wire/index.ts';
import type { Conversion, FieldPath } from './tree.ts';

/** A value in a record: null and undefined are the same, a value that is not there. */
export type Value = JsonValue | undefined;

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;

/**
 * Compares texts by code point, as UTF-8 does byte by byte; `<` on strings goes by UTF-16 code
 * unit.
 */
export const compareText = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Units and code points go apart where there are halves of pairs alone.
    const apart = isSurrogate(x) || isSurrogate(y);
    return apart ? Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8')) : x - y;
  }
  return a.length - b.length;
};

/** Whether two values are equal as JSON: the keys of an object have no order. */
export const equal = (a: JsonValue, b: JsonValue): boolean => {
  if (a instanceof ExactNumber || b instanceof ExactNumber)
    return isNumber(a) && isNumber(b) && compareNumbers(a, b) === 0;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => equal(item, b[i] ?? null))
    );
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key] ?? null, b[key] ?? null))
  );
};

/**
 * Compares two scalars of one type: numbers as numbers, texts by code point, false before true.
 *
 * @returns undefined for values of different types, lists and objects, which have no order
 */
export const compareScalars = (a: JsonValue, b: JsonValue): number | undefined => {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  return undefined;
};

/** Whether a value counts as true: all but false, 0, the empty text, and nothing. */
export const isTruthy = (value: Value): boolean => Boolean(plainNumber(value));

/** The step that leads into a list: a number. */
const listIndex = /^\d{1,9}$/;

/**
 * The keys by which dotted steps lead into a value: as they stand in it, since a key may hold dots
 * itself (`gpt-4.1`). The shortest key that leads on wins. Each part of the value is looked at once
 * at most, since only one way leads to it.
 *
 * @returns undefined where they lead nowhere
 */
export const keysTo = (value: JsonValue, steps: readonly string[]): string[] | undefined => {
  const [step] = steps;
  if (step === undefined) return [];
  if (Array.isArray(value)) {
    const item = listIndex.test(step) ? value[Number(step)] : undefined;
    const below = item === undefined ? undefined : keysTo(item, steps.slice(1));
    return below && [step, ...below];
  }
  if (!isJsonObject(value)) return undefined;
  for (let length = 1; length <= steps.length; length++) {
    const key = steps.slice(0, length).join('.');
    if (!Object.hasOwn(value, key)) continue;
    const below = keysTo(value[key] ?? null, steps.slice(length));
    if (below) return [key, ...below];
  }
  return undefined;
};

/** What dotted steps lead to in a value; undefined where they lead nowhere. */
export const valueAt = (value: Value, steps: readonly string[]): Value => {
  let at: Value = value;
  for (const step of steps) {
    // Lists, and keys with dots, are for the slower way.
    if (!isJsonObject(at) || !Object.hasOwn(at, step)) return valueByKeys(value, steps);
    at = at[step];
  }
  return at;
};

const valueByKeys = (value: Value, steps: readonly string[]): Value => {
  const keys = value === undefined ? undefined : keysTo(value, steps);
  return keys?.reduce<Value>((at, key) => (at as Record<string, JsonValue> | undefined)?.[key], value);
};

/** Copies what is at `keys` from one value to another of the same shape, with all on the way. */
const graft = (from: JsonValue, to: JsonValue, keys: readonly string[]): JsonValue => {
  const [key, ...rest] = keys;
  if (key === undefined) return from;
  if (Array.isArray(from)) {
    const list = Array.isArray(to) ? to : [];
    const index = Number(key);
    while (list.length <= index) list.push(null);
    list[index] = graft(from[index] ?? null, list[index] ?? null, rest);
    return list;
  }
  const source = from as JsonObject;
  const target: JsonObject = isJsonObject(to) ? to : {};
  const before = Object.hasOwn(target, key) ? target[key] : null;
  const value = graft(source[key] ?? null, before ?? null, rest);
  // A plain assignment to __proto__ would set the prototype.
  return Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
};

/** What paths lead to in a value, in the value's own shape; null for a value that has no fields. */
export const pick = (value: JsonValue, paths: readonly (readonly string[])[]): JsonValue => {
  if (!Array.isArray(value) && !isJsonObject(value)) return null;
  let picked: JsonValue = Array.isArray(value) ? [] : {};
  for (const path of paths) {
    const keys = keysTo(value, path);
    if (keys) picked = graft(value, picked, keys);
  }
  return picked;
};

/**
 * A time as a whole number of microseconds: a text that is one, or seconds since 1970; undefined
 * for any other value.
 */
export const toMicros = (value: Value): number | undefined => {
  if (isNumber(value)) return Math.round(Number(value) * 1e6);
  return typeof value === 'string' ? parseTime(value) : undefined;
};

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

/** One key of an order. */
export interface SortKey {
  readonly path: FieldPath;
  readonly descending: boolean;
}

/**
 * A value as it takes part in an order: its type's rank and, for scalars, itself; null for one that
 * is not there.
 */
export type Sortable = readonly [rank: number, value: boolean | number | ExactNumber | string] | null;

/**
 * By type: boolean, number, string, list, object. Lists are all the same in order, as objects are.
 */
export const sortable = (value: Value): Sortable => {
  switch (typeof value) {
    case 'boolean':
      return [1, value];
    case 'number':
      return [2, value];
    case 'string':
      return [3, value];
    default:
      if (value === null || value === undefined) return null;
      if (value instanceof ExactNumber) return [2, value];
      return [Array.isArray(value) ? 4 : 5, 0];
  }
};

const compareSortable = (a: NonNullable<Sortable>, b: NonNullable<Sortable>): number => {
  if (a[0] !== b[0]) return a[0] - b[0];
  const x = a[1];
  const y = b[1];
  if (typeof x === 'string') return compareText(x, String(y));
  return x instanceof ExactNumber || y instanceof ExactNumber
    ? compareNumbers(x as number | ExactNumber, y as number | ExactNumber)
    : Number(x) - Number(y);
};

/**
 * Makes the comparison of two records by the values of an order's keys. What is not there comes
 * last in both directions.
 */
export const compareBy = (
  keys: readonly Pick<SortKey, 'descending'>[],
): ((a: readonly Sortable[], b: readonly Sortable[]) => number) => {
  return (a, b) => {
    for (const [i, { descending }] of keys.entries()) {
      const x = a[i] ?? null;
      const y = b[i] ?? null;
      if (x === null || y === null) {
        if (x !== y) return x === null ? 1 : -1;
        continue;
      }
      const order = compareSortable(x, y);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };
};
