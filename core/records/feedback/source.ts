import { evenShare, mapBatches, readsAhead, scan } from '../../foundations/listing/index.ts';
import {
  asBytes,
  everyShard,
  getItems,
  type Item,
  type KeyRange,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { attributesButPayload, toEntry } from './items.ts';
import { recordKey, refRange, timeRange, typeRange } from './keys.ts';
import { comparePositions, type Entry, positionOf } from './model.ts';
import type { Plan } from './plan.ts';

/** Where entries are looked for, in which order, and how many are wanted. */
export type Search = Pick<Plan, 'source' | 'bounds' | 'descending' | 'order' | 'enough' | 'limit'>;

/** The key ranges that hold all that a source does. */
const rangesOf = (
  store: Store,
  projectId: ProjectId,
  { source, bounds }: Pick<Search, 'source' | 'bounds'>,
): KeyRange[] => {
  switch (source.kind) {
    case 'nothing':
    case 'ids':
      return [];
    case 'refs':
      return source.values.map((ref) => refRange(projectId, ref, bounds));
    case 'types':
      return source.values.flatMap((type) =>
        everyShard(store).map((shard) => typeRange(projectId, shard, type, bounds)),
      );
    case 'project':
      return everyShard(store).map((shard) => timeRange(projectId, shard, bounds));
  }
};

/**
 * Rows to ask each range for when it is not known how many records are enough: something to send.
 */
const unknownRows = 128;
/** Some rows are of records that were replaced. */
const rowsPerRecord = 1.2;

const firstPageRows = (enough: number | null, ranges: number): number =>
  enough === null ? unknownRows : evenShare(rowsPerRecord * enough, ranges);

const none = new Uint8Array();

const compareTimes = (a: Item, b: Item): number => Buffer.compare(asBytes(a.t) ?? none, asBytes(b.t) ?? none);

/**
 * Everything that a search meets, in order of creation (or its reverse), without payloads that are
 * stored apart.
 *
 * @throws ServiceError 503 when storage does not give it in time
 */
export async function* entriesOf(
  store: Store,
  projectId: ProjectId,
  search: Search,
  budget: RequestBudget,
): AsyncGenerator<readonly Entry[]> {
  const toEntries = async (items: readonly Item[]): Promise<Entry[]> => {
    const entries = await Promise.all(items.map((item) => toEntry(store, projectId, item)));
    return entries.filter((entry) => entry !== undefined);
  };
  const { source, descending, enough } = search;
  if (source.kind === 'ids') {
    const keys = source.values.map((id) => recordKey(projectId, id));
    const options = { consistent: true, attributes: attributesButPayload };
    const entries = await toEntries(await getItems(store.table, keys, budget, options));
    const compare = comparePositions(descending);
    yield entries.sort((a, b) => compare(positionOf(a), positionOf(b)));
    return;
  }
  const ranges = rangesOf(store, projectId, search);
  const options = {
    descending,
    firstPage: firstPageRows(enough, ranges.length),
    ahead: readsAhead(search, ranges.length),
    toRow: (item: Item) => item,
    compare: compareTimes,
  };
  yield* mapBatches(scan(store.table, ranges, options, budget), toEntries);
}
