import type { CallRow } from './calls.ts';
import type { Client } from './client.ts';
import type { CallFeedback } from './contract.ts';

/** The kinds of feedback that the page gives. Of each but comments (`comments.ts`) somebody has one record. */
export const kinds = ['thumbs', 'score', 'note', 'correction'] as const;

export type Kind = (typeof kinds)[number];

/** The payloads of the kinds: `{"up": true}`, `{"score": 0.9}`, … */
export type Payload = { readonly up: boolean } | { readonly score: number } | { readonly correction: string };

/** The records on a call, oldest first. */
export const getFeedback = ({ summary }: Pick<CallRow, 'summary'>): readonly CallFeedback[] =>
  summary?.svc?.feedback ?? [];

/** What the owner of the key gave of a kind. Records with a creator are somebody else's. */
export const findOwn = (
  records: readonly CallFeedback[],
  kind: Kind,
  user: string,
): CallFeedback | undefined =>
  records.findLast(
    ({ feedback_type, svc_user_id, creator }) =>
      feedback_type === kind && svc_user_id === user && creator === null,
  );

/**
 * Gives feedback on a call. What the same person gave of the kind before is replaced by it.
 *
 * @throws RequestFailed
 */
export const give = async (
  client: Client,
  { id, project_id }: Pick<CallRow, 'id' | 'project_id'>,
  kind: Kind,
  payload: Payload,
  before: CallFeedback | undefined,
): Promise<CallFeedback> => {
  const body = {
    project_id,
    svc_ref: `svc:///${project_id}/call/${id}`,
    feedback_type: kind,
    payload,
    // A request that is repeated changes nothing then.
    ...('randomUUID' in crypto && { id: crypto.randomUUID() }),
  };
  const answer = before
    ? await client.ask('/feedback/replace', { ...body, feedback_id: before.id })
    : await client.ask('/feedback/create', body);
  const { id: feedbackId, created_at, payload: stored, svc_user_id } = answer;
  return {
    id: feedbackId,
    created_at,
    payload: stored,
    feedback_type: kind,
    svc_ref: body.svc_ref,
    creator: null,
    svc_user_id,
  };
};

/**
 * Takes feedback back: it is deleted for good.
 *
 * @throws RequestFailed
 */
export const takeBack = async (client: Client, project: string, { id }: CallFeedback): Promise<void> => {
  const query = { $expr: { $eq: [{ $getField: 'id' as const }, { $literal: id }] } };
  await client.ask('/feedback/purge', { project_id: project, query } as never);
};

/*
 * Tags that people give are feedback, too, since attributes stay as they were reported: a type for each tag,
 * so that every query of calls finds them, and nobody's tag replaces another's.
 */

const tagPrefix = 'tag.';

/** The type of feedback that a tag is. Its payload is `{"value": true}`. */
export const tagType = (tag: string): string => `${tagPrefix}${tag}`;

/** The tag that a type of feedback is; undefined for any other type. */
export const tagIn = (type: string): string | undefined =>
  type.length > tagPrefix.length && type.startsWith(tagPrefix) ? type.slice(tagPrefix.length) : undefined;

/** What feedback comes to, in short. */
export interface Marks {
  readonly up: number;
  readonly down: number;
  /** The mean of all scores; undefined for none. */
  readonly score: number | undefined;
  readonly notes: number;
  readonly corrections: number;
  /** Records of other kinds. */
  readonly others: number;
}

/** Sums the feedback on a call up, whoever gave it. */
export const sumMarks = (records: readonly CallFeedback[]): Marks => {
  const payloads = (kind: Kind) =>
    records.filter(({ feedback_type }) => feedback_type === kind).map(({ payload }) => payload);
  const scores = payloads('score').flatMap(({ score }) => (typeof score === 'number' ? [score] : []));
  const known: ReadonlySet<string> = new Set(kinds);
  return {
    up: payloads('thumbs').filter(({ up }) => up === true).length,
    down: payloads('thumbs').filter(({ up }) => up === false).length,
    score: scores.length === 0 ? undefined : scores.reduce((sum, score) => sum + score, 0) / scores.length,
    notes: records.filter(({ payload }) => typeof payload.note === 'string').length,
    corrections: payloads('correction').length,
    // Tags have a column of their own.
    others: records.filter(({ feedback_type: type }) => !known.has(type) && tagIn(type) === undefined).length,
  };
};
