import {
  type Bounds,
  conjuncts,
  describe,
  type Expression,
  pathsIn,
  pushDown,
  type SortKey,
  toPath,
} from '../../foundations/expression/index.ts';
import {
  distinctUpTo,
  isEmptySpan,
  isOrderOfSource,
  type TimePlan,
} from '../../foundations/listing/index.ts';
import { isId, type ProjectId, type WireNames } from '../../foundations/wire/index.ts';
import { feedbackKind, isInPayload } from './answer.ts';

/** A query over the feedback of one project, checked. */
export interface FeedbackQuery {
  readonly projectId: ProjectId;
  /** Names and dotted paths; null for all fields. */
  readonly fields: readonly string[] | null;
  /** What must hold of a record; null for nothing. */
  readonly where: Expression | null;
  /** The order. Ties are in order of `created_at`, then `id`, both ascending. */
  readonly sort: readonly SortKey[];
  /** The most records to answer; null for all. */
  readonly limit: number | null;
  /** Records to skip first. */
  readonly offset: number;
}

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
export interface Planned {
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
export const plan = (names: WireNames, { where, sort, fields, limit, offset }: FeedbackQuery): Planned => {
  const expressions = where === null ? [] : conjuncts(where);
  const lookup = { fields: ['id', names.ref, 'feedback_type'], time: 'created_at' };
  const { ids, bounds, inBounds } = pushDown(feedbackKind(names), lookup, expressions);
  const onPayloads = expressions.filter((expression) => pathsIn(expression).some(isInPayload));
  const onHeaders = expressions.filter((expression) => !onPayloads.includes(expression));
  const source = chooseSource(limit, ids, bounds, names.ref);
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
        (fields === null ? true : fields.map(toPath).some(isInPayload)),
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
