import type { Bucket, RequestBudget } from '../../foundations/storage/index.ts';
import {
  bury,
  type DeadLetterQueue,
  isolateRecords,
  type StreamRecord,
  sequenceOf,
} from '../streams/index.ts';
import { filesOf, storeFiles } from './files.ts';
import { makeRows, type RowSources } from './make-rows.ts';
import { versionOf } from './rows.ts';

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
