import { type CallHeader, PayloadReader } from '../calls/index.ts';
import { type Expression, toPath } from '../expression/index.ts';
import { type CallRow, type CallsFilter, type Lookups, noIncludes, queryCalls } from '../query/index.ts';
import type { RequestBudget, Store } from '../storage/index.ts';
import { formatTime, type JsonValue, type Micros, type ProjectId } from '../wire/index.ts';
import type { Span } from './span.ts';

/** Which calls are scanned. */
export interface Scanned {
  readonly projectId: ProjectId;
  readonly filter: CallsFilter;
  readonly where: Expression | null;
  /** Whether their usage is wanted. */
  readonly withUsage: boolean;
}

/** Counts of what was scanned so far. */
export interface ScanCounts {
  /** Calls before any filter. */
  scanned: number;
  /** Calls whose payloads were read. */
  hydrated: number;
}

/** How many payloads are read together for the usage that is in them. */
const payloadsAtOnce = 100;

const bound = (operator: '$gte' | '$lt', time: Micros): Expression => ({
  kind: 'compare',
  operator,
  left: { kind: 'field', path: toPath('started_at') },
  right: { kind: 'literal', value: formatTime(time) },
});

/** Takes a call with its usage, null if it has none. */
export type TakeCall = (header: CallHeader, usage: JsonValue) => void;

/**
 * Scans the calls that start in a span of time, each once. Usage that is too large for a header is
 * read from the payload; a call whose payload is gone is left out then.
 *
 * @param lookups for conditions on feedback
 * @throws ServiceError 503 when storage does not give something in time
 */
export const scanCalls = async (
  store: Store,
  { projectId, filter, where, withUsage }: Scanned,
  [from, to]: Span,
  take: TakeCall,
  counts: ScanCounts,
  budget: RequestBudget,
  lookups?: Lookups,
): Promise<void> => {
  const operands = [bound('$gte', from), bound('$lt', to), ...(where ? [where] : [])];
  const selection = { projectId, filter, where: { kind: 'and', operands } as const };
  const rest = { limit: null, offset: 0, sort: [], includes: noIncludes };
  const query = queryCalls(
    store,
    { ...selection, ...rest, columns: [], expand: [], returnExpanded: false },
    budget,
    lookups,
  );
  const reader = new PayloadReader(store, projectId, budget);
  let apart: CallRow[] = [];
  const readApart = async (): Promise<void> => {
    const calls = await reader.read(apart.map(({ header }) => header));
    const rows = new Map(apart.map((row) => [row.header.id, row]));
    apart = [];
    counts.hydrated += calls.length;
    for (const call of calls) {
      const { start } = call.header;
      const row = rows.get(call.header.id)?.readAs(call);
      // It may have been reported again meanwhile, with another time.
      if (row && start.startedAt >= from && start.startedAt < to) take(call.header, row.usage ?? null);
    }
  };
  for await (const batch of query.found) {
    for (const row of batch) {
      if (withUsage && row.header.end?.usage === true && row.payload === null) apart.push(row);
      else take(row.header, withUsage ? (row.usage ?? null) : null);
      if (apart.length === payloadsAtOnce) await readApart();
    }
  }
  if (apart.length > 0) await readApart();
  counts.scanned += query.counts.scanned;
  counts.hydrated += query.counts.hydrated;
};
