import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import type { Micros } from '../../foundations/wire/index.ts';
import { feedbackOf } from '../../records/feedback/index.ts';
import {
  type ItemChange,
  type MeasureSources,
  measure,
  type StreamRecord,
  toCallChange,
  toChange,
} from '../streams/index.ts';
import { callStates } from './call-states.ts';
import { callRow, dayOf, deletedRow, feedbackRow, type Row, versionOf } from './rows.ts';

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
