import type { TimeBounds } from '../calls/index.ts';
import { type Expression, type RecordKind, timeLiteral } from '../expression/index.ts';

/** The fields by whose values calls can be looked up. */
export type LookupField = 'id' | 'trace_id' | 'parent_id' | 'turn_id' | 'thread_id';

/** What expressions that must all hold say of where the calls are. */
export interface Pushed {
  /** By field, the values of which one must be the call's. */
  readonly ids: ReadonlyMap<LookupField, readonly string[]>;
  readonly bounds: TimeBounds;
  /** The expressions that the bounds say in full. */
  readonly inBounds: ReadonlySet<Expression>;
}

const lookupFields: readonly string[] = [
  'id',
  'trace_id',
  'parent_id',
  'turn_id',
  'thread_id',
] satisfies LookupField[];

const lookupFieldOf = (expression: Expression): LookupField | undefined => {
  if (expression.kind !== 'field' || expression.path.steps.length > 0) return undefined;
  return lookupFields.includes(expression.path.field) ? (expression.path.field as LookupField) : undefined;
};

const texts = (expressions: readonly Expression[]): string[] | undefined => {
  // What is no text is no id: it matches nothing, and need not be looked up.
  if (!expressions.every(({ kind }) => kind === 'literal')) return undefined;
  return expressions.flatMap((literal) =>
    literal.kind === 'literal' && typeof literal.value === 'string' ? [literal.value] : [],
  );
};

/** The ids to which an expression confines a field. */
const confined = (expression: Expression): [LookupField, string[]] | undefined => {
  if (expression.kind === 'in') {
    const field = lookupFieldOf(expression.input);
    // A null among the options would let calls through that have no value.
    const hasNull = expression.options.some((option) => option.kind === 'literal' && option.value === null);
    const ids = hasNull ? undefined : texts(expression.options);
    return field && ids && [field, ids];
  }
  if (expression.kind !== 'compare' || expression.operator !== '$eq') return undefined;
  for (const [field, value] of [
    [expression.left, expression.right],
    [expression.right, expression.left],
  ] as const) {
    const name = lookupFieldOf(field);
    if (name && value.kind === 'literal' && typeof value.value === 'string') return [name, [value.value]];
  }
  return undefined;
};

const latest = Number.MAX_SAFE_INTEGER;
const clamp = (micros: number): number => Math.min(Math.max(micros, -latest), latest);

/** What an operator says of a whole number of microseconds that stands on its left. */
const boundsOf: Readonly<Record<string, (micros: number) => TimeBounds>> = {
  $eq: (micros) => ({ from: clamp(micros), to: clamp(micros) }),
  $gt: (micros) => ({ from: clamp(micros + 1) }),
  $gte: (micros) => ({ from: clamp(micros) }),
  $lt: (micros) => ({ to: clamp(micros - 1) }),
  $lte: (micros) => ({ to: clamp(micros) }),
};

const mirrored: Readonly<Record<string, string>> = {
  $eq: '$eq',
  $gt: '$lt',
  $gte: '$lte',
  $lt: '$gt',
  $lte: '$gte',
};

const isStart = (expression: Expression): boolean =>
  expression.kind === 'field' && expression.path.text === 'started_at';

const bounded = (kind: RecordKind, expression: Expression): TimeBounds | undefined => {
  if (expression.kind !== 'compare') return undefined;
  const { operator, left, right } = expression;
  const onRight = isStart(left) ? timeLiteral(kind, left, right) : undefined;
  if (onRight !== undefined) return boundsOf[operator]?.(onRight);
  const onLeft = isStart(right) ? timeLiteral(kind, right, left) : undefined;
  return onLeft === undefined ? undefined : boundsOf[mirrored[operator] ?? '']?.(onLeft);
};

const both = (a: TimeBounds, b: TimeBounds): TimeBounds => ({
  ...narrower('from', Math.max, a, b),
  ...narrower('to', Math.min, a, b),
});

const narrower = (
  side: 'from' | 'to',
  choose: (a: number, b: number) => number,
  a: TimeBounds,
  b: TimeBounds,
): TimeBounds => {
  const [x, y] = [a[side], b[side]];
  if (x === undefined && y === undefined) return {};
  return { [side]: x === undefined ? y : y === undefined ? x : choose(x, y) };
};

/** The values that are in both lists, each once; null stands for all there are. */
export const intersect = (
  a: readonly string[] | null,
  b: readonly string[] | null,
): readonly string[] | null => {
  if (a === null || b === null) return a ?? b;
  const set = new Set(b);
  return [...new Set(a)].filter((value) => set.has(value));
};

/** Finds what expressions, all of which must hold, say of where the calls are. */
export const pushDown = (kind: RecordKind, expressions: readonly Expression[]): Pushed => {
  const ids = new Map<LookupField, readonly string[]>();
  const inBounds = new Set<Expression>();
  let bounds: TimeBounds = {};
  for (const expression of expressions) {
    const [field, values] = confined(expression) ?? [];
    if (field && values) ids.set(field, intersect(ids.get(field) ?? null, values) ?? []);
    const more = bounded(kind, expression);
    if (more) {
      bounds = both(bounds, more);
      inBounds.add(expression);
    }
  }
  return { ids, bounds, inBounds };
};
