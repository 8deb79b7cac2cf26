import {
  compareAndSwap,
  insertItems,
  mapConcurrent,
  type RequestBudget,
  replaceItem,
  type Store,
} from '../../foundations/storage/index.ts';
import { conflict, type ErrorDetail, qualifiedId } from '../../foundations/wire/index.ts';
import { answerOf, type NewRecord, newRecord, refuseLarge } from './draft.ts';
import { leftoversOf, unchanged } from './items.ts';
import type { FeedbackAnswer, FeedbackDraft } from './model.ts';
import { type PlacedItem, placePayload } from './payload.ts';
import { deleteObjects, hasContent, isRecord, readStored, type Stored, type StoredRecord } from './stored.ts';

/** What is to be stored, and its location in the request's body. */
export interface Creation {
  readonly draft: FeedbackDraft;
  readonly loc: readonly string[];
}

interface Request {
  readonly record: NewRecord;
  readonly loc: readonly string[];
}

/**
 * How many payloads are packed at once, and how many ids that were taken meanwhile are looked up.
 */
const concurrency = 16;
/** How many projects of a batch are looked up at once; nearly every batch has one. */
const projectConcurrency = 4;

/**
 * Stores feedback, and answers each record in order. An id that exists with the same content is
 * answered as it was stored. With other content, the whole request is refused before anything is
 * written, unless the id came to exist after it was looked up.
 *
 * @param userId whose key stores it
 * @throws ServiceError 409 for ids that exist with other content; 413 for payloads over 1 MiB; 503
 * when storage does not take it all in time. After a 503 the same request may be sent again
 */
export const createFeedback = async (
  store: Store,
  creations: readonly Creation[],
  userId: string,
  budget: RequestBudget,
): Promise<FeedbackAnswer[]> => {
  const requests = creations.map(({ draft, loc }): Request => ({ record: newRecord(draft, userId), loc }));
  refuseLarge(requests);
  // The insertion of a lone record finds out by itself, since nothing is written beside it.
  const stored = requests.length > 1 ? await storedOf(store, requests, budget) : new Map<string, Stored>();
  const there = matching(requests, stored);
  const placed = await mapConcurrent(
    requests.filter((request) => !there.has(request)),
    concurrency,
    async (request) => ({
      request,
      ...(await placePayload(store, frameOf(request), textOf(request), budget)),
    }),
  );
  const taken = new Set(
    await insertItems(
      store.table,
      placed.map(({ item }) => item),
      budget,
    ),
  );
  await mapConcurrent(
    placed.filter(({ item }) => taken.has(item)),
    concurrency,
    async ({ request, ...own }) => {
      const found = await insertAgain(store, request, own, budget);
      if (found) there.set(request, found);
    },
  );
  return requests.map((request) =>
    answerOf(request.record, there.get(request)?.entry.header ?? request.record.header),
  );
};

const frameOf = ({ record: { header, digest } }: Request) => ({ header, digest, origin: null });
const textOf = ({ record }: Request): string => record.payloadText;
const nameOf = ({ record: { header } }: Request): string => qualifiedId(header.projectId, header.id);

/** What is stored under the ids that clients gave, by {@link qualifiedId}. */
const storedOf = async (
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
  msg: `there is feedback ${record.header.id} already, with other content`,
  type: 'id_exists',
});

/**
 * The requests whose records are there already.
 *
 * @throws ServiceError 409 that names each id with other content
 */
const matching = (
  requests: readonly Request[],
  stored: ReadonlyMap<string, Stored>,
): Map<Request, StoredRecord> => {
  const there = requests.flatMap((request): [Request, StoredRecord][] => {
    const found = stored.get(nameOf(request));
    return isRecord(found) ? [[request, found]] : [];
  });
  const others = there.filter(([{ record }, found]) => !hasContent(found, record));
  if (others.length > 0) throw conflict(...others.map(([request]) => exists(request)));
  return new Map(there);
};

/**
 * Stores a record whose id turned out to be taken, if it is taken by a tombstone or by nothing any
 * more.
 *
 * @returns the record that is there with the same content; undefined if the given one was stored
 */
const insertAgain = async (
  store: Store,
  request: Request,
  own: PlacedItem,
  budget: RequestBudget,
): Promise<StoredRecord | undefined> => {
  const { projectId, id } = request.record.header;
  return compareAndSwap(budget, async () => {
    const found = (await readStored(store, projectId, [id], budget)).get(id);
    if (isRecord(found)) {
      // It may be this request's own insertion, whose answer was lost.
      const isOwn = own.object !== undefined && found.item.o === own.object;
      if (own.object !== undefined && !isOwn) await deleteObjects(store, [own.object], budget);
      if (!hasContent(found, request.record)) throw conflict(exists(request));
      return { value: found };
    }
    await deleteObjects(store, leftoversOf(found?.item), budget);
    const held = await replaceItem(store.table, own.item, unchanged(found?.item), budget);
    return held ? { value: undefined } : undefined;
  });
};
