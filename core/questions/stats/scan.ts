import { type CallsFilter, noIncludes } from '../../../api/queries.ts';
import type { HeaderAttribute } from '../../../api/shared/header-fields.ts';
import { isCostMetric, type StatsRequest } from '../../../api/stats.ts';
import { type Expression, type FieldPath, isDuring, valueAt } from '../../../foundations/expression/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseJson,
} from '../../../foundations/wire/index.ts';
import { type CallHeader, getStatus, PayloadReader } from '../../records/calls/index.ts';
import type { Costs } from '../../records/costs/index.ts';
import { findCalls, findRequirements, type Lookups, type QueriedCall } from '../query/index.ts';
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
  /** The paths that are wanted, as far as headers do not tell them. @default - none */
  readonly paths?: readonly FieldPath[];
  /** Takes the calls that are read before any filter. @default - nobody does */
  readonly meet?: ((calls: readonly CallHeader[]) => void) | undefined;
  /** Whether the feedback on them is wanted. @default false */
  readonly withFeedback?: boolean;
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

/** Whether a path leads to what headers do not have, but payloads. */
export const isInPayload = (path: FieldPath): boolean =>
  findRequirements([], noIncludes, path).includes('payload');

/** Whether a path leads into usage, which some headers are too small for. */
const isUsage = ({ field, steps }: FieldPath): boolean => field === 'summary' && steps[0] === 'usage';

/** Whether the payload of a call may have what a path in payloads leads to and its header does not tell. */
const isThere = (header: CallHeader, path: FieldPath): boolean => {
  if (path.field === 'exception') return getStatus(header) === 'error';
  if (isUsage(path)) return header.end?.usage === true;
  return true;
};

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
  {
    projectId,
    filter,
    where,
    withUsage,
    withFailed,
    attributes,
    paths = [],
    meet,
    withFeedback = false,
  }: Scanned,
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
  const inPayloads = paths.filter((path) => isInPayload(path) || isUsage(path));
  const columns = [...payloadColumns, ...inPayloads.map(({ text }) => text)];
  const query = findCalls(store, selection, budget, lookups, columns, meet);
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
      attributes.some((name) => header.start.attributes[name] === true) ||
      inPayloads.some((path) => isThere(header, path)));
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
  for await (const found of query.found) {
    const batch = withFeedback ? await query.withFeedback(found) : found;
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
