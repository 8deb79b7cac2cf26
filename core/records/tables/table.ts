import { createHash } from 'node:crypto';
import type { TableChange } from '../../../api/tables.ts';
import { type Digests, ownDigests } from '../../../foundations/door.ts';
import {
  pack as compress,
  decodeMessagePack,
  encodeMessagePack,
  unpack,
} from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  getItems,
  getObject,
  type Item,
  mapConcurrent,
  putItems,
  putObject,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import {
  checkDigest,
  invalidAt,
  isTableDigest,
  type JsonObject,
  notFound,
  type ProjectId,
} from '../../../foundations/wire/index.ts';
import {
  findRows,
  type LocatedRow,
  type Location,
  nameInKey,
  putPack,
  type Row,
  type Run,
  readEntries,
  readPacks,
  runsObject,
  tableKey,
  toRows,
  toRuns,
} from './packs.ts';

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

/** Stores a table, whose rows must be there. The same table sent again replaces itself. */
const putTable = async (
  store: Store,
  projectId: ProjectId,
  digest: string,
  rows: readonly Location[],
  budget: RequestBudget,
): Promise<void> => {
  const packed = await compress(encodeRuns(toRuns(rows)));
  const inItem = packed.length <= maxInItem;
  if (!inItem) await putObject(store.bucket, runsObject(projectId, digest), packed, budget);
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  const item = { ...tableKey(projectId, digest), n: rows.length, z: bytes, ...(inItem && { b: packed }) };
  await putItems(store.table, [item], budget);
};

const getSize = (item: Item): TableSize => ({ count: Number(item.n), bytes: Number(item.z) });

/**
 * Reads the sizes of tables, strongly consistent, by their digests. Those that are not there are
 * left out.
 */
export const readSizes = async (
  store: Store,
  projectId: ProjectId,
  digests: readonly string[],
  budget: RequestBudget,
): Promise<Map<string, TableSize>> => {
  const known = [...new Set(digests)].filter((digest) => isTableDigest(digest));
  const keys = known.map((digest) => tableKey(projectId, digest));
  const items = await getItems(store.table, keys, budget, { consistent: true, attributes: ['k', 'n', 'z'] });
  return new Map(items.map((item) => [nameInKey(item, 64), getSize(item)]));
};

/**
 * Reads a table, strongly consistent.
 *
 * @returns undefined if the project has none of that digest
 */
export const findTable = async (
  store: Store,
  projectId: ProjectId,
  digest: string,
  budget: RequestBudget,
): Promise<StoredTable | undefined> => {
  if (!isTableDigest(digest)) return undefined;
  const [item] = await getItems(store.table, [tableKey(projectId, digest)], budget, { consistent: true });
  if (!item) return undefined;
  const packed = asBytes(item.b) ?? (await getObject(store.bucket, runsObject(projectId, digest), budget));
  if (!packed) throw new Error(`the runs of a table are missing: ${runsObject(projectId, digest)}`);
  return { ...getSize(item), runs: decodeRuns(unpack(packed)) };
};

/** The error for a table that is not there. */
export const noTable = (projectId: ProjectId, digest: string, field = 'digest'): Error =>
  notFound(['body', field], `there is no table ${digest.slice(0, 100)} in ${projectId}`);

/** The digest of a table: the SHA-256 of its rows' digests one after the other, in hex. */
export const tableDigest = (rows: Iterable<string>): string => {
  const hash = createHash('sha256');
  for (const row of rows) hash.update(row);
  return hash.digest('hex');
};

/** What became of a table. */
export interface MadeTable {
  readonly digest: string;
  /** The digests of the rows that came, in their order. */
  readonly rowDigests: readonly string[];
}

/**
 * Stores the rows that the project does not have yet.
 *
 * @returns where each row lies, by its digest
 */
const storeRows = async (
  store: Store,
  projectId: ProjectId,
  rows: readonly Row[],
  budget: RequestBudget,
): Promise<Map<string, Location>> => {
  const unique = new Map(rows.map((row) => [row.digest, row]));
  const found = await findRows(store, projectId, unique.keys(), budget);
  const fresh = [...unique.values()].filter(({ digest }) => !found.has(digest));
  const stored = fresh.length > 0 ? await putPack(store, projectId, fresh, budget) : [];
  return new Map([...firstLocations(found), ...stored]);
};

/** Where rows lie. Of one that was stored twice at once, either place will do. */
const firstLocations = (found: ReadonlyMap<string, readonly Location[]>): [digest: string, Location][] =>
  [...found].flatMap(([digest, [place]]): [string, Location][] => (place ? [[digest, place]] : []));

/**
 * Makes a table of rows.
 *
 * @param expected the digest that the client computed; null if it did not
 * @throws ServiceError 409 where the digest is another
 */
export const createTable = async (
  store: Store,
  projectId: ProjectId,
  values: readonly JsonObject[],
  expected: string | null,
  budget: RequestBudget,
  digests: Digests = ownDigests,
): Promise<MadeTable> => {
  const rows = await toRows(store, values, digests);
  const rowDigests = rows.map((row) => row.digest);
  const digest = tableDigest(rowDigests);
  checkDigest({ what: 'these rows', digest, expected, within: ['table'] });
  store.noteProject?.(projectId);
  const places = await storeRows(store, projectId, rows, budget);
  const located = rowDigests.flatMap((row) => places.get(row) ?? []);
  await putTable(store, projectId, digest, located, budget);
  return { digest, rowDigests };
};

const maxNamed = 10;

/**
 * Makes a table of rows that the project has.
 *
 * @throws ServiceError 404 where a row is not there, 409 where the digest is another than expected
 */
export const createTableFromDigests = async (
  store: Store,
  projectId: ProjectId,
  rowDigests: readonly string[],
  expected: string | null,
  budget: RequestBudget,
): Promise<string> => {
  const digest = tableDigest(rowDigests);
  checkDigest({ what: 'these rows', digest, expected });
  const found = await findRows(store, projectId, new Set(rowDigests), budget);
  const missing = rowDigests.flatMap((row, i) => (found.has(row) ? [] : [`${i} (${row})`]));
  if (missing.length > 0) {
    const named = missing.slice(0, maxNamed).join(', ');
    throw notFound(
      ['body', 'row_digests'],
      `${missing.length} of these rows are not in ${projectId}: ${named}; send them to /table/create first`,
    );
  }
  const places = rowDigests.flatMap((row) => found.get(row)?.[0] ?? []);
  await putTable(store, projectId, digest, places, budget);
  return digest;
};

const concurrency = 8;

/** The rows of a table, in order. */
const rowsOfTable = async (
  store: Store,
  projectId: ProjectId,
  { runs }: Pick<StoredTable, 'runs'>,
  budget: RequestBudget,
): Promise<LocatedRow[]> => {
  const packs = await readPacks(store, projectId, runs, budget);
  const entries = await mapConcurrent([...packs.values()], concurrency, async (pack) => {
    return [pack.id, await readEntries(store, projectId, pack, budget)] as const;
  });
  const rows = new Map(entries);
  return runs.flatMap(({ pack, from, count }) => rows.get(pack)?.slice(from, from + count) ?? []);
};

/** The index of a change. Negative ones count from the end, as in Python. */
const indexIn = (length: number, change: Exclude<TableChange, { kind: 'append' }>, at: number): number => {
  const most = change.kind === 'pop' ? length - 1 : length;
  const index = change.index < 0 ? change.index + length : change.index;
  if (index >= 0 && index <= most) return index;
  throw invalidAt(
    ['body', 'updates', String(at), change.kind, 'index'],
    `should be within the table, which has ${length} rows by then`,
  );
};

/** Changes rows one after the other. Returns which rows were added or went, in order. */
const applyChanges = (
  rows: (LocatedRow | Row)[],
  changes: readonly TableChange[],
  added: readonly (Row | undefined)[],
): string[] => {
  const touched: string[] = [];
  for (const [i, change] of changes.entries()) {
    const row = added[i];
    if (change.kind === 'append' && row) rows.push(row);
    else if (change.kind === 'insert' && row) rows.splice(indexIn(rows.length, change, i), 0, row);
    else if (change.kind === 'pop') {
      const [gone] = rows.splice(indexIn(rows.length, change, i), 1);
      if (gone) touched.push(gone.digest);
    }
    if (row) touched.push(row.digest);
  }
  return touched;
};

/**
 * Makes a table of another one. The first stays, and they share the rows that both have.
 *
 * @returns its digest, and those of the rows that were added or went, in the order of the changes
 * @throws ServiceError 404 where there is no such table, 422 where an index is outside of it
 */
export const updateTable = async (
  store: Store,
  projectId: ProjectId,
  baseDigest: string,
  changes: readonly TableChange[],
  budget: RequestBudget,
  digests: Digests = ownDigests,
): Promise<{ readonly digest: string; readonly touched: readonly string[] }> => {
  const base = await findTable(store, projectId, baseDigest, budget);
  if (!base) throw noTable(projectId, baseDigest, 'base_digest');
  const sent = changes.flatMap((change) => (change.kind === 'pop' ? [] : [change.row]));
  const made = (await toRows(store, sent, digests)).values();
  const added = changes.map((change) => (change.kind === 'pop' ? undefined : made.next().value));
  const rows: (LocatedRow | Row)[] = await rowsOfTable(store, projectId, base, budget);
  const touched = applyChanges(rows, changes, added);
  const digest = tableDigest(rows.map((row) => row.digest));
  const fresh = rows.filter((row): row is Row => 'line' in row);
  const places = await storeRows(store, projectId, fresh, budget);
  const located = rows.flatMap((row) => ('pack' in row ? row : (places.get(row.digest) ?? [])));
  await putTable(store, projectId, digest, located, budget);
  return { digest, touched };
};
