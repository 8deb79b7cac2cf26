import type { FeedbackQuery } from '../../../api/feedback.ts';
import { isDuring, toPath } from '../../../foundations/expression/index.ts';
import { asString, type JsonValue, type ProjectId } from '../../../foundations/wire/index.ts';
import { queryFeedback } from '../../records/feedback/index.ts';
import type { ToolContext } from './context.ts';
import type { Range } from './range.ts';
import { isFields, type Json, type JsonFields } from './reply.ts';

/*
 * Which fields free values have, of which types, with examples.
 */

/** What is known of a field: how many values have it, their types, and the commonest as text with counts. */
export interface FieldSummary {
  readonly count: number;
  readonly types: readonly string[];
  readonly values: readonly (readonly [string, number])[];
}

/** How long an example may be. */
const maxText = 40;

const shortened = (text: string): string =>
  text.length > maxText ? `${text.slice(0, maxText).toWellFormed()}…` : text;

/** Counts of values, the commonest first. */
export const countValues = (
  values: readonly (string | undefined)[],
): readonly (readonly [string, number])[] =>
  [
    ...Map.groupBy(
      values.filter((value) => value !== undefined),
      (value) => value,
    ),
  ]
    .map(([value, all]) => [shortened(value), all.length] as const)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));

const typeOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'list';
  if (isFields(value)) return 'object';
  return value === null ? 'null' : typeof value;
};

/** The types of values, the commonest first. */
export const describeTypes = (values: readonly (JsonValue | Json)[]): string[] =>
  countValues(values.map(typeOf)).map(([type]) => type);

/** Every path to a plain value below a value, with that. A list says that it is one by `[]`. */
const collectLeaves = (value: Json | undefined, path: string, depth: number): [string, Json][] => {
  if (value === undefined || value === null) return [];
  if (depth === 0) return [[path, value]];
  if (Array.isArray(value))
    return value.slice(0, 20).flatMap((item) => collectLeaves(item as Json, `${path}.0`, depth - 1));
  if (isFields(value))
    return Object.entries(value)
      .slice(0, 100)
      .flatMap(([name, child]) => collectLeaves(child, path === '' ? name : `${path}.${name}`, depth - 1));
  return [[path, value]];
};

/** What the fields of values are: each path with its types and its commonest values, the commonest first. */
export const summarizeFields = (
  values: readonly (Json | undefined)[],
  path: string,
  depth = 4,
): readonly (readonly [string, FieldSummary])[] => {
  const leaves = values.flatMap((value) => collectLeaves(value, path, depth));
  return [...Map.groupBy(leaves, ([at]) => at)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([at, all]) => {
      const plain = all.map(([, value]) => value);
      const texts = plain.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
      return [at, { count: all.length, types: describeTypes(plain), values: countValues(texts) }] as const;
    });
};

/** How many of the newest records of feedback are looked at. */
const looked = 1000;

/** The types of feedback in a range, each with what is known of the fields of its payloads. */
export const sampleFeedback = async (
  { stores, budget }: ToolContext,
  projectId: ProjectId,
  { start, end }: Range,
): Promise<ReadonlyMap<string, ReadonlyMap<string, FieldSummary>>> => {
  const query: FeedbackQuery = {
    projectId,
    offset: 0,
    limit: looked,
    fields: ['feedback_type', 'payload'],
    where: { kind: 'and', operands: isDuring('created_at', start, end) },
    sort: [{ path: toPath('created_at'), descending: true }],
  };
  const batches = await Array.fromAsync(queryFeedback(stores.feedback, query, budget).records);
  const records = batches.flat().map((json) => JSON.parse(json) as JsonFields);
  return new Map(
    [...Map.groupBy(records, ({ feedback_type }) => asString(feedback_type) ?? '')]
      .sort(([, a], [, b]) => b.length - a.length)
      .map(([type, all]) => [
        type,
        new Map<string, FieldSummary>([
          ['', { count: all.length, types: [], values: [] }],
          ...summarizeFields(
            all.map(({ payload }) => payload),
            '',
            3,
          ),
        ]),
      ]),
  );
};
