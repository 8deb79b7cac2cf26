import type { CallSource } from '../../../api/shared/header-fields.ts';
import { headerColumns } from '../../api/calls.ts';
import type { CallsQuery, Operation } from '../../api/contract.ts';
import { parseLiteral } from '../../data/values.ts';
import {
  type Condition,
  costPath,
  type FeedbackFilter,
  isOfAllCalls,
  needsTotals,
  type OtherSource,
  ranges,
  type TracesSearch,
  totalsPath,
} from '../../navigation/search.ts';
import { parseScorePath, tagAt, tagsColumn } from '../scores.ts';
import { hiddenIn } from './layout.ts';

/*
 * What the list asks the service for: pure functions of the URL's state. The page shows these very
 * requests, so that whoever filters learns the query language.
 */

/** How many rows are asked for at once. */
export const pageSize = 100;

/** A column or a path below one, in a query. */
export const field = (path: string) => ({ $getField: path });

/** Columns that are texts, whatever they look like: ids, names and the exception. */
const plainColumns = /^((\w+_)?id|(op|display)_name|exception)$/;

/** The operation of a condition. */
export const toOperation = ({ path, op, value }: Condition): Operation => {
  const input = field(path);
  const typed = parseLiteral(value);
  const literal = { $literal: typeof typed !== 'string' && plainColumns.test(path) ? value : typed };
  switch (op) {
    case 'is':
      return { $eq: [input, literal] };
    case 'is not':
      return { $not: [{ $eq: [input, literal] }] };
    case 'contains':
      return containing(input, value);
    case 'above':
      return { $gt: [input, literal] };
    case 'below':
      return { $lt: [input, literal] };
    case 'exists':
      return { $ne: [input, { $literal: null }] };
    case 'is missing':
      return { $eq: [input, { $literal: null }] };
  }
};

/** Whatever is there as text: lists and objects as JSON. */
const asText = (input: { $getField: string }) => ({ $convert: { input, to: 'string' as const } });

/** Looks for a text, and for how JSON has it: with a backslash before each quote, for one. */
const containing = (input: { $getField: string }, text: string): Operation => {
  const holding = (substr: string): Operation => ({
    $contains: { input: asText(input), substr: { $literal: substr }, case_insensitive: true },
  });
  const inJson = JSON.stringify(text).slice(1, -1);
  return inJson === text ? holding(text) : { $or: [holding(text), holding(inJson)] };
};

/** Where a text is looked for. */
export const textColumns = ['inputs', 'output', 'exception'] as const;

/** Calls that are no roots and took a conversation: what it says was said elsewhere, or is a system prompt. */
const repeats: Operation = {
  $and: [
    { $ne: [field('parent_id'), { $literal: null }] },
    {
      $or: ['messages', 'contents'].map((name) => ({
        $ne: [field(`inputs.${name}`), { $literal: null }],
      })),
    },
  ],
};

/** @param said whether the text has to be said there, and not only repeated */
const textOperation = (text: string, said: boolean): Operation => ({
  $or: textColumns.map((column) => {
    const holds = containing(field(column), text);
    return said && column === 'inputs' ? { $and: [{ $not: [repeats] }, holds] } : holds;
  }),
});

/**
 * Calls of some states. A root that failed itself may have errors below it, too: its own is one of those
 * that its trace has.
 */
const statusOperation = (status: readonly string[], hasTotals: boolean): Operation => {
  const isOne: Operation = {
    $in: [field('summary.svc.status'), status.map((value) => ({ $literal: value }))],
  };
  if (!hasTotals || !status.includes('descendant_error')) return isOne;
  return { $or: [isOne, { $gt: [field(`${totalsPath}.error_count`), { $literal: 1 }] }] };
};

/** The path of the feedback on a call. */
export const feedbackPath = 'summary.svc.feedback';

/** What stands in the JSON of the feedback on a call, by what is looked for. */
const feedbackTexts: Readonly<Record<Exclude<FeedbackFilter, 'given' | 'none'>, string>> = {
  up: '"up":true',
  down: '"up":false',
  score: '"feedback_type":"score"',
  note: '"note":"',
  correction: '"feedback_type":"correction"',
};

/** Calls with a comment that mentions a user: its name stands in a list of names. */
const mentionOperation = (user: string): Operation => {
  const input = asText(field(feedbackPath));
  const has = (substr: string): Operation => ({ $contains: { input, substr: { $literal: substr } } });
  const name = JSON.stringify(user);
  return { $and: [has('"mentions":['), { $or: [has(`[${name}`), has(`,${name}`)] }] };
};

const feedbackOperation = (sought: FeedbackFilter): Operation => {
  if (sought === 'given' || sought === 'none') {
    const sides: Operation[] = [field(`${feedbackPath}.0.id`), { $literal: null }];
    return sought === 'given' ? { $ne: sides } : { $eq: sides };
  }
  const input = asText(field(feedbackPath));
  return { $contains: { input, substr: { $literal: feedbackTexts[sought] } } };
};

const toIso = (local: string | undefined): string | undefined => {
  const time = local === undefined ? Number.NaN : new Date(local).getTime();
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
};

/** The bounds of time. A range ends now, and stays open, so that new calls are in it. */
const timeOperations = ({ range, from, to }: TracesSearch, now: number): Operation[] => {
  const startedAt = { $getField: 'started_at' };
  const first = range ? new Date(now - ranges[range] * 60_000).toISOString() : toIso(from);
  const last = range ? undefined : toIso(to);
  return [
    ...(first ? [{ $gte: [startedAt, { $literal: first }] } as Operation] : []),
    ...(last ? [{ $lt: [startedAt, { $literal: last }] } as Operation] : []),
  ];
};

/** The sources that a filter allows, as views choose them: production without a choice. */
export const toSources = (source: OtherSource | undefined): { sources?: CallSource[] } =>
  source === 'all' ? {} : { sources: [source ?? 'production'] };

/** A filter, or none if it says nothing. */
export const filterOf = <Filter extends object>(filter: Filter): { filter?: Filter } =>
  Object.keys(filter).length > 0 ? { filter } : {};

/**
 * All conditions of the list that the service can tell.
 *
 * @param now milliseconds since 1970, which the range ends at
 * @param forList whether they are for the list itself, whose request may add up traces, and which leaves out
 *   calls that only repeat a text
 */
export const toOperations = (search: TracesSearch, now: number, forList = false): Operation[] => [
  ...timeOperations(search, now),
  ...(search.status ? [statusOperation(search.status, forList && needsTotals(search))] : []),
  ...(search.where ?? []).filter(({ path }) => path !== costPath).map((condition) => toOperation(condition)),
  ...(search.feedback ? [feedbackOperation(search.feedback)] : []),
  ...(search.mentions ? [mentionOperation(search.mentions)] : []),
  ...(search.text ? [textOperation(search.text, forList && !search.repeated)] : []),
];

/**
 * Which calls a list is about, as requests say it.
 *
 * @param now milliseconds since 1970, which the range ends at
 * @param forList whether it is for the list itself
 */
export const selectionOf = (search: TracesSearch, now = 0, forList = false) => {
  const operations = toOperations(search, now, forList);
  return {
    project_id: search.project,
    ...filterOf({
      ...(!isOfAllCalls(search) && { trace_roots_only: true }),
      ...toSources(search.source),
    }),
    ...(operations.length > 0 && { query: { $expr: { $and: operations } } }),
  };
};

/** How the list is sorted. */
const getSort = ({ sort = '-started_at' }: TracesSearch) => {
  const descending = sort.startsWith('-');
  return {
    field: descending ? sort.slice(1) : sort,
    direction: descending ? ('desc' as const) : ('asc' as const),
  };
};

/** The scores that a list shows: those of its columns, and those that it is filtered or sorted by, but tags. */
export const scorePaths = ({ columns = [], where = [], sort = '' }: TracesSearch): string[] => {
  const paths = [...columns, ...where.map(({ path }) => path), sort.replace(/^-/, '')];
  return [...new Set(paths.filter((path) => parseScorePath(path) && tagAt(path) === undefined))];
};

/** The columns that a request asks for. Calls that are no roots also show their own usage. */
const requestedColumns = (search: TracesSearch): string[] => [
  ...headerColumns,
  'attributes.user.id',
  ...(hiddenIn(search).has('preview') ? [] : ['preview']),
  ...(isOfAllCalls(search) ? ['summary.usage'] : []),
  // Scores come with the feedback.
  ...(search.columns ?? []).filter((path) => path !== tagsColumn && !parseScorePath(path)),
];

/**
 * The request of the list, without bounds to a page of it.
 *
 * @param now milliseconds since 1970, which the range ends at
 */
export const toRequest = (search: TracesSearch, now: number): CallsQuery => {
  const { field: path, direction } = getSort(search);
  return {
    ...selectionOf(search, now, true),
    sort_by: [{ field: path, direction }],
    columns: requestedColumns(search),
    ...(needsTotals(search) && { include_trace_totals: true }),
    ...((isOfAllCalls(search) || isNamed(search, 'summary.svc.costs')) && { include_costs: true }),
    ...((search.feedback ||
      search.mentions ||
      isNamed(search, feedbackPath) ||
      scorePaths(search).length > 0) && {
      include_feedback: true,
    }),
  };
};

const isNamed = ({ where = [], columns = [], sort = '' }: TracesSearch, sought: string): boolean =>
  [...where.map(({ path }) => path), ...columns, sort].some((path) => path.includes(sought));

const withOperation = (request: CallsQuery, operation: Operation): CallsQuery => {
  const { $and: others = [] } = (request.query?.$expr ?? {}) as { $and?: Operation[] };
  return { ...request, query: { $expr: { $and: [...others, operation] } } };
};

/** How far a list has been read. */
export interface Cursor {
  /** How many rows were read. */
  readonly read: number;
  /** When the last of them started. @default - none was read */
  readonly last?: string;
  /** How many of the last rows started at that moment. */
  readonly same: number;
}

/** Before the first row. */
export const atStart: Cursor = { read: 0, same: 0 };

/** A cursor after more rows. */
export const advanced = (cursor: Cursor, rows: readonly { readonly started_at: string }[]): Cursor => {
  const last = rows.at(-1)?.started_at;
  if (last === undefined) return cursor;
  const others = rows.findLastIndex(({ started_at }) => started_at !== last) + 1;
  const before = others === 0 && cursor.last === last ? cursor.same : 0;
  return { read: cursor.read + rows.length, last, same: before + rows.length - others };
};

/**
 * The request of the next page. In order of time it goes on from the last row, so that the service
 * reads nothing twice. Rows of the same moment are skipped by their number. Any other order has to
 * skip all rows that are there.
 */
export const nextPage = (request: CallsQuery, { read, last, same }: Cursor): CallsQuery => {
  const page = { ...request, limit: pageSize };
  if (last === undefined) return page;
  const [sort] = request.sort_by ?? [];
  if (sort?.field !== 'started_at') return { ...page, offset: read };
  const sides: Operation[] = [{ $getField: 'started_at' }, { $literal: last }];
  const bound = sort.direction === 'desc' ? { $lte: sides } : { $gte: sides };
  return { ...withOperation(page, bound as Operation), offset: same };
};

/** In live mode, the oldest rows beyond this number leave the list, so that it does not grow. */
export const maxLiveRows = 2000;

/** How long before a moment a call may have started that is reported after it, in ms. */
const lateMs = 15 * 60_000;

/** How long after its start or its end a call may be reported, in ms. */
const reportMs = 2 * 60_000;

/** The newest rows that hold to operations, no more than a live list keeps. */
const newest = (request: CallsQuery, ...operations: Operation[]): CallsQuery => ({
  ...operations.reduce(withOperation, request),
  limit: maxLiveRows,
});

/** The request for what started after the newest row, for the live mode. */
export const newerThan = (request: CallsQuery, startedAt: string): CallsQuery =>
  newest(request, { $gt: [{ $getField: 'started_at' }, { $literal: startedAt }] });

/**
 * The request for what was reported after a moment, also for calls that started before it. Headers
 * decide, so that payloads are read of calls that have just started or ended, and of no others.
 *
 * @param since milliseconds since 1970
 * @param oldest when the last row started: what is older has its place on a further page
 */
export const reportedSince = (request: CallsQuery, since: number, oldest = -Infinity): CallsQuery => {
  const after = (path: string, ms: number): Operation => ({
    $gte: [{ $getField: path }, { $literal: new Date(ms).toISOString() }],
  });
  const reported = ['started_at', 'ended_at'].map((path) => after(path, since - reportMs));
  return newest(request, after('started_at', Math.max(oldest, since - lateMs)), { $or: reported });
};

/** The request for some rows of the list as they are now. */
export const rowsAgain = (
  { project_id, columns, include_costs, include_feedback }: CallsQuery,
  call_ids: readonly string[],
): CallsQuery => ({
  project_id,
  filter: { call_ids: [...call_ids] },
  ...(columns && { columns }),
  ...(include_costs && { include_costs }),
  ...(include_feedback && { include_feedback }),
});

/** The request that counts all rows of a list. */
export const countRequest = ({ project_id, filter, query, include_trace_totals }: CallsQuery) => ({
  project_id,
  filter: filter ?? null,
  query: query ?? null,
  ...(include_trace_totals && { include_trace_totals }),
});
