import {
  type CallsFilter,
  type CallsQuery,
  callKind,
  maxTotalsDays,
  maxTotalsIds,
} from '../../../api/queries.ts';
import {
  type Bounds,
  conjuncts,
  describe,
  type Expression,
  type FieldPath,
  getPresence,
  intersect,
  type Pushed,
  pathsIn,
  pushDown,
  toPath,
} from '../../../foundations/expression/index.ts';
import {
  distinctUpTo,
  isEmptySpan,
  isOrderOfSource,
  type TimePlan,
} from '../../../foundations/listing/index.ts';
import type { IndexName } from '../../../foundations/storage/tables.ts';
import { invalid, isId, type Micros, serviceName } from '../../../foundations/wire/index.ts';
import type { Level } from '../../records/calls/index.ts';
import type { TextTest } from '../../records/texts.ts';
import { findRequirements, type Requirement, toProjection } from './fields.ts';
import { type TextCounts, toTextTest } from './text.ts';

/** Where a query looks for calls. */
export type Source =
  /** Nowhere: a list is empty, the bounds leave no time, or the limit is 0. */
  | { readonly kind: 'nothing' }
  /** By their ids, in the table itself. */
  | { readonly kind: 'calls'; readonly ids: readonly string[] }
  /** In `by_trace`. */
  | { readonly kind: 'traces'; readonly ids: readonly string[] }
  /** In `by_thread`. */
  | { readonly kind: 'threads'; readonly ids: readonly string[] }
  /** In the traces of these parents, or everywhere while a parent is not known. */
  | { readonly kind: 'parents'; readonly ids: readonly string[] }
  /** In the threads and traces of these turns, or everywhere while a turn is not known. */
  | { readonly kind: 'turns'; readonly ids: readonly string[] }
  /** In `by_error`: calls that have failed. */
  | { readonly kind: 'errors' }
  /** In `by_time`: the whole project, or its roots or nested calls alone. */
  | { readonly kind: 'project'; readonly levels: readonly Level[] };

/** Both levels of a project: all its calls. */
export const bothLevels: readonly Level[] = ['roots', 'nested'];

/** The order that needs no sorting: by `started_at`, then by `id`, each in a direction. */
export interface FreeOrder {
  readonly descending: boolean;
  readonly idsDescending: boolean;
}

/** How a query is going to be answered: plain data, logged with the request. */
export interface Plan extends TimePlan, FreeOrder {
  readonly source: Source;
  /** What headers alone decide: fields of the filter, and expressions without their literals. */
  readonly onHeaders: readonly string[];
  /** What takes more than the header. */
  readonly later: readonly string[];
  /** What is fetched of each call that passes on its header, to filter and to sort it. */
  readonly required: readonly Requirement[];
  /** What is fetched of each call that is answered. */
  readonly answered: readonly Requirement[];
  /** Whether every call of the source matches, so none has to be looked at. */
  readonly dropsNone: boolean;
  /** How traces are added up; null if nobody asks for that. */
  readonly totals: TotalsPlan | null;
  /** The order whose first calls are known of finished days; null if they are not. */
  readonly extremes: ExtremesPlan | null;
}

/** An order of calls of which the first ones are asked for. */
export interface ExtremesPlan {
  /** All of what they are chosen and sorted by, within the bounds. */
  readonly order: string;
  /** Whether it depends on prices. */
  readonly priced: boolean;
}

/** How the traces of roots are added up. */
export interface TotalsPlan {
  /** The calls that count: those that start within this span. */
  readonly span: Bounds;
  /** Whether all calls of the span may be read if the traces are many. They are not if ids name them. */
  readonly scans: boolean;
}

/** A plan, and the expressions that it decides at each stage. */
export interface Planned {
  readonly plan: Plan;
  readonly onHeaders: readonly Expression[];
  readonly later: readonly Expression[];
  /** Those that headers alone decide, and that what is read does not keep anyway. */
  readonly deciding: readonly Expression[];
  /** What the texts of calls have to have; undefined where nothing is known of that. */
  readonly text: TextTest | undefined;
}

/**
 * The most ids that are looked up one by one. With more, the whole project is read, and the ids are
 * a filter like any other.
 */
export const maxIds = { calls: 1000, others: 200 } as const;

/** The fields by whose values calls can be looked up, and the time that they are in order of. */
const lookup = {
  fields: ['id', 'trace_id', 'parent_id', 'turn_id', 'thread_id'],
  time: 'started_at',
} as const;

type LookupField = (typeof lookup.fields)[number];

const payloadFields: readonly (keyof CallsFilter)[] = ['inputRefs', 'outputRefs'];

const isSet = (filter: CallsFilter, field: keyof CallsFilter): boolean =>
  filter[field] !== null && filter[field] !== false;

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** The ids to look up, if they are few. No call has what cannot be an id. */
const few = (ids: readonly string[] | null, max: number): readonly string[] | undefined =>
  distinctUpTo(ids?.filter(isId), max);

/*
 * A call has the status `error` if and only if it has an exception. Headers and an index know the
 * status, so questions about the exception are asked of the status.
 */

const failed = 'error';

const statusPath = (): FieldPath => toPath(`summary.svc.status`);

/** Replaces what an expression asks about an exception being there by a question of the status. */
const byStatus = (expanded: readonly FieldPath[], expression: Expression): Expression => {
  const presence = getPresence(expression);
  // An expanded exception is what it refers to, which may be null.
  if (presence?.path.text === 'exception' && !expanded.some(({ field }) => field === 'exception')) {
    const isError: Expression = {
      kind: 'compare',
      operator: '$eq',
      left: { kind: 'field', path: statusPath() },
      right: { kind: 'literal', value: failed },
    };
    return presence.isThere ? isError : { kind: 'not', operand: isError };
  }
  const replaced = (operand: Expression) => byStatus(expanded, operand);
  switch (expression.kind) {
    case 'and':
    case 'or':
      return { ...expression, operands: expression.operands.map(replaced) };
    case 'not':
      return { ...expression, operand: replaced(expression.operand) };
    default:
      return expression;
  }
};

/** Whether an expression asks for calls that have failed, and for nothing else. */
const asksForErrors = (expression: Expression): boolean => {
  const isStatus = (side: Expression) => side.kind === 'field' && side.path.text === statusPath().text;
  const isError = (side: Expression) => side.kind === 'literal' && side.value === failed;
  if (expression.kind === 'in')
    return isStatus(expression.input) && expression.options.length > 0 && expression.options.every(isError);
  if (expression.kind !== 'compare' || expression.operator !== '$eq') return false;
  const { left, right } = expression;
  return (isStatus(left) && isError(right)) || (isError(left) && isStatus(right));
};

/** What a query requires of the parents of calls and of their failing. */
interface Restrictions {
  /** The levels that calls can be at. */
  readonly levels: readonly Level[];
  /** The expressions that say nothing else. */
  readonly inLevels: ReadonlySet<Expression>;
  /** Whether calls must have failed. */
  readonly failed: boolean;
}

/** Finds what a query says of the levels of calls and of failing. All expressions must hold. */
const findRestrictions = (
  { traceRootsOnly }: CallsFilter,
  expressions: readonly Expression[],
): Restrictions => {
  let levels = traceRootsOnly ? bothLevels.slice(0, 1) : bothLevels;
  const inLevels = new Set<Expression>();
  for (const expression of expressions) {
    const presence = getPresence(expression);
    if (presence?.path.text !== 'parent_id') continue;
    levels = levels.filter((level) => level === (presence.isThere ? 'nested' : 'roots'));
    inLevels.add(expression);
  }
  return { levels, inLevels, failed: expressions.some((expression) => asksForErrors(expression)) };
};

/** The narrowest place that holds every call which can match. */
const chooseSource = (
  { filter, limit, includes }: CallsQuery,
  { ids, bounds }: Pushed<LookupField>,
  { levels, failed }: Restrictions,
): Source => {
  if (limit === 0 || isEmptySpan(bounds) || levels.length === 0 || Object.values(filter).some(isEmptyList))
    return { kind: 'nothing' };
  const pushed = (field: LookupField) => ids.get(field) ?? null;
  const maxTraces = includes.traceTotals ? maxTotalsIds : maxIds.others;
  const candidates = [
    { kind: 'calls', ids: few(intersect(filter.callIds, pushed('id')), maxIds.calls) },
    { kind: 'traces', ids: few(intersect(filter.traceIds, pushed('trace_id')), maxTraces) },
    { kind: 'parents', ids: few(intersect(filter.parentIds, pushed('parent_id')), maxIds.others) },
    { kind: 'turns', ids: few(intersect(filter.turnIds, pushed('turn_id')), maxIds.others) },
    { kind: 'threads', ids: few(intersect(filter.threadIds, pushed('thread_id')), maxIds.others) },
  ] as const;
  if (candidates.some((candidate) => candidate.ids?.length === 0)) return { kind: 'nothing' };
  for (const { kind, ids: found } of candidates) if (found) return { kind, ids: found };
  return failed ? { kind: 'errors' } : { kind: 'project', levels };
};

const dayMicros = 86_400_000_000;

const needsRange = invalid({
  loc: ['body', 'include_trace_totals'],
  msg: `needs a range of started_at of at most ${maxTotalsDays} days in query, from a $gte or $gt on, or at most ${maxTotalsIds} call_ids or trace_ids`,
  type: 'value_error',
});

/**
 * Plans how traces are added up, over the range of the query and a day more.
 *
 * @param now where a range ends that has no end
 * @throws ServiceError 422 if that may be too many calls
 */
const planTotals = ({ kind }: Source, { from, to }: Bounds, now: Micros): TotalsPlan => {
  const isNamed = kind === 'nothing' || kind === 'calls' || kind === 'traces';
  if (!isNamed && (from === undefined || (to ?? now) - from > maxTotalsDays * dayMicros)) throw needsRange;
  const end = to === undefined ? {} : { to: Math.min(to + dayMicros, Number.MAX_SAFE_INTEGER) };
  return { span: { ...(from !== undefined && { from }), ...end }, scans: !isNamed };
};

/** The end of the longest answer that is taken from what is known of finished days. */
const maxFirst = 100;

/** Whether calls are sorted by what is known of finished days: latency, tokens or costs. */
const isKnownOrder = ({ text, field, steps }: FieldPath): boolean => {
  if (text === 'summary.svc.latency_ms') return true;
  if (field !== 'summary' || steps.length < 3) return false;
  return steps[0] === 'usage' || (steps[0] === serviceName && steps[1] === 'costs');
};

/**
 * Plans how the first calls of an order are found.
 *
 * @param required what it takes to sort them
 * @param fields the fields of the filter that are set
 */
const planExtremes = (
  { sort, filter, offset, limit }: CallsQuery,
  source: Source,
  required: readonly Requirement[],
  fields: readonly (keyof CallsFilter)[],
): ExtremesPlan | null => {
  const [first, ...others] = sort;
  if (source.kind !== 'project' || limit === null || offset + limit > maxFirst) return null;
  if (!first || others.length > 0 || !isKnownOrder(first.path)) return null;
  if (fields.some((field) => field !== 'traceRootsOnly' && field !== 'sources')) return null;
  if (required.some((name) => name !== 'usage' && name !== 'costs')) return null;
  const { path, descending } = first;
  const sources = filter.sources?.toSorted() ?? null;
  return {
    order: JSON.stringify([path.text, descending, source.levels, sources]),
    priced: required.includes('costs'),
  };
};

const unique = (requirements: readonly Requirement[]): Requirement[] => [...new Set(requirements)];

/** What must be fetched of a call to answer the columns that a query asks for. */
export const answeredRequirements = (
  query: Pick<CallsQuery, 'columns' | 'includes' | 'expand' | 'returnExpanded'>,
): Requirement[] => {
  const expanded = query.returnExpanded ? query.expand : [];
  const paths = toProjection(query).flatMap((column) => column.paths);
  return unique(paths.flatMap((path) => findRequirements(expanded, query.includes, path)));
};

/**
 * Plans a query. Pure: what has to be fetched is known before anything is read.
 *
 * @throws ServiceError 422 if figures of traces are asked for without a range of time or ids
 */
export const plan = (query: CallsQuery, now: Micros): Planned => {
  const { filter, where, includes, expand } = query;
  const requirements = (paths: readonly FieldPath[]): Requirement[] =>
    unique(paths.flatMap((path) => findRequirements(expand, includes, path)));
  const expressions = where === null ? [] : conjuncts(where).map((all) => byStatus(expand, all));
  // A root that failed has that status whatever is below it.
  const ofExpression = (expression: Expression) =>
    asksForErrors(expression) ? [] : requirements(pathsIn(expression));
  const pushed = pushDown(callKind(includes), lookup, expressions);
  const restrictions = findRestrictions(filter, expressions);
  const source = chooseSource(query, pushed, restrictions);
  const later = expressions.filter((expression) => ofExpression(expression).length > 0);
  const onHeaders = expressions.filter((expression) => !later.includes(expression));
  const fields = (Object.keys(filter) as (keyof CallsFilter)[]).filter((field) => isSet(filter, field));
  const order = isOrderOfSource(query.sort, 'started_at', true) ? 'free' : 'sort';
  // What is read keeps the bounds exactly, unless calls are looked up by their ids. Only the
  // project is read by level.
  const byLevel = source.kind === 'project';
  const isKept = (expression: Expression): boolean =>
    (source.kind === 'errors' && asksForErrors(expression)) ||
    (source.kind !== 'calls' && pushed.inBounds.has(expression)) ||
    (byLevel && restrictions.inLevels.has(expression));
  const dropping = fields.filter((field) => !byLevel || field !== 'traceRootsOnly');
  const deciding = onHeaders.filter((expression) => !isKept(expression));
  const keepsAll = later.length === 0 && deciding.length === 0;
  const keepsExpressions = keepsAll && order === 'free';
  const required = unique([
    ...(fields.some((field) => payloadFields.includes(field)) ? (['payload'] as const) : []),
    ...later.flatMap(ofExpression),
    ...(order === 'sort' ? requirements(query.sort.map(({ path }) => path)) : []),
  ]);
  const dropsNone = keepsExpressions && dropping.length === 0;
  // Most calls are production's, so the first pages are as long as if all were.
  const dropsFew =
    keepsExpressions &&
    dropping.every((field) => field === 'sources' && filter.sources?.includes('production'));
  return {
    plan: {
      source,
      bounds: pushed.bounds,
      descending: order === 'free' && query.sort[0]?.descending === true,
      idsDescending: order === 'free' && query.sort[1]?.descending === true,
      order,
      onHeaders: [...fields.filter((field) => !payloadFields.includes(field)), ...onHeaders.map(describe)],
      later: [...fields.filter((field) => payloadFields.includes(field)), ...later.map(describe)],
      required,
      answered: answeredRequirements(query),
      totals: includes.traceTotals ? planTotals(source, pushed.bounds, now) : null,
      extremes: keepsAll ? planExtremes(query, source, required, fields) : null,
      offset: query.offset,
      limit: query.limit,
      dropsNone,
      enough: dropsFew && query.limit !== null ? query.offset + query.limit : null,
    },
    onHeaders,
    later,
    deciding,
    text: source.kind === 'project' || source.kind === 'errors' ? toTextTest(later, expand) : undefined,
  };
};

type Index = IndexName<'calls'>;

/** Where each kind of source lies. */
const indexes: Readonly<Record<Source['kind'], 'table' | Index | `${Index}, ${Index}` | null>> = {
  nothing: null,
  calls: 'table',
  traces: 'by_trace',
  parents: 'by_trace',
  threads: 'by_thread',
  turns: 'by_thread, by_trace',
  errors: 'by_error',
  project: 'by_time',
};

const sourceText = (source: Source): string => {
  if ('ids' in source) return `${source.ids.length} ${source.kind}`;
  return source.kind === 'project' && source.levels.length === 1 ? source.levels.join() : source.kind;
};

/**
 * A plan as it is logged: with the index that is read, and with ids counted, not listed.
 *
 * @param text what a search for a text left out
 */
export const planSummary = (
  { source, ...rest }: Plan,
  text: TextCounts | null = null,
): Readonly<Record<string, unknown>> => ({
  source: sourceText(source),
  index: indexes[source.kind],
  ...rest,
  ...(text && { text: { ...text } }),
});
