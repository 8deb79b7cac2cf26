import {
  ExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  parseJson,
  parseRef,
  type WireNames,
} from '../../foundations/wire/index.ts';
import {
  type CallHeader,
  latencyMs,
  serviceSummary,
  statusOf,
  storageSize,
} from '../../records/calls/index.ts';
import { type Costs, tokensOf } from '../../records/costs/index.ts';
import type { FeedbackRecord } from '../../records/feedback/index.ts';
import type { Dataset } from './columns.ts';

/** The counts of one model, by the names of their fields. */
type UsageCell = Readonly<Record<string, number>>;

/** A value of a cell. Times are microseconds. */
export type Cell =
  | string
  | number
  | boolean
  | null
  | Readonly<Record<string, number>>
  | Readonly<Record<string, UsageCell>>;

/** A row: cells by the names of their columns. Missing cells are null. */
export interface Row {
  readonly dataset: Dataset;
  /** The day in UTC that the row is filed under: `2026-11-22`. */
  readonly day: string;
  readonly cells: Readonly<Record<string, Cell>>;
}

/** What identifies a state. */
export interface State {
  readonly projectId: string;
  readonly id: string;
  readonly version: string;
  readonly writtenAt: Micros;
}

/** The digits of the longest number of a record. */
const versionLength = 40;

/** A record's number as text that orders as the numbers do. */
export const versionOf = (sequence: string): string => sequence.padStart(versionLength, '0');

/** The UTC day of a time. */
export const dayOf = (time: Micros): string => new Date(Math.floor(time / 1000)).toISOString().slice(0, 10);

const commonCells = ({ projectId, id, version, writtenAt }: State, deleted: boolean) => ({
  ...{ project_id: projectId, id, version, written_at: writtenAt, deleted },
});

/** The row that takes all rows of an id on a day out of the view. */
export const deletedRow = (dataset: Dataset, state: State, day: string): Row => ({
  dataset,
  day,
  cells: commonCells(state, true),
});

const usageCells = (usage: JsonValue): Record<string, UsageCell> => {
  if (!isJsonObject(usage)) return {};
  const cells = Object.entries(usage).flatMap(([model, used]) => {
    if (!isJsonObject(used)) return [];
    const { prompt, completion, total, requests, cacheRead, cacheWrite } = tokensOf(used);
    const cell = {
      ...{ prompt_tokens: prompt, completion_tokens: completion, total_tokens: total, requests },
      ...{ cache_read_tokens: cacheRead, cache_write_tokens: cacheWrite },
    };
    return [[model, cell] as const];
  });
  return Object.fromEntries(cells);
};

const costCells = (costs: Costs): Record<string, number> =>
  Object.fromEntries(
    Object.entries(costs).map(([model, cost]) => [
      model,
      cost.prompt_tokens_total_cost + cost.completion_tokens_total_cost,
    ]),
  );

/** What a row of a call has beside its header. */
export interface CallMeasures {
  readonly usage: JsonValue;
  readonly costs: Costs;
}

/** The row of a call. */
export const callRow = (
  names: WireNames,
  header: CallHeader,
  { usage, costs }: CallMeasures,
  state: Omit<State, 'projectId' | 'id'>,
): Row => {
  const { projectId, id, start, end } = header;
  const byModel = costCells(costs);
  return {
    dataset: 'calls',
    day: dayOf(start.startedAt),
    cells: {
      ...commonCells({ projectId, id, ...state }, false),
      ...{ trace_id: start.traceId, parent_id: start.parentId },
      ...{ thread_id: start.threadId, turn_id: start.turnId, op_name: start.opName },
      trace_name: String(serviceSummary(names, header).trace_name),
      ...{ started_at: start.startedAt, ended_at: end?.endedAt ?? null, latency_ms: latencyMs(header) },
      ...{ status: statusOf(header), user_id: start.userId, run_id: start.runId },
      ...{ run_step: start.runStep, run_step_end: end?.runStepEnd ?? null },
      ...{ usage: usageCells(usage), costs: byModel },
      total_cost: Object.values(byModel).reduce((sum, cost) => sum + cost, 0),
      storage_size_bytes: storageSize(header),
    },
  };
};

/** The longest payload that a row has, in characters. */
const maxPayload = 16 * 1024;

const numberIn = (value: JsonValue | undefined): number | undefined => {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' || value instanceof ExactNumber ? Number(value) : undefined;
};

const scoresIn = (payload: JsonObject): Record<string, number> =>
  Object.fromEntries(
    Object.entries(payload).flatMap(([name, value]) => {
      const number = numberIn(value);
      return number === undefined ? [] : [[name, number] as const];
    }),
  );

/** The row of a record of feedback. */
export const feedbackRow = (
  names: WireNames,
  { header, payload }: FeedbackRecord,
  state: Omit<State, 'projectId' | 'id'>,
): Row => {
  const ref = parseRef(names, header.ref);
  const scores = payload === null ? {} : scoresIn(parseJson(payload) as JsonObject);
  return {
    dataset: 'feedback',
    day: dayOf(header.createdAt),
    cells: {
      ...commonCells({ projectId: header.projectId, id: header.id, ...state }, false),
      ...{ ref: header.ref, call_id: ref?.kind === 'call' ? ref.callId : null, feedback_type: header.type },
      ...{ creator: header.creator, created_at: header.createdAt, user_id: header.userId },
      ...{ score: scores.score ?? scores.value ?? null, scores },
      payload: payload !== null && payload.length <= maxPayload ? payload : null,
    },
  };
};
