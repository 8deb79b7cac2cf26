import type { Bucket, RequestBudget, Store } from '../../foundations/storage/index.ts';
import type { Micros } from '../../foundations/wire/index.ts';
import type { CallHeader } from '../../records/calls/index.ts';
import { feedbackOf } from '../../records/feedback/index.ts';
import {
  bury,
  type CallChange,
  type CallItem,
  type CallItemName,
  callOf,
  type DeadLetterQueue,
  hasEnd,
  hasStart,
  type ItemChange,
  isolateRecords,
  type MeasureSources,
  measure,
  nameText,
  readCallItems,
  type StreamRecord,
  sequenceOf,
  toCallChange,
  toChange,
} from '../streams/index.ts';
import { filesOf, storeFiles } from './files.ts';
import { callRow, dayOf, deletedRow, feedbackRow, type Row, versionOf } from './rows.ts';

/** What the changes of a batch have made of a call. */
export interface CallState {
  readonly projectId: string;
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

/** The changes of one call in a batch, in their order. */
type CallChanges = readonly [CallChange, ...CallChange[]];

const byCall = (changes: readonly CallChange[]): CallChanges[] =>
  [
    ...Map.groupBy(changes, ({ projectId, id }) => `${projectId}\n${id}`).values(),
  ] as unknown as CallChanges[];

/** An item as a batch left it; undefined if the batch does not say. */
const leftBy = (changes: CallChanges, part: CallItem['part']): CallItem | null | undefined => {
  const last = changes.findLast((change) => change.part === part);
  return last && (last.after ?? null);
};

/** The other half that must be read to know a call's state. An end beside the start is in force. */
const missing = (changes: CallChanges): CallItemName[] => {
  const [{ projectId, id }] = changes;
  const [start, end] = [leftBy(changes, 'S'), leftBy(changes, 'E')];
  if (start === undefined) return [{ projectId, id, part: 'S' }];
  if (start === null || !hasStart(start) || hasEnd(start) || end !== undefined) return [];
  return [{ projectId, id, part: 'E' }];
};

const formerDays = (changes: CallChanges): string[] =>
  changes.flatMap(({ before }) => (hasStart(before) ? [dayOf(before.start.startedAt)] : []));

const stateOf = (changes: CallChanges, read: ReadonlyMap<string, CallItem>): CallState | undefined => {
  const [{ projectId, id }] = changes;
  const itemOf = (part: CallItem['part']) => {
    const left = leftBy(changes, part);
    return left === undefined ? read.get(nameText({ projectId, id, part })) : left;
  };
  const [start, end] = [itemOf('S'), itemOf('E')];
  const version = versionOf(changes.at(-1)?.change.sequence ?? '');
  const former = formerDays(changes);
  if (!hasStart(start)) {
    const days = [...new Set(former)];
    return days.length > 0 ? { projectId, id, version, header: null, formerDays: days } : undefined;
  }
  const header = callOf(projectId, start, hasEnd(start) ? start : hasEnd(end) ? end : undefined);
  const day = dayOf(start.start.startedAt);
  return {
    ...{ projectId, id, version, header },
    formerDays: [...new Set(former)].filter((other) => other !== day),
  };
};

/**
 * Finds what the changes of a batch have made of calls: one state for each call. A half that the
 * batch does not have is read as it is now. If it changes later, a later record says so.
 *
 * @param now the present
 * @throws ServiceError 503 when storage does not answer in time
 */
export const callStates = async (
  store: Store,
  changes: readonly CallChange[],
  now: Micros,
  budget: RequestBudget,
): Promise<CallState[]> => {
  const calls = byCall(changes);
  const isSettled = (call: CallChanges) => call.every(({ change }) => change.at < now - settledAfter);
  const read = new Map<string, CallItem>();
  for (const consistent of [false, true]) {
    const some = calls.filter((call) => isSettled(call) !== consistent).flatMap(missing);
    for (const [name, item] of await readCallItems(store, some, budget, { consistent })) read.set(name, item);
  }
  return calls.flatMap((call) => stateOf(call, read) ?? []);
};

/** What rows are made from. */
export interface RowSources extends MeasureSources {
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
    changes.flatMap((change) => toCallChange(calls, change) ?? []),
    writtenAt,
    budget,
  );
  const headers = states.flatMap(({ header }) => (header ? [header] : []));
  const measured = await measure(sources, headers, false, budget);
  return states.flatMap(({ projectId, id, version, header, formerDays }) => {
    const state = { version, writtenAt };
    const gone = formerDays.map((day) => deletedRow('calls', { projectId, id, ...state }, day));
    const measures = header && measured.get(header);
    return measures ? [...gone, callRow(calls.names, header, measures, state)] : gone;
  });
};

/** The row of the last change of a record; none if it is of nothing that ever was a row. */
const feedbackRowOf = async (
  { feedback }: RowSources,
  changes: readonly ItemChange[],
  writtenAt: Micros,
): Promise<Row[]> => {
  const last = changes.at(-1);
  if (!last) return [];
  const { projectId, sequence, after } = last;
  const state = { version: versionOf(sequence), writtenAt };
  const record = after && (await feedbackOf(feedback, projectId, after));
  if (record) return [feedbackRow(feedback.names, record, state)];
  const before = await Promise.all(
    changes.map((change) => change.before && feedbackOf(feedback, projectId, change.before)),
  );
  const former = before.find((found) => found !== undefined);
  if (!former) return [];
  const { id, createdAt } = former.header;
  return [deletedRow('feedback', { projectId, id, ...state }, dayOf(createdAt))];
};

const feedbackRows = async (
  sources: RowSources,
  changes: readonly ItemChange[],
  writtenAt: Micros,
): Promise<Row[]> => {
  const byRecord = Map.groupBy(changes, ({ projectId, key }) => `${projectId} ${JSON.stringify(key)}`);
  const rows = await Promise.all(
    [...byRecord.values()].map((ofRecord) => feedbackRowOf(sources, ofRecord, writtenAt)),
  );
  return rows.flat();
};

/**
 * Makes the rows of records: one for each call and each record of feedback, as the last record of
 * it left it.
 *
 * @param writtenAt now
 * @throws ServiceError 503 when storage does not answer in time; Error if a record cannot be read
 */
export const makeRows = async (
  sources: RowSources,
  records: readonly StreamRecord[],
  writtenAt: Micros,
  budget: RequestBudget,
): Promise<Row[]> => {
  const changes = records.map(toChange);
  const of = ({ table }: Store) => changes.filter((change) => change.table === table.name);
  return [
    ...(await callRows(sources, of(sources.calls), writtenAt, budget)),
    ...(await feedbackRows(sources, of(sources.feedback), writtenAt)),
  ];
};

/** What rows are made from, and where files of them go. */
export interface RowWriter extends RowSources {
  readonly bucket: Bucket;
  readonly deadLetters: DeadLetterQueue;
}

/** Names the files of a batch by its first record, which no other batch begins with. */
const nameOf = ([first]: readonly StreamRecord[]): string =>
  `${versionOf(first ? sequenceOf(first) : '')}-${(first?.eventID ?? '').slice(0, 8)}`;

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
  await storeFiles(writer.bucket, filesOf(rows, nameOf(records)), budget);
  await bury(writer.deadLetters, letters, budget);
  return rows.length;
};
