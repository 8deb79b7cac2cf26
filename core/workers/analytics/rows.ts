import { readTokens } from '../../../api/shared/usage.ts';
import type { Bucket, RequestBudget, Store } from '../../../foundations/storage/index.ts';
import {
  ExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseJson,
  parseRef,
} from '../../../foundations/wire/index.ts';
import {
  type CallHeader,
  getStatus,
  latencyMs,
  serviceSummary,
  shortAttribute,
  shortAttributes,
  storageSize,
} from '../../records/calls/index.ts';
import { type Costs, sumCost, totalCost } from '../../records/costs/index.ts';
import { type FeedbackRecord, toFeedback } from '../../records/feedback/index.ts';
import {
  type CallChange,
  type CallItem,
  type CallItemName,
  type DeadLetterQueue,
  getSequence,
  hasEnd,
  hasStart,
  type ItemChange,
  isolateRecords,
  type MeasureSources,
  measure,
  nameText,
  readCallItems,
  type StreamRecord,
  sendDeadLetters,
  toCall,
  toCallChange,
  toChange,
} from '../streams.ts';
import type { Dataset, Row, UsageCell } from './columns.ts';
import { storeRows } from './files.ts';

/** What identifies a state. */
interface State {
  readonly projectId: string;
  readonly id: string;
  readonly version: string;
  readonly writtenAt: Micros;
}

/** The digits of the longest number of a record. */
const versionLength = 40;

/** A record's number as text that orders as the numbers do. */
const toVersion = (sequence: string): string => sequence.padStart(versionLength, '0');

/** The UTC day of a time. */
const toDay = (time: Micros): string => new Date(Math.floor(time / 1000)).toISOString().slice(0, 10);

const commonCells = ({ projectId, id, version, writtenAt }: State, deleted: boolean) => ({
  project_id: projectId,
  id,
  version,
  written_at: writtenAt,
  deleted,
});

/** The row that takes all rows of an id on a day out of the view. */
const deletedRow = (dataset: Dataset, state: State, day: string): Row => ({
  dataset,
  day,
  cells: commonCells(state, true),
});

const usageCells = (usage: JsonValue): Record<string, UsageCell> => {
  if (!isJsonObject(usage)) return {};
  const cells = Object.entries(usage).flatMap(([model, used]) => {
    if (!isJsonObject(used)) return [];
    const { prompt, completion, total, requests, cacheRead, cacheWrite } = readTokens(used);
    const cell = {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: total,
      requests,
      cache_read_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
    };
    return [[model, cell] as const];
  });
  return Object.fromEntries(cells);
};

const costCells = (costs: Costs): Record<string, number> =>
  Object.fromEntries(Object.entries(costs).map(([model, cost]) => [model, sumCost(cost)]));

/** What a row of a call has beside its header. */
interface CallMeasures {
  readonly usage: JsonValue;
  readonly costs: Costs;
}

const callRow = (
  header: CallHeader,
  { usage, costs }: CallMeasures,
  state: Omit<State, 'projectId' | 'id'>,
): Row => {
  const { projectId, id, start, end } = header;
  return {
    dataset: 'calls',
    day: toDay(start.startedAt),
    cells: {
      ...commonCells({ projectId, id, ...state }, false),
      trace_id: start.traceId,
      parent_id: start.parentId,
      thread_id: start.threadId,
      turn_id: start.turnId,
      op_name: start.opName,
      trace_name: String(serviceSummary(header).trace_name),
      started_at: start.startedAt,
      ended_at: end?.endedAt ?? null,
      latency_ms: latencyMs(header),
      status: getStatus(header),
      user_id: start.userId,
      run_id: start.runId,
      run_step: start.runStep,
      run_step_end: end?.runStepEnd ?? null,
      usage: usageCells(usage),
      costs: costCells(costs),
      total_cost: totalCost(costs),
      storage_size_bytes: storageSize(header),
      end_user_id: shortAttribute(start, 'user.id'),
      ...shortAttributes(start),
      waited_ms: typeof end?.waited === 'number' ? end.waited : null,
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
const feedbackRow = ({ header, payload }: FeedbackRecord, state: Omit<State, 'projectId' | 'id'>): Row => {
  const ref = parseRef(header.ref);
  const scores = payload === null ? {} : scoresIn(parseJson(payload) as JsonObject);
  return {
    dataset: 'feedback',
    day: toDay(header.createdAt),
    cells: {
      ...commonCells({ projectId: header.projectId, id: header.id, ...state }, false),
      ref: header.ref,
      call_id: ref?.kind === 'call' ? ref.callId : null,
      feedback_type: header.type,
      creator: header.creator,
      created_at: header.createdAt,
      user_id: header.userId,
      score: scores.score ?? scores.value ?? null,
      scores,
      payload: payload !== null && payload.length <= maxPayload ? payload : null,
    },
  };
};

/** The state of a call after the changes of a batch. */
interface CallState {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly version: string;
  /** Null if it was deleted. */
  readonly header: CallHeader | null;
  /** Days that it was filed under before, and is not any more. */
  readonly formerDays: readonly string[];
}

/**
 * How old a change must be for a read at half the price, in microseconds. DynamoDB's copies are the
 * same within a second.
 */
const settledAfter = 60_000_000;

/** A call with its changes in a batch, in their order. */
interface ChangedCall {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly changes: readonly CallChange[];
}

const byCall = (changes: readonly CallChange[]): ChangedCall[] =>
  [...Map.groupBy(changes, ({ projectId, id }) => `${projectId}\n${id}`).values()].flatMap((some) =>
    some.slice(0, 1).map(({ projectId, id }) => ({ projectId, id, changes: some })),
  );

/** An item as a batch left it; undefined if the batch has no change of it. */
const leftBy = ({ changes }: ChangedCall, part: CallItem['part']): CallItem | null | undefined => {
  const last = changes.findLast((change) => change.part === part);
  return last && (last.after ?? null);
};

/** The other half that must be read to know a call's state. An end beside the start is in force. */
const missing = (call: ChangedCall): CallItemName[] => {
  const { projectId, id } = call;
  const start = leftBy(call, 'S');
  const end = leftBy(call, 'E');
  if (start === undefined) return [{ projectId, id, part: 'S' }];
  if (start === null || !hasStart(start) || hasEnd(start) || end !== undefined) return [];
  return [{ projectId, id, part: 'E' }];
};

const foldState = (call: ChangedCall, read: ReadonlyMap<string, CallItem>): CallState | undefined => {
  const { projectId, id, changes } = call;
  const getItem = (part: CallItem['part']) => {
    const left = leftBy(call, part);
    return left === undefined ? read.get(nameText({ projectId, id, part })) : left;
  };
  const start = getItem('S');
  const end = getItem('E');
  const version = toVersion(changes.at(-1)?.change.sequence ?? '');
  const header = hasStart(start)
    ? toCall(projectId, start, hasEnd(start) ? start : hasEnd(end) ? end : undefined)
    : null;
  const days = changes.flatMap(({ before }) => (hasStart(before) ? [toDay(before.start.startedAt)] : []));
  const formerDays = [...new Set(days)].filter((day) => !header || day !== toDay(header.start.startedAt));
  return header || formerDays.length > 0 ? { projectId, id, version, header, formerDays } : undefined;
};

/**
 * Finds the states of calls after the changes of a batch, one for each call. A half that the batch
 * does not have is read as it is now. If it changes later, a later record says so.
 *
 * @param now the present
 */
const callStates = async (
  store: Store,
  changes: readonly CallChange[],
  now: Micros,
  budget: RequestBudget,
): Promise<CallState[]> => {
  const calls = byCall(changes);
  const isSettled = (call: ChangedCall) => call.changes.every(({ change }) => change.at < now - settledAfter);
  const read = new Map<string, CallItem>();
  for (const consistent of [false, true]) {
    const some = calls.filter((call) => isSettled(call) !== consistent).flatMap(missing);
    for (const [name, item] of await readCallItems(store, some, budget, { consistent })) read.set(name, item);
  }
  return calls.flatMap((call) => foldState(call, read) ?? []);
};

/** What rows are made from. */
interface RowSources extends MeasureSources {
  readonly feedback: Store;
}

const callRows = async (
  sources: RowSources,
  changes: readonly ItemChange[],
  writtenAt: Micros,
  budget: RequestBudget,
): Promise<Row[]> => {
  const { calls } = sources;
  const states = await callStates(
    calls,
    changes.flatMap((change) => toCallChange(change) ?? []),
    writtenAt,
    budget,
  );
  const headers = states.flatMap(({ header }) => (header ? [header] : []));
  const measured = await measure(sources, headers, false, budget);
  return states.flatMap(({ projectId, id, version, header, formerDays }) => {
    const state = { version, writtenAt };
    const former = formerDays.map((day) => deletedRow('calls', { projectId, id, ...state }, day));
    const measures = header && measured.get(header);
    return measures ? [...former, callRow(header, measures, state)] : former;
  });
};

/** The row of the last of a record's changes; none if nothing of it ever was a row. */
const toFeedbackRow = async (changes: readonly ItemChange[], writtenAt: Micros): Promise<Row[]> => {
  const last = changes.at(-1);
  if (!last) return [];
  const { projectId, sequence, after } = last;
  const state = { version: toVersion(sequence), writtenAt };
  const record = after && (await toFeedback(projectId, after));
  if (record) return [feedbackRow(record, state)];
  for (const { before } of changes) {
    const former = before && (await toFeedback(projectId, before));
    if (!former) continue;
    const { id, createdAt } = former.header;
    return [deletedRow('feedback', { projectId, id, ...state }, toDay(createdAt))];
  }
  return [];
};

/**
 * Makes the rows of records: one for each call and each record of feedback, as the last record of
 * it left it.
 *
 * @param writtenAt now
 * @throws Error if a record cannot be read
 */
const makeRows = async (
  sources: RowSources,
  records: readonly StreamRecord[],
  writtenAt: Micros,
  budget: RequestBudget,
): Promise<Row[]> => {
  const changes = records.map(toChange);
  const changesIn = ({ table }: Store) => changes.filter((change) => change.table === table.name);
  const rows = await callRows(sources, changesIn(sources.calls), writtenAt, budget);
  const feedback = Map.groupBy(
    changesIn(sources.feedback),
    ({ projectId, key }) => `${projectId} ${JSON.stringify(key)}`,
  );
  for (const ofRecord of feedback.values()) rows.push(...(await toFeedbackRow(ofRecord, writtenAt)));
  return rows;
};

/** What rows are made from, and where files of them go. */
export interface RowWriter extends RowSources {
  readonly bucket: Bucket;
  readonly deadLetters: DeadLetterQueue;
}

/** Names the files of a batch by its first record, which no other batch begins with. */
const fileName = ([first]: readonly StreamRecord[]): string =>
  `${toVersion(first ? getSequence(first) : '')}-${(first?.eventID ?? '').slice(0, 8)}`;

/**
 * Writes the rows of a batch of records as files. A record that cannot be read goes to the queue of
 * dead letters.
 *
 * @returns the number of rows
 * @throws ServiceError 503 when a store does not answer in time: the batch may come again as it is
 */
export const writeRows = async (
  writer: RowWriter,
  records: readonly StreamRecord[],
  budget: RequestBudget,
): Promise<number> => {
  const writtenAt = Date.now() * 1000;
  const { results: rows, letters } = await isolateRecords(records, (some) =>
    makeRows(writer, some, writtenAt, budget),
  );
  await storeRows(writer.bucket, rows, fileName(records), budget);
  await sendDeadLetters(writer.deadLetters, letters, budget);
  return rows.length;
};
