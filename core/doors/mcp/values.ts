import { toPath, valueAt } from '../../../foundations/expression/index.ts';
import type { JsonValue } from '../../../foundations/wire/index.ts';
import { type Cut, cutter } from './cut.ts';
import type { Json, JsonFields } from './reply.ts';

/** What a dotted path leads to in a call; undefined where it leads nowhere. */
export const valueIn = (call: JsonFields, path: string): Json | undefined => {
  const { field, steps } = toPath(path);
  return valueAt(call[field] as JsonValue, steps) as Json | undefined;
};

/** The values of columns, by their paths. */
export const getValues = (call: JsonFields, columns: readonly string[]): JsonFields =>
  Object.fromEntries(columns.map((column) => [column, valueIn(call, column) ?? null]));

/** The same, cut to so many characters. */
export const cutValues = (call: JsonFields, columns: readonly string[], room: number): Cut =>
  cutter()(getValues(call, columns), room, '');

/** The least that is shown of the values that were asked for of a call, in characters. */
const leastValues = 300;

/** About what a row takes without them. */
const usualRow = 350;

/** The room of the values of each of so many calls. A reply has its data twice. */
export const roomPerCall = (maxCharacters: number, calls: number): number =>
  Math.max(leastValues, Math.floor(maxCharacters / 2.4 / Math.max(1, calls)) - usualRow);

/** How many rows a reply can have at most, of so many columns. A value takes a few characters, and is there twice. */
export const mostRows = (maxCharacters: number, columns = 20): number =>
  Math.max(1, Math.floor(maxCharacters / Math.min(250, 12 * (columns + 1))));
