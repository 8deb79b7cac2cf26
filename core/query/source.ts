import { type CallHeader, readHeaders } from '../calls/index.ts';
import type { RequestBudget, Store } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import { joinParts } from './join.ts';
import { locate } from './locate.ts';
import { compareCalls, orderTies } from './order.ts';
import type { Plan } from './plan.ts';
import { scan } from './scan.ts';

/**
 * Reads every call that a plan's source holds, in its order.
 *
 * @throws ServiceError 503 when storage does not give something in time
 */
export async function* readSource(
  store: Store,
  projectId: ProjectId,
  { source, descending, enough, bounds, order, limit }: Plan,
  budget: RequestBudget,
): AsyncGenerator<CallHeader[]> {
  if (source.kind === 'nothing') return;
  if (source.kind === 'calls') {
    yield (await readHeaders(store, projectId, source.ids, budget)).sort(compareCalls(descending));
    return;
  }
  const ranges = await locate(store, projectId, source, bounds, budget);
  const readsAll = limit === null || order === 'sort';
  const options = {
    descending,
    firstPage: firstPageRows(enough, ranges.length),
    ahead: readsAll && ranges.length <= maxAhead,
  };
  const rows = scan(store, projectId, ranges, options, budget);
  const calls = joinParts(store, projectId, rows, budget);
  // What is going to be sorted needs no order before.
  yield* order === 'sort' ? calls : orderTies(descending, calls);
}

/** With more ranges than this, none is read ahead: each has up to 1 MB under way. */
const maxAhead = 16;

/**
 * How many rows to ask each range for at first: where it is known how many calls are enough, each
 * range's even share of twice as many rows (a call may have two) and some to spare; else no more
 * than it takes to have something to send at once.
 */
const firstPageRows = (enough: number | null, ranges: number): number =>
  enough === null ? Math.ceil(32 / ranges) : Math.ceil((2.2 * enough) / ranges) + 8;
