import {
  compile,
  type Expression,
  microsOf,
  type SortKey,
  sortable,
} from '../../foundations/expression/index.ts';
import {
  encodeBatches,
  inPlannedOrder,
  type Keyed,
  keyBytes,
  mapBatches,
  type Slice,
  sortedByKeys,
} from '../../foundations/listing/index.ts';
import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { invalid } from '../../foundations/wire/index.ts';
import { encoder, FeedbackReader, feedbackKind } from './answer.ts';
import { comparePositions, type FeedbackRecord } from './model.ts';
import { type FeedbackQuery, type Plan, plan } from './plan.ts';
import { recordsOf } from './records.ts';

/** A query under way: its plan, the counts as they grow, and the answer, to be taken once. */
export interface FeedbackQueryAnswer {
  readonly plan: Plan;
  readonly counts: {
    /** Index rows or items met before any filter. */
    scanned: number;
    /** Records answered. */
    sent: number;
  };
  /** The records as JSON text, one each, in batches that come as soon as they are known. */
  readonly records: AsyncGenerator<readonly string[]>;
}

/**
 * Answers a query over a project's feedback, and reads no more of storage than is taken of the
 * answer. Ending the iteration ends the scan.
 *
 * @throws ServiceError 503, while the records are iterated, when storage does not give something in
 * time; 422 when there are too many records to sort
 */
export const queryFeedback = (
  store: Store,
  query: FeedbackQuery,
  budget: RequestBudget,
): FeedbackQueryAnswer => {
  const planned = plan(store.names, query);
  const reader = new FeedbackReader(store.names);
  const tests = (expressions: readonly Expression[]) => {
    const compiled = expressions.map((expression) =>
      compile<FeedbackRecord>(
        feedbackKind(store.names),
        expression,
        (path) => (record) => reader.value(record, path),
      ),
    );
    return (record: FeedbackRecord): boolean => compiled.every((test) => test(record));
  };
  const onHeader = tests(planned.onHeaders);
  const onPayload = tests(planned.onPayloads);
  const counts = { scanned: 0, sent: 0 };
  const isWanted = (record: FeedbackRecord) => planned.plan.payloads && onHeader(record);
  const found = recordsOf(store, query.projectId, planned.plan, isWanted, budget, (entries) => {
    counts.scanned += entries;
  });
  const matching = mapBatches(found, (batch) =>
    batch.filter((record) => onHeader(record) && onPayload(record)),
  );
  const answered = inPlannedOrder(planned.plan, matching, () =>
    sortRecords(query.sort, planned.plan, reader, matching),
  );
  const encode = encoder(store.names, reader, query.fields);
  return { plan: planned.plan, counts, records: encodeBatches(answered, counts, encode) };
};

/**
 * Bytes in memory of a held record beside its payload and the texts that it is sorted by, about.
 */
const headerBytes = 2048;

const sizeOf = ({ key, kept: { payload } }: Keyed<FeedbackRecord>): number =>
  headerBytes + keyBytes(key) + 2 * (payload?.length ?? 0);

const tooMany = invalid({
  loc: ['body', 'sort_by'],
  msg: 'too many records to sort at once; ask for fewer with limit or query, or sort by created_at',
  type: 'too_long',
});

const sortRecords = (
  sort: readonly SortKey[],
  slice: Slice,
  reader: FeedbackReader,
  records: AsyncIterable<readonly FeedbackRecord[]>,
): Promise<FeedbackRecord[]> => {
  const keyOf = (record: FeedbackRecord) =>
    sort.map(({ path }) => {
      const value = reader.value(record, path);
      return sortable(path.text === 'created_at' ? microsOf(value) : value);
    });
  // A copy: the reader holds what it has parsed of the original for as long as that is held.
  const keep = (record: FeedbackRecord): FeedbackRecord => ({ ...record });
  const byPosition = comparePositions(false);
  const ties = (a: FeedbackRecord, b: FeedbackRecord): number => byPosition(a.header, b.header);
  return sortedByKeys({ sort, keyOf, keep, ties, sizeOf, tooMany }, slice, records);
};

/**
 * Counts the records that a query would answer without its slice, as Weave's dialect asks. They are
 * counted again only if the slice may have left some out.
 *
 * @param sent how many the query answered
 * @throws ServiceError 503 when storage does not give something in time
 */
export const countFeedback = async (
  store: Store,
  query: FeedbackQuery,
  sent: number,
  budget: RequestBudget,
): Promise<number> => {
  const { offset, limit } = query;
  const isAll = (sent > 0 || offset === 0) && (limit === null || sent < limit);
  if (isAll) return offset + sent;
  const every = { ...query, fields: ['id'], sort: [], offset: 0, limit: null };
  let count = 0;
  for await (const batch of queryFeedback(store, every, budget).records) count += batch.length;
  return count;
};
