import { type CallsFilter, noIncludes } from '../../../api/queries.ts';
import type { HeaderAttribute } from '../../../api/shared/header-fields.ts';
import { isCostMetric, type StatsRequest } from '../../../api/stats.ts';
import { type Expression, isDuring, valueAt } from '../../../foundations/expression/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseJson,
} from '../../../foundations/wire/index.ts';
import { type CallHeader, PayloadReader } from '../../records/calls/index.ts';
import type { Costs } from '../../records/costs/index.ts';
import { findCalls, type Lookups, type QueriedCall } from '../query/index.ts';
import type { Span } from './hours.ts';

/** Which calls are scanned. */
interface Scanned {
  readonly projectId: ProjectId;
  readonly filter: CallsFilter;
  readonly where: Expression | null;
  /** Whether their usage is wanted. */
  readonly withUsage: boolean;
  /** Whether the models are wanted that failed calls without usage were to use. */
  readonly withFailed: boolean;
  /** The attributes that are wanted. */
  readonly attributes: readonly HeaderAttribute[];
}

/** Counts of what was scanned so far. */
export interface ScanCounts {
  /** Calls before any filter. */
  scanned: number;
  /** Calls whose payloads were read. */
  hydrated: number;
}

/** What a call's usage, whatever it is, cost by model, at the prices in force when it started. */
export type ComputeCosts = (usage: JsonValue, startedAt: Micros) => Costs;

/** Reads the prices of a project; undefined if no metric needs them. */
export const costsFor = async (
  lookups: Lookups,
  projectId: ProjectId,
  usage: StatsRequest['usage'],
  budget: RequestBudget,
): Promise<ComputeCosts | undefined> => {
  if (!usage.some(({ metric }) => isCostMetric(metric))) return undefined;
  const computeCosts = await lookups.costs(projectId, budget);
  return (used, startedAt) => (isJsonObject(used) ? (computeCosts(used, startedAt) as Costs) : {});
};

/** How many payloads are read together for the usage that is in them. */
const payloadsAtOnce = 100;

/**
 * Takes a call with its usage, null if it has none, and the model that its inputs name if it failed
 * without any. The scan waits for a promise that it returns.
 */
type TakeCall = (call: QueriedCall, usage: JsonValue, failed?: string) => unknown;

const failedWithoutUsage = ({ end }: CallHeader): boolean => end?.status === 'error' && end.usage === null;

/** The model that a call's inputs name; undefined if they name none. */
const getModel = ({ payload }: QueriedCall): string | undefined => {
  const model = valueAt(parseJson(payload?.inputs ?? 'null') as JsonValue, ['model']);
  return typeof model === 'string' && model !== '' ? model : undefined;
};

/**
 * Scans the calls that start in a span of time, each once. Usage and attributes that headers do not
 * hold, and the model of a call that failed, are read from the payload. A call whose payload is gone is
 * left out then.
 *
 * @param lookups for conditions on feedback
 */
export const scanCalls = async (
  store: Store,
  { projectId, filter, where, withUsage, withFailed, attributes }: Scanned,
  [from, to]: Span,
  take: TakeCall,
  counts: ScanCounts,
  budget: RequestBudget,
  lookups?: Lookups,
): Promise<void> => {
  const operands = [...isDuring('started_at', from, to), ...(where ? [where] : [])];
  const inSpan: Expression = { kind: 'and', operands };
  const selection = { projectId, filter, where: inSpan, limit: null, includes: noIncludes };
  const payloadColumns = withUsage ? ['summary.usage'] : withFailed ? ['inputs'] : [];
  const query = findCalls(store, selection, budget, lookups, payloadColumns);
  const reader = new PayloadReader(store, projectId, budget);
  let apart: QueriedCall[] = [];
  const takeRow = (row: QueriedCall): unknown => {
    const isFailed = withFailed && failedWithoutUsage(row.header);
    return take(row, withUsage ? (row.usage ?? null) : null, isFailed ? getModel(row) : undefined);
  };
  const isApart = ({ header, payload }: QueriedCall): boolean =>
    payload === null &&
    ((withUsage && header.end?.usage === true) ||
      (withFailed && failedWithoutUsage(header)) ||
      attributes.some((name) => header.start.attributes[name] === true));
  const readApart = async (): Promise<void> => {
    const calls = await reader.read(apart.map(({ header }) => header));
    const rows = new Map(apart.map((row) => [row.header.id, row]));
    apart = [];
    counts.hydrated += calls.length;
    for (const call of calls) {
      const { start } = call.header;
      const row = rows.get(call.header.id)?.readAs(call);
      // It may have been reported again meanwhile, with another time.
      if (row && start.startedAt >= from && start.startedAt < to) await takeRow(row);
    }
  };
  for await (const batch of query.found) {
    for (const row of batch) {
      if (isApart(row)) apart.push(row);
      else {
        const taken = takeRow(row);
        // Most take a call at once: a turn of the event loop's queue for each would be felt.
        if (taken instanceof Promise) await taken;
      }
      if (apart.length === payloadsAtOnce) await readApart();
    }
  }
  if (apart.length > 0) await readApart();
  counts.scanned += query.counts.scanned;
  counts.hydrated += query.counts.hydrated;
};
