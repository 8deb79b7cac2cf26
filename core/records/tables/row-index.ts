import {
  asBytes,
  type Item,
  mapConcurrent,
  type RequestBudget,
  readRange,
  type Store,
} from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { digestBytes } from '../../foundations/wire/weave-digest.ts';
import { indexKey, indexRange } from './keys.ts';
import type { Location } from './row.ts';

/*
 * An item of the index has an entry for each of its rows. That is bytes 1 to 12 of the digest, then
 * the row's position and its size, three bytes each. Byte 0 is in the key. 104 bits tell rows
 * apart.
 */

const nameBytes = 12;
const entryBytes = nameBytes + 6;
const concurrency = 32;

/** What tells a row in its item: bytes 1 to 12 of its digest. */
const nameOf = (digest: Buffer): string => digest.toString('latin1', 1, 1 + nameBytes);

/** The items that lead to the rows of a pack, in their positions. */
export const indexItems = (
  projectId: ProjectId,
  pack: string,
  rows: readonly { readonly digest: string; readonly bytes: number }[],
): Item[] => {
  const byFirst = new Map<number, Buffer[]>();
  for (const [position, { digest, bytes }] of rows.entries()) {
    const name = digestBytes(digest);
    const entry = Buffer.alloc(entryBytes);
    name.copy(entry, 0, 1, 1 + nameBytes);
    entry.writeUIntBE(position, nameBytes, 3);
    entry.writeUIntBE(bytes, nameBytes + 3, 3);
    const first = name[0] ?? 0;
    const entries = byFirst.get(first) ?? [];
    entries.push(entry);
    byFirst.set(first, entries);
  }
  return [...byFirst].map(([first, entries]) => ({
    ...indexKey(projectId, first, pack),
    d: Buffer.concat(entries),
  }));
};

/**
 * Finds rows of a project, strongly consistent.
 *
 * @returns the places of each row that is there; more than one where it was stored twice at once
 * @throws ServiceError 503 when storage does not answer in time
 */
export const findRows = async (
  store: Store,
  projectId: ProjectId,
  digests: Iterable<string>,
  budget: RequestBudget,
): Promise<Map<string, Location[]>> => {
  const byFirst = new Map<number, Map<string, string>>();
  for (const digest of digests) {
    const bytes = digestBytes(digest);
    const first = bytes[0] ?? 0;
    const wanted = byFirst.get(first) ?? new Map<string, string>();
    wanted.set(nameOf(bytes), digest);
    byFirst.set(first, wanted);
  }
  const found = new Map<string, Location[]>();
  await mapConcurrent([...byFirst], concurrency, async ([first, wanted]) => {
    const range = indexRange(projectId, first);
    const options = { toRow: (item: Item) => item, consistent: true };
    for await (const page of readRange(store.table, range, options, budget))
      for (const item of page) take(item, wanted, found);
  });
  return found;
};

/** Takes what an item says of wanted rows. */
const take = (item: Item, wanted: ReadonlyMap<string, string>, found: Map<string, Location[]>): void => {
  const entries = Buffer.from(asBytes(item.d) ?? []);
  const pack = Buffer.from(asBytes(item.s) ?? []).toString('hex');
  for (let at = 0; at < entries.length; at += entryBytes) {
    const digest = wanted.get(entries.toString('latin1', at, at + nameBytes));
    if (digest === undefined) continue;
    const position = entries.readUIntBE(at + nameBytes, 3);
    const bytes = entries.readUIntBE(at + nameBytes + 3, 3);
    found.set(digest, [...(found.get(digest) ?? []), { pack, position, bytes }]);
  }
};
