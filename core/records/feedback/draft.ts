import { shortDigest } from '../../foundations/encoding/index.ts';
import { canonicalJson, newId, tooLarge, utf8Length } from '../../foundations/wire/index.ts';
import { nextMicros } from './clock.ts';
import type { FeedbackAnswer, FeedbackDraft, FeedbackHeader, FeedbackRecord } from './model.ts';

/** The largest payload, in bytes of compact JSON. */
const maxPayload = 1024 * 1024;

/** A record that is about to be stored. */
export interface NewRecord {
  readonly header: FeedbackHeader;
  readonly payload: FeedbackDraft['payload'];
  /** The payload as JSON text. */
  readonly payloadText: string;
  /** The short digest of all that the client gave, its id apart. */
  readonly digest: Uint8Array;
  /** Whether the client gave the id. A record whose id was just made is not stored yet. */
  readonly known: boolean;
}

const digestOf = (draft: FeedbackDraft): Uint8Array => {
  const { ref, type, creator, annotationRef, runnableRef, callRef, triggerRef, payload } = draft;
  const content = [ref, type, creator, annotationRef, runnableRef, callRef, triggerRef, payload];
  return shortDigest(canonicalJson(content));
};

/** Makes a record from what a client gave, created now. */
export const newRecord = (draft: FeedbackDraft, userId: string): NewRecord => {
  const { payload, ...fields } = draft;
  return {
    header: { ...fields, id: draft.id ?? newId(), createdAt: nextMicros(), userId },
    payload,
    payloadText: JSON.stringify(payload),
    digest: digestOf(draft),
    known: draft.id !== null,
  };
};

/**
 * Refuses payloads of more than 1 MiB.
 *
 * @param records each with its location in the request's body
 * @throws ServiceError 413 that names each
 */
export const refuseLarge = (records: readonly { record: NewRecord; loc: readonly string[] }[]): void => {
  const details = records.flatMap(({ record, loc }) => {
    const bytes = utf8Length(record.payloadText);
    if (bytes <= maxPayload) return [];
    const msg = `should be at most ${maxPayload} bytes as JSON, not ${bytes}`;
    return [{ loc: ['body', ...loc, 'payload'], msg, type: 'too_large' }];
  });
  if (details.length > 0) throw tooLarge(...details);
};

/**
 * What is answered to a client whose record is stored now, or was already with the same content.
 */
export const answerOf = (
  { payload }: NewRecord,
  { id, createdAt, userId }: FeedbackRecord['header'],
): FeedbackAnswer => ({ id, createdAt, userId, payload });
