import {
  compareBy,
  compile,
  type Expression,
  microsOf,
  type Sortable,
  sortable,
} from '../expression/index.ts';
import { cut, sortedPart } from '../query/index.ts';
import type { RequestBudget, Store } from '../storage/index.ts';
import { invalid } from '../wire/index.ts';
import { encoder, FeedbackReader, feedbackKind } from './answer.ts';
import { comparePlaces, type FeedbackRecord } from './model.ts';
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
  readonly records: AsyncGenerator<string[]>;
}

/**
 * Answers a query over a project's feedback, reading no more of storage than the answer is taken.
 * Ending the iteration ends the scan.
 *
 * @throws ServiceError 503, while the records are iterated, when storage does not give something in
 * time; 422 when they are too many to be sorted
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
  const matching = async function* () {
    for await (const batch of found) yield batch.filter((record) => onHeader(record) && onPayload(record));
  };
  const encode = encoder(store.names, reader, query.fields);
  const records = async function* () {
    for await (const batch of inOrder(planned.plan, query, reader, matching())) {
      counts.sent += batch.length;
      yield batch.map(encode);
    }
  };
  return { plan: planned.plan, counts, records: records() };
};

/** The records of the answer, in its order. */
async function* inOrder(
  { order }: Plan,
  query: FeedbackQuery,
  reader: FeedbackReader,
  records: AsyncIterable<FeedbackRecord[]>,
): AsyncGenerator<FeedbackRecord[]> {
  if (order === 'free') yield* cut(query.offset, query.limit, records);
  else yield await sortRecords(query, reader, records);
}

/**
 * What a kept record takes of memory beside the texts that it is sorted by and its payload, about,
 * in bytes.
 */
const keptBytes = 2048;

interface Keyed {
  readonly key: readonly Sortable[];
  readonly record: FeedbackRecord;
}

const sizeOf = ({ key, record }: Keyed): number =>
  key.reduce(
    (sum, value) => sum + (typeof value?.[1] === 'string' ? 2 * value[1].length : 0),
    keptBytes + 2 * (record.payload?.length ?? 0),
  );

const tooMany = invalid({
  loc: ['body', 'sort_by'],
  msg: 'there are more records than can be sorted at once; ask for fewer with limit or query, or sort by created_at',
  type: 'too_long',
});

const sortRecords = async (
  { sort, offset, limit }: FeedbackQuery,
  reader: FeedbackReader,
  records: AsyncIterable<FeedbackRecord[]>,
): Promise<FeedbackRecord[]> => {
  const keyed = async function* (): AsyncGenerator<Keyed[]> {
    for await (const batch of records) {
      yield batch.map((record) => ({
        key: sort.map(({ path }) => {
          const value = reader.value(record, path);
          return sortable(path.text === 'created_at' ? microsOf(value) : value);
        }),
        // A copy: the reader holds on to what it has parsed of the original for as long as that is
        // held.
        record: { ...record },
      }));
    }
  };
  const byKey = compareBy(sort);
  const byPlace = comparePlaces(false);
  const compare = (a: Keyed, b: Keyed): number =>
    byKey(a.key, b.key) || byPlace(a.record.header, b.record.header);
  const kept = await sortedPart({ compare, sizeOf, tooMany }, { offset, limit }, keyed());
  return kept.map(({ record }) => record);
};
