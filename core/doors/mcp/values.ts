import { toPath, valueAt } from '../../../foundations/expression/index.ts';
import type { JsonValue } from '../../../foundations/wire/index.ts';
import { type Cut, cutter } from './cut.ts';
import { isFields, type Json, type JsonFields } from './reply.ts';

/** What a dotted path leads to in a call; undefined where it leads nowhere. */
export const valueIn = (call: JsonFields, path: string): Json | undefined => {
  const { field, steps } = toPath(path);
  if (field === 'feedback') return feedbackIn(call, steps);
  return valueAt(call[field] as JsonValue, steps) as Json | undefined;
};

/** What the latest feedback of a type says of a call. */
const feedbackIn = (call: JsonFields, [type, ...below]: readonly string[]): Json | undefined => {
  const records = valueIn(call, allFeedback);
  const latest = Array.isArray(records)
    ? records.filter(isFields).findLast(({ feedback_type }) => feedback_type === type)
    : undefined;
  return latest && (valueAt(latest as JsonValue, below) as Json | undefined);
};

/** Where calls have their feedback. */
export const allFeedback = 'summary.svc.feedback';

/** Whether a path leads to feedback. */
export const isOfFeedback = (path: string): boolean =>
  path.startsWith('feedback.') || path.startsWith(allFeedback);

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
