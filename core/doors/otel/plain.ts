import { isJsonObject, maxDepth, parseJson, plainNumber, problemOf } from '../../foundations/wire/index.ts';
import type { AttributeValue } from './span.ts';

/** A JSON object whose values are not known. */
export type Dict = Record<string, unknown>;

export const isDict = (value: unknown): value is Dict => isJsonObject(value);

/** A property of the object itself, so that `constructor` and `__proto__` are nothing special. */
export const get = (value: unknown, key: string): unknown =>
  isDict(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** The first of the keys that the object has a value under: not null, not undefined. */
export const first = (value: unknown, ...keys: readonly string[]): unknown => {
  for (const key of keys) {
    const found = get(value, key);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
};

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** A count of tokens: a whole number from 0, perhaps written as text. */
export const countOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : plainNumber(value);
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
    ? Math.abs(number)
    : undefined;
};

/** Levels that are left for the lists and objects around a value. */
const spare = 32;

/**
 * An attribute's value as JSON. Integers beyond 2^53 and numbers that JSON cannot write become
 * text, bytes become base64.
 */
export const plain = (value: AttributeValue, levels = maxDepth - spare): unknown => {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (levels === 0) return '…';
  if (Array.isArray(value)) return value.map((item: AttributeValue) => plain(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, levels - 1)]));
};

/**
 * The value of a JSON text. Text that is not JSON stays as it is, and so does JSON that storage
 * could not keep.
 */
export const parsed = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  // Most text is no JSON, and a failing JSON.parse is slow.
  if (!/^\s*["[{\d\-tfn]/.test(value)) return value;
  try {
    const result: unknown = parseJson(value);
    return problemOf(result, maxDepth - spare) === undefined ? result : value;
  } catch {
    return value;
  }
};

const isStructure = (value: unknown): boolean => Array.isArray(value) || isDict(value);

/** The list or object of a JSON text; anything else stays as it is, numbers in text too. */
export const structured = (value: unknown): unknown => {
  const result = parsed(value);
  return isStructure(result) ? result : value;
};

/** The same, with text that is a JSON string unquoted. */
export const unquoted = (value: unknown): unknown => {
  const result = parsed(value);
  return typeof result === 'string' || isStructure(result) ? result : value;
};

/** A value as the text of a message: text as it is, all else as JSON. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** An object as `inputs`; anything else goes under `input`. undefined and '' are nothing. */
export const asInputs = (value: unknown): Dict | undefined => {
  if (value === undefined || value === null || value === '') return undefined;
  if (!isDict(value)) return { input: value };
  return Object.keys(value).length === 0 ? undefined : value;
};

/** The entries that have a value, or undefined when none has. */
export const present = (fields: Dict): Dict | undefined => {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
};
