import { toPath, valueAt } from '../../../foundations/expression/index.ts';
import type { JsonValue } from '../../../foundations/wire/index.ts';
import { feedbackAt } from '../../questions/query/index.ts';
import { type Cut, cutter } from './cut.ts';
import { isFields, type Json, type JsonFields } from './reply.ts';

/** Whether a path leads into the feedback on a call. */
export const isOfFeedback = (path: string): boolean => toPath(path).field === 'feedback';

const feedbackRecords = (call: JsonFields): readonly JsonFields[] => {
  const { svc } = isFields(call.summary) ? call.summary : {};
  const records = isFields(svc) ? svc.feedback : undefined;
  return Array.isArray(records) ? records.filter(isFields) : [];
};

/** The feedback on a call that was read with it, the oldest first, without what the call says itself. */
export const feedbackOn = (call: JsonFields): JsonFields[] =>
  feedbackRecords(call).map(({ feedback_type, payload, creator, created_at }) => ({
    feedback_type,
    payload,
    ...((creator ?? null) !== null && { creator }),
    created_at,
  }));

/** What a dotted path leads to in a call; undefined where it leads nowhere. */
export const valueIn = (call: JsonFields, path: string): Json | undefined => {
  const { field, steps } = toPath(path);
  if (!isOfFeedback(path)) return valueAt(call[field] as JsonValue, steps) as Json | undefined;
  // A type stands in brackets. Anything else counts the records.
  return (
    path.startsWith('feedback.[')
      ? feedbackAt(feedbackRecords(call) as readonly JsonValue[], steps)
      : valueAt(feedbackOn(call) as JsonValue, steps)
  ) as Json | undefined;
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
