import {
  compareNumbers,
  ExactNumber,
  isJsonObject,
  isNumber,
  type JsonValue,
  parseTime,
  plainNumber,
} from '../wire/index.ts';

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
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
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

/**
 * A time as a whole number of microseconds: a text that is one, or seconds since 1970; undefined
 * for any other value.
 */
export const microsOf = (value: Value): number | undefined => {
  if (isNumber(value)) return Math.round(Number(value) * 1e6);
  return typeof value === 'string' ? parseTime(value) : undefined;
};
