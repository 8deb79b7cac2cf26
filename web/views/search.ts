/*
 * The state of each view, as the URL has it. What a link says that is not understood is dropped, so
 * that a link from another version still opens.
 */

type Reader<Value> = (value: unknown) => Value | undefined;

/** A value of a URL as text: the router reads `thread=17` as a number. Undefined for an empty one. */
export const textOf: Reader<string> = (value) => {
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
};

const requiredText = (value: unknown): string => textOf(value) ?? '';

/** A time of a URL as it is written there; undefined if it is none. */
export const timeOf: Reader<string> = (value) => {
  const text = textOf(value);
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
};

const flagOf: Reader<true> = (value) => value === true || undefined;

const listOf =
  <Item>(read: Reader<Item>): Reader<Item[]> =>
  (value) => {
    const items = Array.isArray(value) ? value.flatMap((item) => read(item) ?? []) : [];
    return items.length > 0 ? items : undefined;
  };

const oneOf =
  <Value>(values: readonly Value[]): Reader<Value> =>
  (value) =>
    values.find((known) => known === value);

/** Fields that may be undefined, for what is to be changed or left out. */
export type Changes<State> = { readonly [Field in keyof State]?: State[Field] | undefined };

/**
 * A view's state with changes. What is changed to undefined is left out, so that the URL has only
 * what differs from the default.
 */
export const changed = <State extends object>(before: object, changes: Changes<State>): State =>
  Object.fromEntries(
    Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined),
  ) as State;

/** Reads the state of a view from a URL, field by field. */
const parser =
  <State extends { readonly project: string }>(
    readers: {
      readonly [Field in Exclude<keyof State, 'project'>]-?: Reader<State[Field]>;
    },
  ) =>
  (search: Record<string, unknown>): State =>
    changed<State>(
      { project: requiredText(search.project) },
      Object.fromEntries(
        Object.entries<Reader<unknown>>(readers).map(([field, read]) => [field, read(search[field])]),
      ) as Changes<State>,
    );

/** The spans of time to choose from, in minutes. */
export const ranges = { '1h': 60, '24h': 1440, '7d': 10_080, '30d': 43_200 } as const;

export type Range = keyof typeof ranges;

const rangeOf = oneOf(Object.keys(ranges) as Range[]);

/** How a condition compares. */
export const operators = ['is', 'is not', 'contains', 'above', 'below', 'exists', 'is missing'] as const;

export type Operator = (typeof operators)[number];

/** Whether an operator compares with a value. */
export const needsValue = (op: Operator): boolean => op !== 'exists' && op !== 'is missing';

/**
 * The word for what a row cost, which is no path. The service works costs out from prices, and the
 * page tests each row by them.
 */
export const costPath = 'cost';

/** How costs are compared. */
export const costOperators: readonly Operator[] = ['above', 'below', 'exists', 'is missing'];

/** A condition on a column, on a path into one, or on the cost. */
export interface Condition {
  readonly path: string;
  readonly op: Operator;
  /** What it is compared with, as it was typed. Numbers, booleans and null are meant as such. */
  readonly value: string;
}

const isCostCondition = ({ op, value }: Condition): boolean =>
  !needsValue(op) || (value.trim() !== '' && Number.isFinite(Number(value)));

const conditionOf: Reader<Condition> = (value) => {
  const { path, op, value: sought } = (value ?? {}) as Record<string, unknown>;
  const text = textOf(path);
  const known = oneOf(text === costPath ? costOperators : operators)(op);
  if (text === undefined || !known) return undefined;
  const condition = { path: text, op: known, value: requiredText(sought) };
  return text === costPath && !isCostCondition(condition) ? undefined : condition;
};

/** What feedback calls are listed by. */
export const feedbackFilters = ['given', 'up', 'down', 'score', 'note', 'correction', 'none'] as const;

export type FeedbackFilter = (typeof feedbackFilters)[number];

/** The state of the list of traces. Everything but the project is optional. */
export interface TracesSearch {
  readonly project: string;
  /** The last hour, day, …. @default - all time */
  readonly range?: Range;
  /**
   * The first moment, inclusive, and the last, exclusive: ISO 8601. One without an offset is in the
   * reader's own time. @default - open
   */
  readonly from?: string;
  readonly to?: string;
  /** All calls and not only roots. @default - false */
  readonly all?: boolean;
  readonly status?: readonly string[];
  /** A text that inputs or output contain. */
  readonly text?: string;
  readonly where?: readonly Condition[];
  readonly feedback?: FeedbackFilter;
  /** Paths of further columns. */
  readonly columns?: readonly string[];
  /**
   * Columns by their ids, in their order: `-id` for a hidden one, `id~240` for one of 240 pixels.
   * Columns that are not named follow. @default - as the page has them
   */
  readonly layout?: readonly string[];
  /** A path to sort by, with `-` before it for descending. @default -started_at */
  readonly sort?: string;
  /** Whether new traces come in by themselves. @default - false */
  readonly live?: boolean;
}

/** Where the service has what all calls of a root's trace add up to, if it is asked for. */
export const totalsPath = 'summary.svc.trace_totals';

/** Whether the list shows calls of all levels. A text is looked for in all of them. */
export const isOfAllCalls = ({ all, text }: Pick<TracesSearch, 'all' | 'text'>): boolean =>
  all === true || text !== undefined;

/** Whether the service has to add up the traces of a list's roots. */
export const needsTotals = (search: TracesSearch): boolean => {
  const { status = [], where = [], sort = '' } = search;
  if (isOfAllCalls(search)) return false;
  const paths = [sort.replace(/^-/, ''), ...where.map(({ path }) => path)];
  return status.includes('descendant_error') || paths.some((path) => path.startsWith(totalsPath));
};

/**
 * A list whose traces are added up is of a time, since the service reads all of it: the last seven
 * days, unless its reader chose another.
 */
const withTime = (search: TracesSearch): TracesSearch =>
  needsTotals(search) && !search.range && !search.from ? { ...search, range: '7d' } : search;

const parseTraces = parser<TracesSearch>({
  range: rangeOf,
  from: textOf,
  to: textOf,
  all: flagOf,
  status: listOf(textOf),
  text: textOf,
  where: listOf(conditionOf),
  feedback: oneOf(feedbackFilters),
  columns: listOf(textOf),
  layout: listOf(textOf),
  sort: textOf,
  live: flagOf,
});

export const parseTracesSearch = (search: Record<string, unknown>): TracesSearch =>
  withTime(parseTraces(search));

/** The tabs beside the tree of a trace. */
export const tabs = ['messages', 'data', 'usage', 'feedback', 'error'] as const;

export type Tab = (typeof tabs)[number];

/** The state of the view of a trace. */
export interface TraceSearch {
  readonly project: string;
  readonly trace: string;
  /** The selected call. @default - the first root */
  readonly call?: string;
  /** @default - messages if there are any, else data */
  readonly tab?: Tab;
  /** Whether messages stand as they came, without Markdown. @default false */
  readonly plain?: boolean;
  /** Whether the tree shows what each call took itself, without those below it. @default false */
  readonly own?: boolean;
  /** Whether the trace stands there as a text, in the place of its tree. @default false */
  readonly story?: boolean;
}

export const parseTraceSearch = parser<TraceSearch>({
  trace: requiredText,
  call: textOf,
  tab: oneOf(tabs),
  plain: flagOf,
  own: flagOf,
  story: flagOf,
});

/** What threads can be sorted by. */
export const threadFields = [
  'thread_id',
  'turn_count',
  'start_time',
  'last_updated',
  'p50_turn_duration_ms',
  'p99_turn_duration_ms',
] as const;

export type ThreadField = (typeof threadFields)[number];

/** The state of the list of threads. */
export interface ThreadsSearch {
  readonly project: string;
  /** Threads that began in the last hour, day, …. @default - all time */
  readonly range?: Range;
  /** Threads that began after the first and were updated before the second: ISO 8601. */
  readonly from?: string;
  readonly to?: string;
  /** The thread of this id alone. */
  readonly id?: string;
  /** A text that was said in a thread, or its id. */
  readonly text?: string;
  /** Whether threads are listed that are a part of another one's traces. @default false */
  readonly nested?: boolean;
  /** A field, with `-` before it for descending. @default -last_updated */
  readonly sort?: string;
}

export const parseThreadsSearch = parser<ThreadsSearch>({
  range: rangeOf,
  from: timeOf,
  to: timeOf,
  id: textOf,
  text: textOf,
  nested: flagOf,
  sort: textOf,
});

/** The state of a conversation. */
export interface ThreadSearch {
  readonly project: string;
  readonly thread: string;
  /** Whether texts stand as they came, without Markdown. @default - false */
  readonly plain?: boolean;
  /** Whether only turns that failed are shown. @default - false */
  readonly failed?: boolean;
}

export const parseThreadSearch = parser<ThreadSearch>({
  thread: requiredText,
  plain: flagOf,
  failed: flagOf,
});

/** What the figures of the overview are told apart by. */
export const dimensions = ['op', 'kind', 'model', 'user', 'end-user', 'environment', 'release'] as const;

export type Dimension = (typeof dimensions)[number];

/** The columns of the breakdown that it can be sorted by. */
export const orders = ['calls', 'errors', 'p50', 'p95', 'tokens', 'cost'] as const;

export type Order = (typeof orders)[number];

/** The state of the overview. */
export interface OverviewSearch {
  readonly project: string;
  /** The last hour, day, …. @default - 24h, unless there are bounds */
  readonly range?: Range;
  /** The first moment, inclusive, and the last, exclusive: ISO 8601. */
  readonly from?: string;
  readonly to?: string;
  /** @default - op */
  readonly by?: Dimension;
  /** Whether the charts have a line for each of the largest groups. @default - false */
  readonly split?: boolean;
  /** @default - calls */
  readonly sort?: Order;
}

export const parseOverviewSearch = parser<OverviewSearch>({
  range: rangeOf,
  from: timeOf,
  to: timeOf,
  by: oneOf(dimensions),
  split: flagOf,
  sort: oneOf(orders),
});

/** The state of a comparison. */
interface CompareSearch {
  readonly project: string;
  /** The ids of two calls; roots stand for their traces. @default - to be chosen */
  readonly left?: string;
  readonly right?: string;
}

export const parseCompareSearch = parser<CompareSearch>({ left: textOf, right: textOf });

/** The state of the playground. What is typed stays in the page. */
interface PlaygroundSearch {
  readonly project: string;
  /** The recorded call to begin with. @default - an empty conversation */
  readonly call?: string;
  /** The prompt to begin with, an object, and which version of it. @default - none, the latest */
  readonly prompt?: string;
  readonly version?: string;
}

export const parsePlaygroundSearch = parser<PlaygroundSearch>({
  call: textOf,
  prompt: textOf,
  version: textOf,
});

/** The state of the view of prices. */
interface PricesSearch {
  readonly project: string;
  /** Only models whose name has this text. */
  readonly model?: string;
}

export const parsePricesSearch = parser<PricesSearch>({ model: textOf });

/** The state of the view of objects. */
interface ObjectsSearch {
  readonly project: string;
  /** The selected object. @default - none */
  readonly object?: string;
  /** The digest of the version that is shown. @default - the latest */
  readonly version?: string;
  /** The digest of the version that it is compared with. @default - the one before it */
  readonly base?: string;
}

export const parseObjectsSearch = parser<ObjectsSearch>({ object: textOf, version: textOf, base: textOf });

/** The state of the view of evaluators. */
export interface EvaluatorsSearch {
  readonly project: string;
  /** The object of the evaluator that is shown. @default - all are listed */
  readonly evaluator?: string;
  /** Whether it is edited; without one, a new one is made. @default false */
  readonly form?: true;
  /** The time whose verdicts are shown. @default 7d */
  readonly range?: Range;
  /** The latest verdicts with this value alone, or those that failed. @default - all */
  readonly only?: string;
  /** Whether true, or a large number, stands for something bad. @default false */
  readonly inverted?: true;
}

export const parseEvaluatorsSearch = parser<EvaluatorsSearch>({
  evaluator: textOf,
  form: flagOf,
  range: rangeOf,
  only: textOf,
  inverted: flagOf,
});

/** The state of the view of datasets. */
interface DatasetsSearch {
  readonly project: string;
  /** The selected dataset. @default - none */
  readonly dataset?: string;
  /** The digest of the version that is shown. @default - the latest */
  readonly version?: string;
  /** The digest of the version that it is compared with. @default - its rows are shown */
  readonly base?: string;
}

export const parseDatasetsSearch = parser<DatasetsSearch>({ dataset: textOf, version: textOf, base: textOf });

/** The most evaluations that are compared. */
export const maxRuns = 6;

/** The state of the list of evaluations. */
export interface EvaluationsSearch {
  readonly project: string;
  /** Evaluations of the last hour, day, …. @default - 30d, unless there are bounds */
  readonly range?: Range;
  readonly from?: string;
  readonly to?: string;
  /** A text in the name, the model or the dataset. */
  readonly text?: string;
  /** The name of the dataset. */
  readonly dataset?: string;
  /** A column, with `-` before it for descending. @default -started */
  readonly sort?: string;
  /** The ids of those that are chosen to be compared. */
  readonly runs?: readonly string[];
}

export const parseEvaluationsSearch = parser<EvaluationsSearch>({
  range: rangeOf,
  from: timeOf,
  to: timeOf,
  text: textOf,
  dataset: textOf,
  sort: textOf,
  runs: listOf(textOf),
});

/** Which rows of evaluations are shown. */
export const rowFilters = ['worse', 'better', 'failed', 'only'] as const;

export type RowFilter = (typeof rowFilters)[number];

/** The state of one evaluation, or of several side by side. */
export interface EvaluationSearch {
  readonly project: string;
  /** The ids of one to six evaluations; the first is what the others are compared with. */
  readonly runs?: readonly string[];
  /** What rows are sorted by, worst first: `score.correct`, `latency`, `cost`, or `none`. @default - any score */
  readonly sort?: string;
  /** @default - all rows */
  readonly show?: RowFilter;
  /** The scores of which less is better: `score.distance`. @default - none */
  readonly less?: readonly string[];
  /** The row that is open, by the id of the first of its calls. */
  readonly row?: string;
}

export const parseEvaluationSearch = parser<EvaluationSearch>({
  runs: listOf(textOf),
  sort: textOf,
  show: oneOf(rowFilters),
  less: listOf(textOf),
  row: textOf,
});

/** The state of the view of reviews. */
export interface ReviewsSearch {
  readonly project: string;
  /** The selected queue, by its object. @default - none */
  readonly queue?: string;
  /** Whether its calls are reviewed, one after the other. @default - it is shown how it stands */
  readonly review?: boolean;
}

export const parseReviewsSearch = parser<ReviewsSearch>({ queue: textOf, review: flagOf });

/** The state of the view of alerts. A new one begins with what a chart or a list was about. */
export interface AlertsSearch extends Pick<TracesSearch, 'all' | 'status' | 'text' | 'where'> {
  readonly project: string;
  /** The selected alert, by its object. @default - none */
  readonly alert?: string;
  /** Whether it is changed; without one, a new one is made. @default false */
  readonly form?: true;
  /** What a new one measures, such as `latency_ms.p95`. @default - the share of calls that failed */
  readonly metric?: string;
}

export const parseAlertsSearch = parser<AlertsSearch>({
  alert: textOf,
  form: flagOf,
  metric: textOf,
  all: flagOf,
  status: listOf(textOf),
  text: textOf,
  where: listOf(conditionOf),
});
