import { isJsonObject, type JsonValue } from './json.ts';

/**
 * One step of a ref's path into a value. It leads to an object's field, to an item of a list, or to
 * the row of a table by its digest.
 */
export type Step = { readonly name: string } | { readonly index: number } | { readonly row: string };

const rowDigest = /^[\w-]{43}$/;
const position = /^(?:0|[1-9]\d{0,9})$/;

/** A name as it is meant: percent-encoded UTF-8, or, where it is no such thing, as it stands. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const toStep = (kind: string, what: string): Step | undefined => {
  if (kind === 'attr' || kind === 'key') return { name: decoded(what) };
  if (kind === 'id') return rowDigest.test(what) ? { row: what } : undefined;
  return kind === 'index' && position.test(what) ? { index: Number(what) } : undefined;
};

/**
 * Parses the path of a ref. It is made of pairs. `attr/<name>` and `key/<name>` lead to a field of
 * an object. `index/<n>` leads to an item of a list, from 0 up. `id/<digest>` leads to the row of
 * the table that a ref names. A name has `%2F` for `/` and `%25` for `%`.
 *
 * @returns the steps, none for an empty path; undefined if it is no path
 */
export const parsePath = (path: string): Step[] | undefined => {
  if (path === '') return [];
  const parts = path.split('/');
  if (parts.length % 2 !== 0) return undefined;
  const steps: Step[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const step = toStep(parts[i] ?? '', parts[i + 1] ?? '');
    if (step === undefined) return undefined;
    steps.push(step);
  }
  return steps;
};

/**
 * What a path leads to in a value; undefined if it leads nowhere. Refs on the way are texts like
 * any other, and are not followed.
 */
const walk = (value: JsonValue, steps: readonly Step[]): JsonValue | undefined => {
  let at: JsonValue | undefined = value;
  for (const step of steps) {
    if (at === undefined || 'row' in step) return undefined;
    if ('index' in step) at = Array.isArray(at) ? at[step.index] : undefined;
    else at = isJsonObject(at) && Object.hasOwn(at, step.name) ? at[step.name] : undefined;
  }
  return at;
};

/** Gives the row of a table that a value refers to; undefined if there is none. */
export type ReadRow = (table: JsonValue, digest: string) => Promise<JsonValue | undefined>;

/** {@link walk}, into the rows of tables too. */
export const walkIntoRows = async (
  value: JsonValue,
  steps: readonly Step[],
  readRow: ReadRow,
): Promise<JsonValue | undefined> => {
  let at: JsonValue | undefined = value;
  for (let i = 0; i < steps.length && at !== undefined; i++) {
    const step = steps[i];
    if (step) at = 'row' in step ? await readRow(at, step.row) : walk(at, [step]);
  }
  return at;
};
