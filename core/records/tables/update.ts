import { mapConcurrent, type RequestBudget, type Store } from '../../foundations/storage/index.ts';
import { invalid, type JsonObject, type ProjectId } from '../../foundations/wire/index.ts';
import { tableDigest } from '../../foundations/wire/weave-digest.ts';
import { storeRows } from './create.ts';
import { readEntries, readPacks } from './packs.ts';
import { type PlacedRow, type Row, rowOf } from './row.ts';
import { findTable, noTable, putTable, type StoredTable } from './table.ts';

/** A change of a table: rows that are added at an index or at the end, or one that goes. */
export type TableChange =
  | { readonly kind: 'append'; readonly row: JsonObject }
  | { readonly kind: 'insert'; readonly index: number; readonly row: JsonObject }
  | { readonly kind: 'pop'; readonly index: number };

const concurrency = 8;

/**
 * Reads which rows a table has, in order.
 *
 * @throws ServiceError 503 when storage does not give them in time
 */
const rowsOfTable = async (
  store: Store,
  projectId: ProjectId,
  { runs }: Pick<StoredTable, 'runs'>,
  budget: RequestBudget,
): Promise<PlacedRow[]> => {
  const packs = await readPacks(
    store,
    projectId,
    runs.map(({ pack }) => pack),
    budget,
  );
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
  throw invalid({
    loc: ['body', 'updates', String(at), change.kind, 'index'],
    msg: `should be within the table, which has ${length} rows by then`,
    type: 'value_error',
  });
};

/** Changes rows one after the other. Returns which rows were added or went, in order. */
const applyChanges = (
  rows: (PlacedRow | Row)[],
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
 * @throws ServiceError 404 where there is no such table, 422 where an index is outside of it, 503
 * when storage does not do it in time
 */
export const updateTable = async (
  store: Store,
  projectId: ProjectId,
  baseDigest: string,
  changes: readonly TableChange[],
  budget: RequestBudget,
): Promise<{ readonly digest: string; readonly touched: readonly string[] }> => {
  const base = await findTable(store, projectId, baseDigest, budget);
  if (!base) throw noTable(projectId, baseDigest, 'base_digest');
  const added = changes.map((change) => (change.kind === 'pop' ? undefined : rowOf(change.row)));
  const rows: (PlacedRow | Row)[] = await rowsOfTable(store, projectId, base, budget);
  const touched = applyChanges(rows, changes, added);
  const digest = tableDigest(rows.map((row) => row.digest));
  const fresh = rows.filter((row): row is Row => 'text' in row);
  const places = await storeRows(store, projectId, fresh, budget);
  const placed = rows.flatMap((row) => ('pack' in row ? row : (places.get(row.digest) ?? [])));
  await putTable(store, projectId, digest, placed, budget);
  return { digest, touched };
};
