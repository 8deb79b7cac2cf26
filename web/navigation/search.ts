/*
 * The state of each view, as the URL has it. What a link says that is not understood is dropped, so
 * that a link from another version still opens.
 */

import { type CallSource, sources } from '../../api/shared/header-fields.ts';
import { issueKinds, issueStates } from '../../api/shared/issues.ts';

type Reader<Value> = (value: unknown) => Value | undefined;

/** A value of a URL as text: the router reads `thread=17` as a number. Undefined for an empty one. */
export const readText: Reader<string> = (value) => {
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
};

const requiredText = (value: unknown): string => readText(value) ?? '';

/** A time of a URL as it is written there; undefined if it is none. */
export const readTime: Reader<string> = (value) => {
  const text = readText(value);
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
};

const readFlag: Reader<boolean> = (value) => value === true || undefined;

const listReader =
  <Item>(read: Reader<Item>): Reader<readonly Item[]> =>
  (value) => {
    const items = Array.isArray(value) ? value.flatMap((item) => read(item) ?? []) : [];
    return items.length > 0 ? items : undefined;
  };

const choiceReader =
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

type Readers = Readonly<Record<string, Reader<unknown>>>;

/** The fields that a state always has. */
type Required<Of extends Readers> = keyof {
  [Field in keyof Of as undefined extends ReturnType<Of[Field]> ? never : Field]: Field;
};

/** What readers make of a URL. Fields of which it says nothing are left out. */
type StateOf<Of extends Readers> = { readonly project: string } & {
  readonly [Field in Required<Of>]: ReturnType<Of[Field]>;
} & { readonly [Field in keyof Of]?: Exclude<ReturnType<Of[Field]>, undefined> };

/** Reads the state of a view from a URL, field by field. */
const parser =
  <Of extends Readers>(readers: Of) =>
  (search: Record<string, unknown>): StateOf<Of> =>
    changed<StateOf<Of>>(
      { project: requiredText(search.project) },
      Object.fromEntries(
        Object.entries(readers).map(([field, read]) => [field, read(search[field])]),
      ) as Changes<StateOf<Of>>,
    );

/** The spans of time to choose from, in minutes. */
export const ranges = { '1h': 60, '24h': 1440, '7d': 10_080, '30d': 43_200 } as const;

export type Range = keyof typeof ranges;

const readRange = choiceReader(Object.keys(ranges) as Range[]);

/** The time that a view is of: a span up to now, or two moments. */
const timeFields = {
  /** The last hour, day, …. */
  range: readRange,
  /** The first moment, inclusive, and the last, exclusive: ISO 8601. */
  from: readTime,
  to: readTime,
};

/** The time of a view, as its URL has it. */
export type Time = Pick<TracesSearch, 'range' | 'from' | 'to'>;

/** The time of a view that is of a span if its URL names no time. */
export const toSpan = ({ range, from, to }: Changes<Time>, usual: Range) =>
  range || !from ? { range: range ?? usual } : { from, ...(to && { to }) };

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

const readCondition: Reader<Condition> = (value) => {
  const { path, op, value: sought } = (value ?? {}) as Record<string, unknown>;
  const text = readText(path);
  const known = choiceReader(text === costPath ? costOperators : operators)(op);
  if (text === undefined || !known) return undefined;
  const condition = { path: text, op: known, value: requiredText(sought) };
  return text === costPath && !isCostCondition(condition) ? undefined : condition;
};

/** What feedback calls are listed by. */
export const feedbackFilters = ['given', 'up', 'down', 'score', 'note', 'correction', 'none'] as const;

export type FeedbackFilter = (typeof feedbackFilters)[number];

/** Whose calls a view shows beside production's: those of another source, or of all. */
export const otherSources = [...sources.filter((source) => source !== 'production'), 'all'] as const;

export type OtherSource = Exclude<CallSource, 'production'> | 'all';

/** Whose calls are shown, in words. */
export const sourceTexts: Readonly<Record<OtherSource | 'production', string>> = {
  production: 'Production',
  evaluation: 'Evaluations',
  judge: 'Judges',
  trial: 'Trials',
  playground: 'Playground',
  test: 'Tests',
  all: 'All sources',
};

const readOtherSource: Reader<OtherSource> = choiceReader(otherSources);

/** What calls are filtered by, of whatever level and time. */
const anyLevelFilters = {
  status: listReader(readText),
  /** A text that inputs or output contain. */
  text: readText,
  where: listReader(readCondition),
  /** @default - production */
  source: readOtherSource,
};

/** What the calls of a list are filtered by, whatever their time. */
const callFilters = {
  /** All calls and not only roots. @default - false */
  all: readFlag,
  ...anyLevelFilters,
};

const parseTraces = parser({
  /** The last hour, day, …. @default - all time */
  range: readRange,
  /**
   * The first moment, inclusive, and the last, exclusive: ISO 8601. One without an offset is in the
   * reader's own time. @default - open
   */
  from: readText,
  to: readText,
  ...callFilters,
  feedback: choiceReader(feedbackFilters),
  /** The user whom a comment mentions. @default - any or none */
  mentions: readText,
  /** Whether a search also finds what calls only repeat: system prompts, and conversations before. @default false */
  repeated: readFlag,
  /** Paths of further columns. */
  columns: listReader(readText),
  /**
   * Columns by their ids, in their order: `-id` for a hidden one, `id~240` for one of 240 pixels.
   * Columns that are not named follow. @default - as the page has them
   */
  layout: listReader(readText),
  /** A path to sort by, with `-` before it for descending. @default -started_at */
  sort: readText,
  /** Whether new traces come in by themselves. @default - false */
  live: readFlag,
  /** The trace that is shown beside the list. @default - none */
  peek: readText,
  /** The call of it that is selected. @default - its root */
  call: readText,
});

/** The state of the list of traces. */
export type TracesSearch = ReturnType<typeof parseTraces>;

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

/** Whether a list is sorted by what feedback says: the service reads that of all its calls. */
const isSortedByScore = ({ sort = '' }: TracesSearch): boolean => /^-?feedback\./.test(sort);

/**
 * A list whose traces are added up, or that is sorted by scores, is of a time, since the service reads all of it: the last seven
 * days, unless its reader chose another.
 */
const withTime = (search: TracesSearch): TracesSearch =>
  (needsTotals(search) || isSortedByScore(search)) && !search.range && !search.from
    ? { ...search, range: '7d' }
    : search;

export const parseTracesSearch = (search: Record<string, unknown>): TracesSearch =>
  withTime(parseTraces(search));

/** The tabs beside the tree of a trace. */
export const tabs = ['messages', 'data', 'usage', 'context', 'comments', 'feedback', 'error'] as const;

export type Tab = (typeof tabs)[number];

/** What a trace adds up to. */
export const totals = ['agents', 'tools', 'context'] as const;

export type Totals = (typeof totals)[number];

/** What a trace is shown as, in the place of its tree. */
export const forms = ['story', 'timeline', 'graph'] as const;

export type Form = (typeof forms)[number];

const parseTrace = parser({
  trace: requiredText,
  /** The selected call. @default - the first root */
  call: readText,
  /** @default - messages if there are any, else data */
  tab: choiceReader(tabs),
  /** The comment that a link leads to. @default - none */
  comment: readText,
  /** What is looked for in the tree and in what its calls say. @default - nothing */
  find: readText,
  /** Whether messages stand as they came, without Markdown. @default false */
  plain: readFlag,
  /** Whether the tree shows what each call took itself, without those below it. @default false */
  own: readFlag,
  /** What the trace adds up to is shown above it. @default - nothing */
  totals: choiceReader(totals),
  /** @default - its tree */
  as: choiceReader(forms),
  /** The agent, tool or model whose calls are shown, such as `agent:planner`. @default - all calls */
  only: readText,
});

/** The state of the view of a trace. Links of earlier versions say `story=true`. */
export const parseTraceSearch = (search: Record<string, unknown>) =>
  parseTrace({ ...(search.story === true && { as: 'story' }), ...search });

export type TraceSearch = ReturnType<typeof parseTraceSearch>;

/** The state of the view that leads to a call in its trace. */
export const parseCallSearch = parser({ call: requiredText });

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

/** What threads are grouped by: what the telemetry of coding agents says of their place, and users. */
export const threadGroupings = ['repository', 'branch', 'user'] as const;

export type ThreadGrouping = (typeof threadGroupings)[number];

/** The state of the list of threads. */
export const parseThreadsSearch = parser({
  /** Threads that began after the first moment and were updated before the last. @default - all time */
  ...timeFields,
  /** The thread of this id alone. */
  id: readText,
  /** A text that was said in a thread, or its id. */
  text: readText,
  /** @default - production */
  source: readOtherSource,
  /** Whether threads are listed that are a part of another one's traces. @default false */
  nested: readFlag,
  /** A field, with `-` before it for descending. @default -last_updated */
  sort: readText,
  /** @default - the list is one */
  by: choiceReader(threadGroupings),
  /** The thread that is shown beside the list. @default - none */
  peek: readText,
  /** The trace that is shown there instead, opened from that thread. @default - none */
  trace: readText,
  /** The call of it that is selected. @default - its root */
  call: readText,
});

export type ThreadsSearch = ReturnType<typeof parseThreadsSearch>;

/** The state of a conversation. */
export const parseThreadSearch = parser({
  thread: requiredText,
  /** Whether texts stand as they came, without Markdown. @default - false */
  plain: readFlag,
  /** Whether only turns that failed are shown. @default - false */
  failed: readFlag,
});

export type ThreadSearch = ReturnType<typeof parseThreadSearch>;

/** What the figures of the overview are told apart by. */
export const dimensions = [
  'op',
  'kind',
  'model',
  'tool',
  'agent',
  'prompt',
  'user',
  'end-user',
  'environment',
  'release',
  'source',
  'score',
] as const;

export type Dimension = (typeof dimensions)[number];

/** The columns of the breakdown that it can be sorted by. */
export const orders = ['calls', 'errors', 'p50', 'p95', 'tokens', 'cost'] as const;

export type Order = (typeof orders)[number];

/** The percentiles of latencies to choose from. */
export const percentiles = ['p50', 'p90', 'p95', 'p99'] as const;

export type Percentile = (typeof percentiles)[number];

/** The state of the overview. */
export const parseOverviewSearch = parser({
  /** @default - 24h, unless there are bounds */
  ...timeFields,
  ...anyLevelFilters,
  /** Whether only roots count. @default - false */
  roots: readFlag,
  /** @default - op */
  by: choiceReader(dimensions),
  /** The path of the score that is grouped by. @default - none is */
  score: readText,
  /** Whether the charts have a line for each of the largest groups. @default - false */
  split: readFlag,
  /** What the chart of latencies shows. @default - p95 */
  percentile: choiceReader(percentiles),
  /** @default - calls */
  sort: choiceReader(orders),
});

export type OverviewSearch = ReturnType<typeof parseOverviewSearch>;

/** The state of the view of issues. */
export const parseIssuesSearch = parser({
  /** @default - 7d, unless there are bounds */
  ...timeFields,
  /** The issue that is shown, by its id. @default - all are listed */
  issue: readText,
  /** The tab of the list. @default - open, which has what regressed as well */
  tab: choiceReader([...issueStates, 'all'] as const),
  /** Of one kind, and of one release, alone. @default - any */
  kind: choiceReader(issueKinds),
  release: readText,
  /** Loops in this agent alone. @default - any */
  agent: readText,
  /** Only what is new since then: a day, or the newest release. @default - of any age */
  since: choiceReader(['yesterday', 'release'] as const),
  /** A text in the titles, operations and tools. */
  text: readText,
  /** A column of the list, with `-` before it for descending. @default -last */
  sort: readText,
});

export type IssuesSearch = ReturnType<typeof parseIssuesSearch>;

/** The state of the view of agents. */
export const parseAgentsSearch = parser({
  /** @default - 7d, unless there are bounds */
  ...timeFields,
  /** @default - production */
  source: readOtherSource,
  /** The agent that is shown, by its name. @default - all are listed */
  agent: readText,
  /** A text in the names. */
  text: readText,
  /** A column of the list, with `-` before it for descending. @default -cost */
  sort: readText,
});

export type AgentsSearch = ReturnType<typeof parseAgentsSearch>;

/** The state of the view of tools. */
export const parseToolsSearch = parser({
  /** @default - 7d, unless there are bounds */
  ...timeFields,
  /** @default - production */
  source: readOtherSource,
  /** The tool that is shown, by its name. @default - all are listed */
  tool: readText,
  /** A text in the names. */
  text: readText,
  /** A column of the list, with `-` before it for descending. @default -calls */
  sort: readText,
});

export type ToolsSearch = ReturnType<typeof parseToolsSearch>;

/** The state of the view of scores. */
export const parseScoresSearch = parser({
  /** When scores were given. @default - 7d, unless there are bounds */
  ...timeFields,
  /** The path of the score that is shown. @default - all are listed */
  score: readText,
});

export type ScoresSearch = ReturnType<typeof parseScoresSearch>;

/** The state of the view of dashboards. */
export const parseDashboardsSearch = parser({
  /** The time that all charts show. @default - 24h, unless there are bounds */
  ...timeFields,
  /** The dashboard that is shown, by its object. @default - all are listed */
  dashboard: readText,
  /** Whether a chart is added to it. @default false */
  form: readFlag,
  /** What all charts of latencies show. @default - what each was kept with */
  percentile: choiceReader(percentiles),
});

export type DashboardsSearch = ReturnType<typeof parseDashboardsSearch>;

/** The state of a comparison. */
export const parseCompareSearch = parser({
  /** The ids of two calls; roots stand for their traces. @default - to be chosen */
  left: readText,
  right: readText,
});

/** The state of the playground. What is typed stays in the page. */
export const parsePlaygroundSearch = parser({
  /** The recorded call to begin with. @default - an empty conversation */
  call: readText,
  /** The prompt to begin with, an object, and which version of it. @default - none, the latest */
  prompt: readText,
  version: readText,
});

/** The sections of the settings. */
export const settingsSections = [
  'general',
  'members',
  'keys',
  'limits',
  'retention',
  'redaction',
  'webhooks',
  'prices',
  'audit',
  'delete',
] as const;

export type SettingsSection = (typeof settingsSections)[number];

/** The state of the settings of a project. */
export const parseSettingsSearch = parser({
  /** @default - general */
  section: choiceReader(settingsSections),
  /** Only prices of models whose name has this text. */
  model: readText,
  /** The time of the audit trail. @default - 7d, unless there are bounds */
  ...timeFields,
  /** Who did it, and what they did. @default - anybody, anything */
  actor: readText,
  action: readText,
});

export type SettingsSearch = ReturnType<typeof parseSettingsSearch>;

/** The state of the former view of prices. */
export const parsePricesSearch = parser({ model: readText });

/** The state of the view of objects. */
export const parseObjectsSearch = parser({
  /** The selected object. @default - none */
  object: readText,
  /** The digest of the version that is shown. @default - the latest */
  version: readText,
  /** The digest of the version that it is compared with. @default - the one before it */
  base: readText,
});

/** The state of the view of prompts. */
export const parsePromptsSearch = parser({
  /** The prompt that is shown. @default - all are listed */
  prompt: readText,
  /** The version that is shown: its number, also as `v3`, or its digest. @default - the newest */
  version: readText,
  /** The version that it is compared with. @default - the one before it */
  base: readText,
  /** Whether a version is made of the one that is shown; without a prompt, a new one is made. @default false */
  form: readFlag,
  /** The time of the figures of a prompt. @default - 7d, unless there are bounds */
  ...timeFields,
  /** A text in the names of prompts. */
  text: readText,
  /** A column of the list, with `-` before it for descending. @default -calls */
  sort: readText,
});

export type PromptsSearch = ReturnType<typeof parsePromptsSearch>;

/** The state of the view of evaluators. */
export const parseEvaluatorsSearch = parser({
  /** The object of the evaluator that is shown. @default - all are listed */
  evaluator: readText,
  /** Whether it is edited; without one, a new one is made. @default false */
  form: readFlag,
  /** The time whose verdicts are shown. @default 7d */
  range: readRange,
  /** The latest verdicts with this value alone, or those that failed. @default - all */
  only: readText,
  /** Whether true, or a large number, stands for something bad. @default false */
  inverted: readFlag,
  /** The issue that a new one watches for, by its title, and whether that is a loop. @default - none */
  watch: readText,
  loops: readFlag,
  /** The calls that a new one judges. */
  ...callFilters,
});

export type EvaluatorsSearch = ReturnType<typeof parseEvaluatorsSearch>;

/** The state of the view of datasets. */
export const parseDatasetsSearch = parser({
  /** The selected dataset. @default - none */
  dataset: readText,
  /** The digest of the version that is shown. @default - the latest */
  version: readText,
  /** The digest of the version that it is compared with. @default - its rows are shown */
  base: readText,
});

/** The most evaluations that are compared. */
export const maxRuns = 6;

/** The state of the list of evaluations. */
export const parseEvaluationsSearch = parser({
  /** When evaluations began. @default - 30d, unless there are bounds */
  ...timeFields,
  /** A text in the name, the model or the dataset. */
  text: readText,
  /** The name of the dataset. */
  dataset: readText,
  /** A column, with `-` before it for descending. @default -started */
  sort: readText,
  /** The ids of those that are chosen to be compared. */
  runs: listReader(readText),
});

export type EvaluationsSearch = ReturnType<typeof parseEvaluationsSearch>;

/** The index of a version; undefined for anything else. */
const readIndex: Reader<number> = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

const readIndexes = listReader(readIndex);

/** The state of the view that begins evaluations of a prompt, and runs them. */
export const parseEvaluateSearch = parser({
  /** The prompt, and the indexes of its versions: one, or a list. @default - to be chosen */
  prompt: readText,
  versions: (value) => readIndexes(Array.isArray(value) ? value : [value]),
  /** @default - the model that each version names */
  models: listReader(readText),
  dataset: readText,
  /** The column that answers are to equal; `none` for none. @default - that which says what is expected */
  exact: readText,
  /** The objects of the evaluators that score answers. */
  evaluators: listReader(readText),
  /** The ids of evaluations that have begun. @default - none has */
  runs: listReader(readText),
});

export type EvaluateSearch = ReturnType<typeof parseEvaluateSearch>;

/** Which rows of evaluations are shown. */
export const rowFilters = ['worse', 'better', 'failed', 'only'] as const;

export type RowFilter = (typeof rowFilters)[number];

/** The state of one evaluation, or of several side by side. */
export const parseEvaluationSearch = parser({
  /** The ids of one to six evaluations; the first is what the others are compared with. */
  runs: listReader(readText),
  /** What rows are sorted by, worst first: `score.correct`, `latency`, `cost`, or `none`. @default - any score */
  sort: readText,
  /** @default - all rows */
  show: choiceReader(rowFilters),
  /** The scores of which less is better: `score.distance`. @default - none */
  less: listReader(readText),
  /** The row that is open, by the id of the first of its calls. */
  row: readText,
});

export type EvaluationSearch = ReturnType<typeof parseEvaluationSearch>;

/** The state of the view of reviews. */
export const parseReviewsSearch = parser({
  /** The selected queue, by its object. @default - none */
  queue: readText,
  /** Whether its calls are reviewed, one after the other. @default - it is shown how it stands */
  review: readFlag,
});

export type ReviewsSearch = ReturnType<typeof parseReviewsSearch>;

/** The state of the view of alerts. A new one begins with what a chart or a list was about. */
export const parseAlertsSearch = parser({
  /** The selected alert, by its object. @default - none */
  alert: readText,
  /** Whether it is changed; without one, a new one is made. @default false */
  form: readFlag,
  /** What a new one measures, such as `latency_ms.p95`. @default - the share of calls that failed */
  metric: readText,
  ...callFilters,
});

export type AlertsSearch = ReturnType<typeof parseAlertsSearch>;
