import { type FeedbackQuery, feedbackKind } from '../../../api/feedback.ts';
import { type FieldNames, ownNames } from '../../../foundations/door.ts';
import {
  type Bounds,
  compile,
  conjuncts,
  describe,
  type Expression,
  pathsIn,
  pushDown,
  type SortKey,
  sortable,
  toMicros,
  toPath,
} from '../../../foundations/expression/index.ts';
import {
  distinctUpTo,
  encodeBatches,
  evenShare,
  inPlannedOrder,
  isEmptySpan,
  isOrderOfSource,
  type Keyed,
  keyBytes,
  mapBatches,
  type Paging,
  readsAhead,
  type Slice,
  scan,
  sortedByKeys,
  sortTies,
  type TimePlan,
} from '../../../foundations/listing/index.ts';
import {
  asBytes,
  everyShard,
  getItems,
  type Item,
  itemBytes,
  itemFromWire,
  type KeyRange,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import { invalid, isId, type ProjectId } from '../../../foundations/wire/index.ts';
import { encoder, FeedbackReader, isInPayload } from './answer.ts';
import {
  attributesButPayload,
  readWhole,
  recordKey,
  refRange,
  timeRange,
  toEntry,
  typeRange,
  withPayloads,
} from './items.ts';
import { comparePositions, type Entry, type FeedbackRecord, getPosition } from './model.ts';
import { type Find, resolve } from './resolve.ts';

/** Where a query looks for records. */
export type Source =
  /** Nowhere: a list is empty, the bounds leave no time, or the limit is 0. */
  | { readonly kind: 'nothing' }
  /** By their ids, in the table itself. */
  | { readonly kind: 'ids'; readonly values: readonly string[] }
  /** In `by_ref`. */
  | { readonly kind: 'refs'; readonly values: readonly string[] }
  /** In `by_type`. */
  | { readonly kind: 'types'; readonly values: readonly string[] }
  /** In `by_time`, the whole project. */
  | { readonly kind: 'project' };

/** How a query is going to be answered: plain data, logged with the request. */
export interface Plan extends TimePlan {
  readonly source: Source;
  /** Expressions, without their literals, that are decided without the payload. */
  readonly onHeaders: readonly string[];
  /** Those that need it. */
  readonly onPayloads: readonly string[];
  /** Whether payloads are read at all. */
  readonly payloads: boolean;
}

/** A plan, and the expressions that it decides at each stage. */
interface Planned {
  readonly plan: Plan;
  readonly onHeaders: readonly Expression[];
  readonly onPayloads: readonly Expression[];
}

/**
 * The most values that are looked up one by one. With more, the whole project is read, and the
 * values are a filter like any other.
 */
const maxValues = { ids: 1000, refs: 200, types: 20 } as const;

const chooseSource = (
  limit: number | null,
  ids: ReadonlyMap<string, readonly string[]>,
  bounds: Bounds,
  refField: string,
): Source => {
  if (limit === 0 || isEmptySpan(bounds)) return { kind: 'nothing' };
  const candidates = [
    // No record has what cannot be an id.
    { kind: 'ids', values: distinctUpTo(ids.get('id')?.filter(isId), maxValues.ids) },
    { kind: 'refs', values: distinctUpTo(ids.get(refField), maxValues.refs) },
    { kind: 'types', values: distinctUpTo(ids.get('feedback_type'), maxValues.types) },
  ] as const;
  if (candidates.some(({ values }) => values?.length === 0)) return { kind: 'nothing' };
  for (const { kind, values } of candidates) if (values) return { kind, values };
  return { kind: 'project' };
};

/** Plans a query. Pure: what has to be fetched is known before anything is read. */
export const plan = ({ where, sort, fields, limit, offset }: FeedbackQuery): Planned => {
  const expressions = where === null ? [] : conjuncts(where);
  const lookup = { fields: ['id', 'svc_ref', 'feedback_type'], time: 'created_at' };
  const { ids, bounds, inBounds } = pushDown(feedbackKind(), lookup, expressions);
  const onPayloads = expressions.filter((expression) => pathsIn(expression).some(isInPayload));
  const onHeaders = expressions.filter((expression) => !onPayloads.includes(expression));
  const source = chooseSource(limit, ids, bounds, 'svc_ref');
  const order = isOrderOfSource(sort, 'created_at') ? 'free' : 'sort';
  const dropsNone = source.kind === 'project' && expressions.every((expression) => inBounds.has(expression));
  return {
    plan: {
      source,
      bounds,
      descending: order === 'free' && sort[0]?.descending === true,
      order,
      onHeaders: onHeaders.map(describe),
      onPayloads: onPayloads.map(describe),
      payloads:
        onPayloads.length > 0 ||
        sort.some(({ path }) => isInPayload(path)) ||
        (fields ?? ['payload']).map(toPath).some(isInPayload),
      offset,
      limit,
      enough: dropsNone && order === 'free' && limit !== null ? offset + limit : null,
    },
    onHeaders,
    onPayloads,
  };
};

/** A plan as it is logged: what is looked up is counted, not listed. */
export const planSummary = ({ source, ...rest }: Plan): Readonly<Record<string, unknown>> => ({
  source: 'values' in source ? `${source.values.length} ${source.kind}` : source.kind,
  ...rest,
});

/** Where entries are looked for, in which order, and how many are wanted. */
export interface Search
  extends Pick<Plan, 'source' | 'bounds' | 'descending' | 'order' | 'enough' | 'limit'>,
    Pick<Paging, 'growth'> {}

const toRanges = (
  store: Store,
  projectId: ProjectId,
  { source, bounds }: Pick<Search, 'source' | 'bounds'>,
): KeyRange[] => {
  switch (source.kind) {
    case 'nothing':
    case 'ids':
      return [];
    case 'refs':
      return source.values.map((ref) => refRange(projectId, ref, bounds));
    case 'types':
      return source.values.flatMap((type) =>
        everyShard(store).map((shard) => typeRange(projectId, shard, type, bounds)),
      );
    case 'project':
      return everyShard(store).map((shard) => timeRange(projectId, shard, bounds));
  }
};

/** Rows to ask each range for while it is not known how many records are enough. */
const unknownRows = 128;
/** Some rows are of records that were replaced. */
const rowsPerRecord = 1.2;

const none = new Uint8Array();

const compareTimes = (a: Item, b: Item): number => Buffer.compare(asBytes(a.t) ?? none, asBytes(b.t) ?? none);

/** What a search took so far. */
interface RowCounts {
  /** Index rows or items that were read. */
  scanned: number;
  /** Bytes of the index rows. */
  bytes: number;
}

/**
 * Everything that a search finds, in order of creation (or its reverse), without payloads that are
 * stored apart.
 */
async function* findEntries(
  store: Store,
  projectId: ProjectId,
  search: Search,
  counts: RowCounts,
  budget: RequestBudget,
): AsyncGenerator<readonly Entry[]> {
  const toEntries = async (items: readonly Item[]): Promise<Entry[]> => {
    const entries = await Promise.all(items.map((item) => toEntry(projectId, item)));
    return entries.filter((entry) => entry !== undefined);
  };
  const { source, descending, enough, growth } = search;
  if (source.kind === 'ids') {
    const keys = source.values.map((id) => recordKey(projectId, id));
    const options = { consistent: true, attributes: attributesButPayload };
    const entries = await toEntries(await getItems(store.table, keys, budget, options));
    const compare = comparePositions(descending);
    yield entries.sort((a, b) => compare(getPosition(a), getPosition(b)));
    return;
  }
  const ranges = toRanges(store, projectId, search);
  const options = {
    descending,
    firstPage: enough === null ? unknownRows : evenShare(rowsPerRecord * enough, ranges.length),
    ...(growth !== undefined && { growth }),
    ahead: readsAhead(search, ranges.length),
    toRow: itemFromWire,
    compare: compareTimes,
  };
  yield* mapBatches(scan(store.table, ranges, options, budget), (items) => {
    counts.bytes += items.reduce((sum, item) => sum + itemBytes(item), 0);
    return toEntries(items);
  });
}

/**
 * The records that a search finds, in order of creation (or its reverse), then of their ids. It
 * gives one revision of each chain, whatever is being replaced meanwhile.
 *
 * @param isWanted which records' payloads must be read, if they are stored apart
 * @param counts grow by what is read
 */
export const findRecords = (
  store: Store,
  projectId: ProjectId,
  search: Search,
  isWanted: (record: FeedbackRecord) => boolean,
  budget: RequestBudget,
  counts: RowCounts = { scanned: 0, bytes: 0 },
): AsyncGenerator<readonly FeedbackRecord[]> => {
  const { bounds, descending } = search;
  const found = mapBatches(findEntries(store, projectId, search, counts, budget), (entries) => {
    counts.scanned += entries.length;
    return entries;
  });
  const find: Find = async ({ id, createdAt }) => {
    if (createdAt < (bounds.from ?? 0) || createdAt > (bounds.to ?? createdAt)) return undefined;
    const [entry] = await readWhole(store, projectId, [id], budget);
    return entry;
  };
  const entries = withPayloads(store, projectId, isWanted, found, budget);
  const isTied = (a: FeedbackRecord, b: FeedbackRecord) => a.header.createdAt === b.header.createdAt;
  const compare = comparePositions(descending);
  return sortTies(isTied, (a, b) => compare(a.header, b.header), resolve(descending, entries, find));
};

/** A query under way: its plan, the counts as they grow, and the answer, to be taken once. */
export interface FeedbackQueryAnswer {
  readonly plan: Plan;
  readonly counts: {
    /** Index rows or items that were read, before any filter. */
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
  names: FieldNames = ownNames,
): FeedbackQueryAnswer => {
  const planned = plan(query);
  const reader = new FeedbackReader();
  const kind = feedbackKind();
  const tests = (expressions: readonly Expression[]) => {
    const compiled = expressions.map((expression) =>
      compile<FeedbackRecord>(kind, expression, (path) => (record) => reader.value(record, path)),
    );
    return (record: FeedbackRecord): boolean => compiled.every((test) => test(record));
  };
  const onHeader = tests(planned.onHeaders);
  const onPayload = tests(planned.onPayloads);
  const counts = { scanned: 0, bytes: 0, sent: 0 };
  const isWanted = (record: FeedbackRecord) => planned.plan.payloads && onHeader(record);
  const found = findRecords(store, query.projectId, planned.plan, isWanted, budget, counts);
  const matching = mapBatches(found, (batch) =>
    batch.filter((record) => onHeader(record) && onPayload(record)),
  );
  const answered = inPlannedOrder(planned.plan, matching, () =>
    sortRecords(query.sort, planned.plan, reader, matching),
  );
  const encode = encoder(reader, query.fields, names);
  return { plan: planned.plan, counts, records: encodeBatches(answered, counts, encode) };
};

/** About the bytes in memory of a held record, beside its payload and the texts it is sorted by. */
const headerBytes = 2048;

const getSize = ({ key, kept: { payload } }: Keyed<FeedbackRecord>): number =>
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
  const toKey = (record: FeedbackRecord) =>
    sort.map(({ path }) => {
      const value = reader.value(record, path);
      return sortable(path.text === 'created_at' ? toMicros(value) : value);
    });
  // A copy: the reader holds what it has parsed of the original for as long as that is held.
  const keep = (record: FeedbackRecord): FeedbackRecord => ({ ...record });
  const byPosition = comparePositions(false);
  const ties = (a: FeedbackRecord, b: FeedbackRecord): number => byPosition(a.header, b.header);
  return sortedByKeys({ sort, toKey, keep, ties, getSize, tooMany }, slice, records);
};

/**
 * Counts the records that a query would answer without its slice. They are counted again only if the
 * slice may have left some out.
 *
 * @param sent how many the query answered
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
