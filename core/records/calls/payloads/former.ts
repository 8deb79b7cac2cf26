import {
  asText,
  expiry,
  type Item,
  putItems,
  type RequestBudget,
  readRange,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import type { HeaderContent } from '../codec/header.ts';
import { formerItemKey, formerKey, formerPointerOf } from '../codec/keys.ts';
import type { PayloadPointer } from '../model.ts';

/*
 * A header that replaces another no longer points to the other's payload, which stays in its
 * segment. A note of its own, under the call's id, keeps the pointer, so that deleting the call
 * blanks that payload too. Items of calls with notes have the attribute `o`.
 */

/**
 * Payloads, and notes on them, outlive their headers by these days, because DynamoDB deletes
 * expired items late and readers need a header's payload.
 */
export const payloadGraceDays = 3;

/** A payload to which a call's header is about to lose its pointer. */
export interface FormerPayload {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly pointer: PayloadPointer;
}

/** The attribute of an item whose call has notes. */
export const former = { o: true } as const satisfies Item;

/** Whether an item's call has notes. */
export const hasFormer = ({ o }: Item): boolean => o === true;

/** The locations of the payloads that a header points to. */
export const pointersOf = ({ start, end }: Pick<HeaderContent, 'start' | 'end'>): PayloadPointer[] => [
  ...(start ? [start.payload] : []),
  ...(end ? [end.payload] : []),
];

const isAt = (a: PayloadPointer, b: PayloadPointer): boolean =>
  a.segment === b.segment && a.offset === b.offset && a.length === b.length;

/**
 * The pointers that are lost when one header replaces another. An inline payload goes with its item
 * and needs no note.
 */
export const lostPointers = (
  before: Pick<HeaderContent, 'start' | 'end'>,
  after: Pick<HeaderContent, 'start' | 'end'>,
): PayloadPointer[] => {
  const kept = pointersOf(after);
  return pointersOf(before).filter(
    (pointer) => pointer.segment !== null && !kept.some((other) => isAt(pointer, other)),
  );
};

/**
 * Notes former payloads. That comes before their headers are replaced, so that no payload is ever
 * without a pointer. A note on a payload that stays in use does no harm: only deletions read notes.
 *
 * @throws ServiceError 503 when storage does not accept them in time
 */
export const noteFormer = async (
  store: Store,
  payloads: readonly FormerPayload[],
  budget: RequestBudget,
): Promise<void> => {
  if (payloads.length === 0) return;
  const items = payloads.map(
    ({ projectId, id, pointer }): Item => ({
      ...formerItemKey(projectId, id, pointer),
      ...expiry(store, payloadGraceDays),
    }),
  );
  await putItems(store.table, items, budget);
};

/** A note as it is stored. */
export interface StoredNote {
  readonly key: Item;
  readonly pointer: PayloadPointer;
}

/**
 * Reads the notes on the former payloads of one call, strongly consistent.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readFormer = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<StoredNote[]> => {
  const range = { partition: ['k', formerKey(projectId, id)] } as const;
  const notes: StoredNote[] = [];
  const options = { toRow: (item: Item) => item, consistent: true };
  for await (const page of readRange(store.table, range, options, budget))
    for (const { k, p } of page) {
      const text = asText(p);
      if (k && text !== undefined) notes.push({ key: { k, p: text }, pointer: formerPointerOf(text) });
    }
  return notes;
};
