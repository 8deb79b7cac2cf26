import { jsonIn } from '../../api/shared/values.ts';

export { asString, isObject, jsonIn, nonEmptyString, valueAt } from '../../api/shared/values.ts';

/** A list in parts of a size, of which the last may be smaller. */
export const toChunks = <Item>(all: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

/** A set with an item put in, or taken out if it was there. */
export const toggled = (set: ReadonlySet<string>, item: string): ReadonlySet<string> => {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
};

/*
 * What people type into a filter: a number, a boolean and null are meant as such, unless they stand
 * in quotes.
 */

/** A typed text as the value it means: `12`, `true` and `null` are no texts, `"12"` is. */
export const parseLiteral = (text: string): string | number | boolean | null => {
  const value = jsonIn(text);
  if (value === undefined) return text;
  return typeof value === 'number' ||
    typeof value === 'boolean' ||
    typeof value === 'string' ||
    value === null
    ? value
    : text;
};

/** How a text is typed: in quotes if it would mean something else without. */
export const typedText = (text: string): string =>
  parseLiteral(text) === text ? text : JSON.stringify(text);

/* TypeScript does not know these yet: https://tc39.es/proposal-json-parse-with-source. */
const { rawJSON } = JSON as { readonly rawJSON?: (text: string) => unknown };
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const exact: Reviver = (_key, value, context) => {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
  return rawJSON ? rawJSON(source) : value;
};

/**
 * Parses JSON to be written again. A number that JavaScript would write otherwise, as 1.0 or one
 * beyond 2^53, becomes an object that `JSON.stringify` writes as it was. Browsers before 2025 may
 * lack that, and round such a number.
 */
export const parseToWrite = (text: string): unknown =>
  JSON.parse(text, exact as Parameters<typeof JSON.parse>[1]);
