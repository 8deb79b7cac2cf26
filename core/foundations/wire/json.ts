import { canonicalNumber, ExactNumber } from './numbers.ts';

/** Any JSON value, as `parseJson` gives it. */
export type JsonValue = null | boolean | number | ExactNumber | string | JsonValue[] | JsonObject;

/** A JSON object. Keys may be anything, `__proto__` included: read them with `Object.hasOwn`. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * How deep lists and objects may nest in one free-form value. `JSON.stringify` overflows the stack
 * far beyond it.
 */
export const maxDepth = 512;

/** Whether the value is a JSON object: neither null nor a list, nor an exact number. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/**
 * What a JSON text can say and storage cannot keep: nesting without end, and numbers beyond a
 * double's.
 */
export type JsonProblem = 'too deep' | 'too large a number';

/**
 * Looks in a value for what cannot be kept.
 *
 * @param levels how deep lists and objects may nest; a scalar is 0 deep
 */
export const problemOf = (value: unknown, levels = maxDepth): JsonProblem | undefined => {
  // JSON.parse reads 1e400 as Infinity, which JSON.stringify would write as null.
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'too large a number';
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return undefined;
  if (levels === 0) return 'too deep';
  if (Array.isArray(value)) {
    for (const item of value) {
      const problem = problemOf(item, levels - 1);
      if (problem) return problem;
    }
    return undefined;
  }
  for (const key in value) {
    const problem = problemOf((value as JsonObject)[key], levels - 1);
    if (problem) return problem;
  }
  return undefined;
};

/** The size of a text in UTF-8, in bytes. */
export const utf8Length = (text: string): number => Buffer.byteLength(text, 'utf8');

/**
 * A value as canonical JSON, after RFC 8785. Equal values give the same text.
 *
 * It has no white space. Keys are in order of their UTF-16 code units. Numbers and strings are as
 * ECMAScript writes them. Lone surrogates, which the RFC leaves open, are escaped. Exact numbers go
 * beyond the RFC: they are by {@link canonicalNumber}.
 */
export const canonicalJson = (value: JsonValue): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value instanceof ExactNumber) return canonicalNumber(value);
  if (!isJsonObject(value)) return JSON.stringify(value);
  // Written by hand: an object would put keys that look like integers first, in whatever order they
  // are set.
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${fields.join(',')}}`;
};

/** A copy of a value that shares nothing with it that could be changed. */
export const copyOf = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isJsonObject(value)) return value;
  // Unlike assignment, this makes `__proto__` a field too.
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, copyOf(field)]));
};
