import type { TableQuery } from '../../../api/tables.ts';
import { type SortKey, sortable, valueAt } from '../../../foundations/expression/index.ts';
import { cutSlice, type Slice, sortByKeys } from '../../../foundations/listing/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import { invalidAt, type JsonValue, type ProjectId, parseJson } from '../../../foundations/wire/index.ts';
import {
  findRows,
  type LocatedRow,
  type Pack,
  partAt,
  type Run,
  readEntries,
  readPackPart,
  readPacks,
  textInLine,
} from './packs.ts';
import { findTable, noTable, type StoredTable } from './table.ts';

/** A row as it is read, with its place in its table. */
export interface ReadRow {
  readonly index: number;
  /** As JSON text. */
  readonly text: string;
  /** The digest that it was stored by. */
  readonly digest: string;
}

/** Rows of a pack that follow each other, and the place of the first in the table. */
interface IndexedRun extends Run {
  readonly index: number;
}

/** To sort rows they are held in memory, in bytes of JSON. */
const maxSorted = 100 * 1024 * 1024;

const indexedRuns = ({ runs }: Pick<StoredTable, 'runs'>): IndexedRun[] => {
  let index = 0;
  return runs.map((run) => {
    const indexed = { ...run, index };
    index += run.count;
    return indexed;
  });
};

/** A part of a list of runs. */
const sliced = (runs: readonly IndexedRun[], { offset, limit }: Slice): IndexedRun[] => {
  const end = limit === null ? Number.POSITIVE_INFINITY : offset + limit;
  let at = 0;
  return runs.flatMap(({ pack, from, count, index }) => {
    const low = Math.max(offset - at, 0);
    const high = Math.min(end - at, count);
    at += count;
    return low < high ? [{ pack, from: from + low, count: high - low, index: index + low }] : [];
  });
};

/** The rows of a table that have one of the digests, in the table's order. */
const runsOfRows = async (
  store: Store,
  projectId: ProjectId,
  runs: readonly IndexedRun[],
  digests: readonly string[],
  budget: RequestBudget,
): Promise<IndexedRun[]> => {
  const found = await findRows(store, projectId, new Set(digests), budget);
  const positions = Map.groupBy([...found.values()].flat(), ({ pack }) => pack);
  return runs.flatMap(({ pack, from, count, index }) =>
    (positions.get(pack) ?? [])
      .map(({ position }) => position)
      .filter((position) => position >= from && position < from + count)
      .sort((a, b) => a - b)
      .map((position) => ({ pack, from: position, count: 1, index: index + position - from })),
  );
};

/** @throws Error if a pack has fewer digests than rows */
const digestAt = (entries: readonly LocatedRow[], position: number): string => {
  const entry = entries[position];
  if (!entry) throw new Error(`a pack has no digest of its row ${position}`);
  return entry.digest;
};

/** Reads runs part by part. What comes several times in a row is read once. */
async function* readRuns(
  store: Store,
  projectId: ProjectId,
  runs: readonly IndexedRun[],
  budget: RequestBudget,
): AsyncGenerator<ReadRow[]> {
  const packs = await readPacks(store, projectId, runs, budget);
  let last: { readonly pack: Pack; readonly part: number; readonly lines: string[] } | undefined;
  let entries: readonly LocatedRow[] = [];
  for (const { pack: id, from, count, index } of runs) {
    const pack = packs.get(id);
    if (!pack) continue;
    for (let position = from; position < from + count; ) {
      const part = partAt(pack, position);
      if (last?.pack !== pack || last.part !== part) {
        const isKnown = last?.pack === pack;
        const [lines, digests] = await Promise.all([
          readPackPart(store, projectId, pack, part, budget),
          isKnown ? entries : readEntries(store, projectId, pack, budget),
        ]);
        last = { pack, part, lines };
        entries = digests;
      }
      const start = pack.starts[part] ?? 0;
      const lines = last.lines.slice(position - start, from + count - start);
      const first = index + position - from;
      yield lines.map((line, i) => ({
        index: first + i,
        text: textInLine(line),
        digest: digestAt(entries, position + i),
      }));
      position += lines.length;
    }
  }
}

/** Sorts rows by paths into their values. */
const sorted = (rows: readonly ReadRow[], sort: readonly SortKey[]): ReadRow[] =>
  sortByKeys(rows, {
    sort,
    toKey: ({ text }) => {
      const value = parseJson(text) as JsonValue;
      return sort.map(({ path }) => sortable(valueAt(value, [path.field, ...path.steps])));
    },
    ties: (a, b) => a.index - b.index,
  });

/**
 * Reads rows of a table, in its order or in another.
 *
 * @throws ServiceError 404 where there is no such table, 422 where it is too large to be sorted
 */
export async function* queryTable(
  store: Store,
  { projectId, digest, rowDigests, sort, ...slice }: TableQuery,
  budget: RequestBudget,
): AsyncGenerator<readonly ReadRow[]> {
  const table = await findTable(store, projectId, digest, budget);
  if (!table) throw noTable(projectId, digest);
  const all = indexedRuns(table);
  const selectedRuns = rowDigests ? await runsOfRows(store, projectId, all, rowDigests, budget) : all;
  if (sort.length === 0) {
    yield* readRuns(store, projectId, sliced(selectedRuns, slice), budget);
    return;
  }
  if (table.bytes > maxSorted) {
    const msg = `a table of ${table.bytes} bytes is too large to be sorted; leave sort_by out`;
    throw invalidAt(['body', 'sort_by'], msg);
  }
  const rows: ReadRow[] = [];
  for await (const batch of readRuns(store, projectId, selectedRuns, budget)) rows.push(...batch);
  yield cutSlice(sorted(rows, sort), slice);
}

export const rowJson = ({ index, text, digest }: ReadRow): string =>
  `{"digest":"${digest}","val":${text},"original_index":${index}}`;

/** So many parts of packs are kept, of some 512 KB each: refs often lead to rows side by side. */
const maxParts = 16;

/** The promise that was made for a key before, or a new one. */
const remembered = <T>(cache: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> => {
  const known = cache.get(key) ?? make();
  cache.set(key, known);
  return known;
};

/** Reads rows of tables one by one. What several of them need is read once. */
export class RowReader {
  readonly #store: Store;
  readonly #budget: RequestBudget;
  readonly #tables = new Map<string, Promise<readonly IndexedRun[] | undefined>>();
  readonly #packs = new Map<string, Promise<Pack | undefined>>();
  readonly #parts = new Map<string, Promise<string[]>>();

  constructor(store: Store, budget: RequestBudget) {
    this.#store = store;
    this.#budget = budget;
  }

  /**
   * Reads a row of a table by its digest.
   *
   * @returns undefined where the project has no such table, or the table no such row
   * @throws ServiceError 503 when storage does not give it in time
   */
  async read(projectId: ProjectId, table: string, digest: string): Promise<JsonValue | undefined> {
    const runs = await remembered(this.#tables, `${projectId} ${table}`, async () => {
      const found = await findTable(this.#store, projectId, table, this.#budget);
      return found && indexedRuns(found);
    });
    if (!runs) return undefined;
    const [row] = await runsOfRows(this.#store, projectId, runs, [digest], this.#budget);
    const text = row && (await this.#textAt(projectId, row));
    return text === undefined ? undefined : (parseJson(text) as JsonValue);
  }

  async #textAt(projectId: ProjectId, { pack: id, from }: IndexedRun): Promise<string | undefined> {
    const pack = await remembered(this.#packs, `${projectId} ${id}`, async () =>
      (await readPacks(this.#store, projectId, [{ pack: id }], this.#budget)).get(id),
    );
    if (!pack) return undefined;
    const part = partAt(pack, from);
    const first = this.#parts.keys().next().value;
    if (this.#parts.size >= maxParts && first !== undefined) this.#parts.delete(first);
    const lines = await remembered(this.#parts, `${projectId} ${id} ${part}`, () =>
      readPackPart(this.#store, projectId, pack, part, this.#budget),
    );
    const line = lines[from - (pack.starts[part] ?? 0)];
    return line === undefined ? undefined : textInLine(line);
  }
}
