import type { CallRow } from '../api/calls.ts';
import { getFeedback, tagIn, tagType } from '../api/feedback.ts';
import { valueAt } from '../data/values.ts';

/*
 * Scores of calls: what feedback of a type has in its payload. Queries reach them by a path, which lists are
 * filtered and sorted by, and which is a column of theirs.
 */

const shape = /^feedback\.\[([^\]]+)\]\.payload\.(.+)$/;

/** A type of feedback, and a path into its payload. */
export interface Score {
  readonly type: string;
  readonly field: string;
}

/** The path of a score. */
export const toScorePath = ({ type, field }: Score): string => `feedback.[${type}].payload.${field}`;

/** The path of the score that feedback of a type has as its value. */
export const scorePath = (type: string): string => toScorePath({ type, field: 'value' });

/** The score that a path leads to; undefined for any other path. */
export const parseScorePath = (path: string): Score | undefined => {
  const [, type, field] = shape.exec(path) ?? [];
  return type === undefined || field === undefined ? undefined : { type, field };
};

/** Where the payloads of the page's own types have what was said. All others have a `value`. */
const ownFields: Readonly<Record<string, string>> = {
  thumbs: 'up',
  score: 'score',
  note: 'note',
  correction: 'correction',
};

/** The path of what feedback of any type says. */
export const saidPath = (type: string): string =>
  toScorePath({ type, field: (Object.hasOwn(ownFields, type) ? ownFields[type] : undefined) ?? 'value' });

/** The column of tags: those that were reported, and those that people gave. It is no path. */
export const tagsColumn = 'tags';

/** The condition that calls with a tag of people fulfil. */
export const hasTag = (tag: string) => ({
  path: scorePath(tagType(tag)),
  op: 'is' as const,
  value: 'true',
});

/** The tag that a path is about; undefined for any other path. */
export const tagAt = (path: string): string | undefined => tagIn(parseScorePath(path)?.type ?? '');

/** The tags of a call, each once: those that it was reported with, then those that people gave. */
export const tagsOf = (call: CallRow): readonly string[] => {
  const { tags } = (call.attributes ?? {}) as { readonly tags?: unknown };
  const reported = Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
  const given = getFeedback(call).flatMap(({ feedback_type, payload }) =>
    payload.value === true ? (tagIn(feedback_type) ?? []) : [],
  );
  return [...new Set([...reported, ...given])];
};

/** Where payloads have what their type is about. */
const usualFields: ReadonlySet<string> = new Set(['value', 'up', 'score', 'emoji', 'output']);

/** A score in words: the evaluator's name, or the type. */
export const scoreText = ({ type, field }: Score): string => {
  const name = type.replace(/^(evaluation|annotation)\./, '');
  // Thumbs have `up`, scores `score`: their types say it.
  return usualFields.has(field) || ownFields[type] === field ? name : `${name} ${field}`;
};

/** The latest score that a call has, if the list was asked for feedback. */
export const scoreOf = ({ summary }: CallRow, { type, field }: Score): unknown =>
  (summary?.svc?.feedback ?? [])
    .filter((record) => record.feedback_type === type)
    .map(({ payload }) => valueAt(payload, field))
    .findLast((value) => value !== undefined && value !== null);
