import { evenShare, mapBatches, type Paging, readsAhead } from '../../foundations/listing/index.ts';
import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { type CallHeader, readHeaders } from '../../records/calls/index.ts';
import { joinParts } from './join.ts';
import { locate } from './locate.ts';
import { compareCalls, orderTies } from './order.ts';
import type { Plan } from './plan.ts';
import { scanParts } from './scan.ts';

/**
 * Reads every call that a plan's source holds, in the source's order.
 *
 * @throws ServiceError 503 when storage does not give something in time
 */
export async function* readSource(
  store: Store,
  projectId: ProjectId,
  plan: Plan,
  budget: RequestBudget,
): AsyncGenerator<readonly CallHeader[]> {
  const { source, descending, enough, bounds, order } = plan;
  if (source.kind === 'nothing') return;
  if (source.kind === 'calls') {
    yield (await readHeaders(store, projectId, source.ids, budget)).sort(compareCalls(plan));
    return;
  }
  const ranges = await locate(store, projectId, source, bounds, budget);
  const seen = { rows: 0, calls: 0 };
  const options = {
    descending,
    ...firstPages(plan, ranges.length),
    ahead: readsAhead(plan, ranges.length),
    ...(enough !== null && { wanted: () => wantedRows(enough, seen) }),
  };
  const rows = mapBatches(scanParts(store, projectId, ranges, options, budget), (batch) => {
    seen.rows += batch.length;
    return batch;
  });
  const calls = mapBatches(joinParts(store, projectId, rows, budget), (batch) => {
    seen.calls += batch.length;
    return batch;
  });
  // What is going to be sorted needs no order before.
  yield* order === 'sort' ? calls : orderTies(plan, calls);
}

/**
 * Rows to ask for in all when it is not known how many calls are enough: something to send at once.
 * So few cost no more than one of a range.
 */
const [unknownRows, fewRows] = [32, 8];
/** How fast pages grow when all rows will be wanted: each page is rounded up to half a unit. */
const growthToAll = 16;
/**
 * Rows to ask roots for at first where nested calls are read too. Mostly they are few. So many cost
 * no more than one.
 */
const fewRoots = 12;

/** The first pages of ranges. Most calls have one row; second pages bring what is missing. */
const firstPages = (
  { source, enough, limit, order }: Plan,
  ranges: number,
): Pick<Paging, 'firstPage' | 'growth'> => {
  if (enough === null) {
    const firstPage = Math.max(fewRows, Math.ceil(unknownRows / ranges));
    return limit === null || order === 'sort' ? { firstPage, growth: growthToAll } : { firstPage };
  }
  const isWhole = source.kind === 'project' && source.levels.length > 1;
  if (!isWhole) return { firstPage: evenShare(enough, ranges) };
  const shards = ranges / source.levels.length;
  const nested = evenShare(enough, shards);
  return {
    firstPage: source.levels.flatMap((level) =>
      Array.from({ length: shards }, () => (level === 'roots' ? Math.min(fewRoots, nested) : nested)),
    ),
  };
};

/** How many rows the calls that are missing have, if they are like those that were seen. */
const wantedRows = (enough: number, { rows, calls }: { readonly rows: number; readonly calls: number }) =>
  Math.max(0, enough - calls) * (calls > 0 ? rows / calls : 1);
