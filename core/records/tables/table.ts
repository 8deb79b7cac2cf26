import {
  pack as compress,
  decodeMessagePack,
  encodeMessagePack,
  unpack,
} from '../../foundations/encoding/index.ts';
import {
  asBytes,
  getItems,
  getObject,
  type Item,
  putItems,
  putObject,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import { notFound, type ProjectId } from '../../foundations/wire/index.ts';
import { tableDigestPattern } from '../../foundations/wire/weave-digest.ts';
import { runsObject, tableKey } from './keys.ts';
import { type Location, type Run, runsOf } from './row.ts';

/*
 * A table is the list of its rows' places, as runs. It is MessagePack of the packs' ids and, for
 * each run, the number of its pack, where it begins and how long it is. Rows are never in it, so
 * versions of a table share them.
 */

/** The largest list of runs that is in an item, in bytes. */
const maxInItem = 16 * 1024;

/** How many rows a table has, and their bytes as compact JSON. */
export interface TableSize {
  readonly count: number;
  readonly bytes: number;
}

/** A table as it is stored: its size, and the places of its rows in their order. */
export interface StoredTable extends TableSize {
  readonly runs: readonly Run[];
}

const encodeRuns = (runs: readonly Run[]): Uint8Array => {
  const packs = [...new Set(runs.map(({ pack }) => pack))];
  const numbers = new Map(packs.map((pack, i) => [pack, i]));
  const flat = runs.flatMap(({ pack, from, count }) => [numbers.get(pack) ?? 0, from, count]);
  return encodeMessagePack([packs.map((pack) => Buffer.from(pack, 'hex')), flat]);
};

const decodeRuns = (bytes: Uint8Array): Run[] => {
  const [packs, flat] = decodeMessagePack(bytes) as [Uint8Array[], number[]];
  const ids = packs.map((pack) => Buffer.from(pack).toString('hex'));
  return Array.from({ length: flat.length / 3 }, (_, i) => ({
    pack: ids[flat[3 * i] ?? 0] ?? '',
    from: flat[3 * i + 1] ?? 0,
    count: flat[3 * i + 2] ?? 0,
  }));
};

/**
 * Stores a table, whose rows must be there. The same table sent again replaces itself.
 *
 * @throws ServiceError 503 when storage does not take it in time
 */
export const putTable = async (
  store: Store,
  projectId: ProjectId,
  digest: string,
  rows: readonly Location[],
  budget: RequestBudget,
): Promise<void> => {
  const packed = await compress(encodeRuns(runsOf(rows)));
  const inItem = packed.length <= maxInItem;
  if (!inItem) await putObject(store.bucket, runsObject(projectId, digest), packed, budget);
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  const item = { ...tableKey(projectId, digest), n: rows.length, z: bytes, ...(inItem && { b: packed }) };
  await putItems(store.table, [item], budget);
};

const sizeOf = (item: Item): TableSize => ({ count: Number(item.n), bytes: Number(item.z) });

/**
 * Reads the sizes of tables, strongly consistent, by their digests. Those that are not there are
 * left out.
 *
 * @throws ServiceError 503 when storage does not give them in time
 */
export const readSizes = async (
  store: Store,
  projectId: ProjectId,
  digests: readonly string[],
  budget: RequestBudget,
): Promise<Map<string, TableSize>> => {
  const known = [...new Set(digests)].filter((digest) => tableDigestPattern.test(digest));
  const keys = known.map((digest) => tableKey(projectId, digest));
  const items = await getItems(store.table, keys, budget, { consistent: true, attributes: ['k', 'n', 'z'] });
  return new Map(
    items.map((item) => [
      Buffer.from(asBytes(item.k) ?? [])
        .toString('hex')
        .slice(-64),
      sizeOf(item),
    ]),
  );
};

/**
 * Reads a table, strongly consistent.
 *
 * @returns undefined if the project has none of that digest
 * @throws ServiceError 503 when storage does not give it in time
 */
export const findTable = async (
  store: Store,
  projectId: ProjectId,
  digest: string,
  budget: RequestBudget,
): Promise<StoredTable | undefined> => {
  if (!tableDigestPattern.test(digest)) return undefined;
  const [item] = await getItems(store.table, [tableKey(projectId, digest)], budget, { consistent: true });
  if (!item) return undefined;
  const packed = asBytes(item.b) ?? (await getObject(store.bucket, runsObject(projectId, digest), budget));
  if (!packed) throw new Error(`the runs of a table are missing: ${runsObject(projectId, digest)}`);
  return { ...sizeOf(item), runs: decodeRuns(await unpack(packed)) };
};

/** The error for a table that is not there. */
export const noTable = (projectId: ProjectId, digest: string, field = 'digest'): Error =>
  notFound(['body', field], `there is no table ${digest.slice(0, 100)} in ${projectId}`);
