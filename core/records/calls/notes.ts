import { createHash } from 'node:crypto';
import { pack, unpack } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  expiryIn,
  getRetentionDays,
  type Item,
  mapConcurrent,
  putItems,
  type RequestBudget,
  readRange,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { TableKey } from '../../../foundations/storage/tables.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { noteDays } from '../projects.ts';
import { keyText } from './items.ts';

/*
 * What one request has to say to others that are about the same call, trace, session or answer, in whichever
 * order they come. Notes on the same thing share a partition. Each request puts its notes before it reads
 * those of others, so whoever comes last knows all.
 */

/** A text that a request leaves for others. */
export interface Note {
  readonly key: TableKey<'calls'>;
  readonly text: string;
}

/** The largest packed note, in bytes. An item can have 400 KB. */
const maxBytes = 380 * 1024;

const packConcurrency = 8;

/** The same hex digits for the same text, so that a note that comes again takes the place of the first. */
export const textDigest = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);

/**
 * Stores notes, each once however often it comes.
 *
 * @returns those that are too long to be stored
 * @throws ServiceError 503 when storage does not accept them in time
 */
export const putNotes = async <N extends Note & { readonly projectId: ProjectId }>(
  store: Store,
  notes: readonly N[],
  budget: RequestBudget,
): Promise<N[]> => {
  await store.projects?.learnRetention(new Set(notes.map(({ projectId }) => projectId)), budget);
  const items = new Map<string, Item>();
  const tooLong: N[] = [];
  await mapConcurrent(notes, packConcurrency, async (note) => {
    const { key, text, projectId } = note;
    const b = await pack(Buffer.from(text));
    const days = Math.min(noteDays, getRetentionDays(store, projectId) ?? noteDays);
    if (b.length > maxBytes) tooLong.push(note);
    else items.set(`${keyText(key)} ${key.p}`, { ...key, b, ...expiryIn(days) });
  });
  await putItems(store.table, [...items.values()], budget);
  return tooLong;
};

/**
 * Reads the notes of a partition in the order of their keys, strongly consistent.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export async function* readNotes(
  { table }: Pick<Store, 'table'>,
  k: TableKey<'calls'>['k'],
  budget: RequestBudget,
): AsyncGenerator<Note> {
  const options = { toRow: (item: Item) => item, consistent: true };
  for await (const items of readRange(table, { partition: ['k', k] }, options, budget))
    for (const { p, b } of items) {
      const bytes = asBytes(b);
      if (bytes && typeof p === 'string') yield { key: { k, p }, text: unpack(bytes).toString() };
    }
}

/** Reads the keys of the notes of a partition, to delete them with what they are about. */
export const readNoteKeys = async (
  store: Store,
  k: TableKey<'calls'>['k'],
  budget: RequestBudget,
): Promise<Item[]> => {
  const notes = await Array.fromAsync(readNotes(store, k, budget));
  return notes.map(({ key }) => key);
};
