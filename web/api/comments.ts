import type { CallRow } from './calls.ts';
import type { Client } from './client.ts';
import type { CallFeedback } from './contract.ts';
import { getFeedback } from './feedback.ts';

/*
 * Comments on a call: feedback of the type `note`. Each is a record of its own.
 */

const commentType = 'note';

/** The path at which queries reach the text of the latest comment on a call. */
export const commentPath = `feedback.[${commentType}].payload.note`;

/** A comment as people read it. */
export interface Comment {
  /** What links to it name. An edit makes another record, and leaves it as it is. */
  readonly id: string;
  readonly record: CallFeedback;
  readonly text: string;
  /** Who wrote it. */
  readonly author: string;
  /** The users that it mentions. */
  readonly mentions: readonly string[];
  readonly isEdited: boolean;
}

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** A record of feedback as a comment; undefined for one that is none. */
const toComment = (record: CallFeedback): Comment | undefined => {
  const { feedback_type, payload, creator, svc_user_id } = record;
  const { note, comment, mentions, edited } = payload;
  if (feedback_type !== commentType || typeof note !== 'string') return undefined;
  return {
    id: typeof comment === 'string' ? comment : record.id,
    record,
    text: note,
    author: creator ?? svc_user_id,
    mentions: texts(mentions),
    isEdited: edited === true,
  };
};

/** The comments on a call, oldest first. */
export const getComments = (call: Pick<CallRow, 'summary'>): Comment[] =>
  getFeedback(call).flatMap((record) => toComment(record) ?? []);

/** Whether a record is a comment. */
export const isComment = (record: CallFeedback): boolean => toComment(record) !== undefined;

/** What may be a part of a user's name, so that `@ann` does not mention `ann` in `@anna`. */
const nameCharacter = /[\p{L}\p{N}_@-]/u;

/** Whether a name ends at a place of a text. A point may end a sentence. */
const endsAt = (text: string, end: number): boolean => {
  const next = text[end] ?? '';
  if (nameCharacter.test(next)) return false;
  return next !== '.' || !nameCharacter.test(text[end + 1] ?? '');
};

/** A piece of a text, or a user that it mentions there. */
export type Piece = { readonly text: string } | { readonly user: string };

/**
 * Cuts a text at `@name` of some users. Of several names that begin alike, the longest counts.
 *
 * @param users whose names are looked for
 */
export const cutMentions = (text: string, users: readonly string[]): Piece[] => {
  const byLength = users.toSorted((one, other) => other.length - one.length);
  const pieces: Piece[] = [];
  let from = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    if (at < from || (at > 0 && nameCharacter.test(text[at - 1] ?? ''))) continue;
    const user = byLength.find((name) => text.startsWith(name, at + 1) && endsAt(text, at + 1 + name.length));
    if (user === undefined) continue;
    if (at > from) pieces.push({ text: text.slice(from, at) });
    pieces.push({ user });
    from = at + 1 + user.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
};

/** Which of some users a text mentions, each once. */
export const mentionsIn = (text: string, users: readonly string[]): string[] => [
  ...new Set(cutMentions(text, users).flatMap((piece) => ('user' in piece ? [piece.user] : []))),
];

/**
 * Stores a comment, or another text of one.
 *
 * @param before the comment that is edited. @default - a new one is made
 * @throws RequestFailed
 */
export const saveComment = async (
  client: Client,
  { id, project_id }: Pick<CallRow, 'id' | 'project_id'>,
  text: string,
  mentions: readonly string[],
  before?: Comment,
): Promise<CallFeedback> => {
  const unique = 'randomUUID' in crypto ? crypto.randomUUID() : undefined;
  const comment = before?.id ?? unique;
  const body = {
    project_id,
    svc_ref: `svc:///${project_id}/call/${id}`,
    feedback_type: commentType,
    payload: {
      note: text,
      ...(comment !== undefined && { comment }),
      ...(mentions.length > 0 && { mentions: [...mentions] }),
      ...(before && { edited: true }),
    },
    // A request that is repeated changes nothing then.
    ...(unique !== undefined && { id: unique }),
  };
  const { feedback_type, svc_ref } = body;
  const answer = before
    ? await client.ask('/feedback/replace', { ...body, feedback_id: before.record.id })
    : await client.ask('/feedback/create', body);
  return { ...answer, feedback_type, svc_ref, creator: null };
};
