import type { CreatedFeedback, FeedbackDraft } from '../../../api/feedback.ts';
import { judgedBy } from '../../../api/shared/evaluators.ts';
import { askedBy } from '../../../api/shared/feedback.ts';
import { shortDigest } from '../../../foundations/encoding/index.ts';
import {
  compareAndSwap,
  insertItems,
  mapConcurrent,
  type RequestBudget,
  replaceItem,
  type Store,
} from '../../../foundations/storage/index.ts';
import {
  canonicalJson,
  conflict,
  type ErrorDetail,
  formatTime,
  type Micros,
  newId,
  qualifiedId,
  ServiceError,
  tooLarge,
  utf8Length,
} from '../../../foundations/wire/index.ts';
import { redactFeedback } from '../redaction.ts';
import {
  deleteObjects,
  getLeftovers,
  hasContent,
  isRecord,
  type PreparedItem,
  prepareItem,
  readStored,
  type Stored,
  type StoredRecord,
  unchanged,
} from './items.ts';
import type { FeedbackHeader, FeedbackRecord } from './model.ts';

let last = 0;

/** A clock that was set back further than this was wrong before, in microseconds. */
const mostBack = 60_000_000;

/** The time in microseconds: later than that of each call before, unless the clock was far ahead then. */
const nextMicros = (): Micros => {
  const now = Date.now() * 1000;
  last = last - now > mostBack ? now : Math.max(last + 1, now);
  return last;
};

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

const hashDraft = (draft: FeedbackDraft): Uint8Array => {
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
    digest: hashDraft(draft),
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

/** What is answered if a record is stored now, or was already with the same content. */
export const toAnswer = (
  { payload }: NewRecord,
  { id, createdAt, userId }: FeedbackRecord['header'],
): CreatedFeedback => ({ id, created_at: formatTime(createdAt), svc_user_id: userId, payload });

/** Fields by which feedback is a verdict of an evaluator, or an answer to what a project asks people. */
const claims = [
  ['annotationRef', 'annotation_ref'],
  ['runnableRef', 'runnable_ref'],
  ['callRef', 'call_ref'],
  ['triggerRef', 'trigger_ref'],
] as const;

/**
 * Refuses feedback as only a project's own people and programs give it.
 *
 * @throws ServiceError 403 that names each field
 */
const refuseClaims = (creations: readonly Creation[]): void => {
  const details = creations.flatMap(({ draft, loc }) => {
    const fields: string[] = claims.flatMap(([name, field]) => (draft[name] === null ? [] : [field]));
    if (judgedBy(draft.type) !== undefined || askedBy(draft.type) !== undefined) fields.push('feedback_type');
    const msg = 'this key may only report: verdicts of evaluators and reviews take the role write';
    return fields.map((field) => ({ loc: ['body', ...loc, field], msg, type: 'forbidden' }));
  });
  if (details.length > 0) throw new ServiceError(403, details);
};

/** What is to be stored, and its location in the request's body. */
export interface Creation {
  readonly draft: FeedbackDraft;
  readonly loc: readonly string[];
}

/** How feedback is stored. */
export interface Adding {
  /** @default false */
  readonly addsOnly?: boolean;
}

type Request = Omit<Creation, 'draft'> & { readonly record: NewRecord };

/** How many payloads are packed at once, or ids looked up that were taken meanwhile. */
const concurrency = 16;
/** How many projects of a batch are looked up at once; nearly every batch has one. */
const projectConcurrency = 4;

/**
 * Stores feedback, and answers each record in order. An id that exists with the same content is
 * answered as it was stored. With other content, the whole request is refused before anything is
 * written, unless the id came to exist after it was looked up.
 *
 * @param userId whose key stores it
 * @param addsOnly whether what is stored stays as it is, and the answer says nothing of it: an id that is
 * taken is answered as if it had been free
 * @throws ServiceError 409 for ids that exist with other content; 413 for payloads over 1 MiB; 503
 * when storage does not take it all in time. After a 503 the same request may be sent again
 */
export const createFeedback = async (
  store: Store,
  creations: readonly Creation[],
  userId: string,
  budget: RequestBudget,
  { addsOnly = false }: Adding = {},
): Promise<CreatedFeedback[]> => {
  if (addsOnly) refuseClaims(creations);
  const requests: Request[] = [];
  for (const { draft, loc } of creations)
    requests.push({ record: newRecord(await redactFeedback(store, draft, loc), userId), loc });
  refuseLarge(requests);
  const projectIds = new Set(requests.map(({ record }) => record.header.projectId));
  for (const projectId of projectIds) store.noteProject?.(projectId);
  // The insertion of a lone record finds out by itself, since nothing is written beside it.
  const isLookedUp = requests.length > 1 && !addsOnly;
  const stored = isLookedUp ? await findStored(store, requests, budget) : new Map<string, Stored>();
  const existing = matching(requests, stored);
  const fresh = requests.filter((request) => !existing.has(request));
  await store.projects?.learnRetention(projectIds, budget);
  const prepared = await mapConcurrent(fresh, concurrency, async (request) => {
    const { header, digest, payloadText } = request.record;
    const frame = { header, digest, origin: null };
    return { request, ...(await prepareItem(store, frame, payloadText, budget)) };
  });
  const items = prepared.map(({ item }) => item);
  const taken = new Set(await insertItems(store.table, items, budget));
  const again = prepared.filter(({ item }) => taken.has(item));
  await mapConcurrent(again, concurrency, async ({ request, ...own }) => {
    const found = await insertAgain(store, request, own, addsOnly, budget);
    if (found) existing.set(request, found);
  });
  return requests.map((request) =>
    toAnswer(request.record, existing.get(request)?.entry.header ?? request.record.header),
  );
};

/**
 * Stores one record of feedback, and answers it as it is stored.
 *
 * @throws ServiceError as {@link createFeedback}
 */
export const createOneFeedback = async (
  store: Store,
  draft: FeedbackDraft,
  userId: string,
  budget: RequestBudget,
  adding: Adding = {},
): Promise<CreatedFeedback> => {
  const [answer] = await createFeedback(store, [{ draft, loc: [] }], userId, budget, adding);
  if (!answer) throw new Error('a record of feedback was not answered');
  return answer;
};

/** What is stored under the ids that clients gave, by {@link qualifiedId}. */
const findStored = async (
  store: Store,
  requests: readonly Request[],
  budget: RequestBudget,
): Promise<Map<string, Stored>> => {
  const known = requests.filter(({ record }) => record.known);
  const byProject = Map.groupBy(known, ({ record }) => record.header.projectId);
  const found = await mapConcurrent([...byProject], projectConcurrency, async ([projectId, ofProject]) => {
    const ids = ofProject.map(({ record }) => record.header.id);
    const stored = await readStored(store, projectId, ids, budget);
    return [...stored].map(([id, item]) => [qualifiedId(projectId, id), item] as const);
  });
  return new Map(found.flat());
};

const exists = ({ record, loc }: Request): ErrorDetail => ({
  loc: ['body', ...loc, 'id'],
  msg: `feedback ${record.header.id} already exists with different content`,
  type: 'id_exists',
});

/**
 * The requests whose records exist already.
 *
 * @throws ServiceError 409 that names each id with other content
 */
const matching = (
  requests: readonly Request[],
  stored: ReadonlyMap<string, Stored>,
): Map<Request, StoredRecord> => {
  const existing = requests.flatMap((request): [Request, StoredRecord][] => {
    const { projectId, id } = request.record.header;
    const found = stored.get(qualifiedId(projectId, id));
    return isRecord(found) ? [[request, found]] : [];
  });
  const others = existing.filter(([{ record }, found]) => !hasContent(found, record));
  if (others.length > 0) throw conflict(...others.map(([request]) => exists(request)));
  return new Map(existing);
};

/**
 * Stores a record whose id turned out to be taken, if it is taken by a tombstone or by nothing any
 * more. With `addsOnly`, a tombstone stays, too.
 *
 * @returns the record that is there with the same content; undefined if the given one was stored
 */
const insertAgain = async (
  store: Store,
  request: Request,
  own: PreparedItem,
  addsOnly: boolean,
  budget: RequestBudget,
): Promise<StoredRecord | undefined> => {
  const { projectId, id } = request.record.header;
  return compareAndSwap(budget, async () => {
    const found = (await readStored(store, projectId, [id], budget)).get(id);
    if (isRecord(found) || (addsOnly && found)) {
      // It may be this request's own insertion, whose answer was lost.
      const isOwn = own.object !== undefined && found.item.o === own.object;
      if (own.object !== undefined && !isOwn) await deleteObjects(store, [own.object], budget);
      if (addsOnly) return { value: undefined };
      if (!isRecord(found) || !hasContent(found, request.record)) throw conflict(exists(request));
      return { value: found };
    }
    await deleteObjects(store, getLeftovers(found?.item), budget);
    const held = await replaceItem(store.table, own.item, unchanged(found?.item), budget);
    return held ? { value: undefined } : undefined;
  });
};
