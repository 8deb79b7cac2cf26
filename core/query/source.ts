import { type CallHeader, readHeaders } from '../calls/index.ts';
import { evenShare, readsAhead } from '../listing/index.ts';
import type { RequestBudget, Store } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
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
    yield (await readHeaders(store, projectId, source.ids, budget)).sort(compareCalls(descending));
    return;
  }
  const ranges = await locate(store, projectId, source, bounds, budget);
  const options = {
    descending,
    firstPage: firstPageRows(enough, ranges.length),
    ahead: readsAhead(plan, ranges.length),
  };
  const rows = scanParts(store, projectId, ranges, options, budget);
  const calls = joinParts(store, projectId, rows, budget);
  // What is going to be sorted needs no order before.
  yield* order === 'sort' ? calls : orderTies(descending, calls);
}

/**
 * Rows to ask for in all when it is not known how many calls are enough: something to send at once.
 */
const unknownRows = 32;
/** A call has up to two rows, and some calls may be missing. */
const rowsPerCall = 2.2;

const firstPageRows = (enough: number | null, ranges: number): number =>
  enough === null ? Math.ceil(unknownRows / ranges) : evenShare(rowsPerCall * enough, ranges);
