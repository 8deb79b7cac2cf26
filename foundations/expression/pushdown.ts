import { timeLiteral } from './evaluate.ts';
import type { Expression, RecordKind } from './tree.ts';

/** Bounds on a time in microseconds, inclusive; absent where there is none. */
export interface Bounds {
  readonly from?: number;
  readonly to?: number;
}

/** How records of a kind can be looked up. */
interface Lookup<F extends string> {
  /** The fields by whose values they can be found. */
  readonly fields: readonly F[];
  /** The field with the time that they are in order of. */
  readonly time: string;
}

/** Where records are, as far as expressions that must all hold say. */
export interface Pushed<F extends string> {
  /** By field, the values of which the record must have one. */
  readonly ids: ReadonlyMap<F, readonly string[]>;
  readonly bounds: Bounds;
  /** The expressions that the bounds express in full. */
  readonly inBounds: ReadonlySet<Expression>;
}

const findLookupField = <F extends string>(fields: readonly F[], expression: Expression): F | undefined => {
  if (expression.kind !== 'field' || expression.path.steps.length > 0) return undefined;
  const { field } = expression.path;
  return fields.find((known) => known === field);
};

const texts = (expressions: readonly Expression[]): string[] | undefined => {
  // An id is a text. Anything else matches nothing and need not be looked up.
  if (!expressions.every(({ kind }) => kind === 'literal')) return undefined;
  return expressions.flatMap((literal) =>
    literal.kind === 'literal' && typeof literal.value === 'string' ? [literal.value] : [],
  );
};

/** The ids of which an expression requires one, and of which field. */
const requiredIds = <F extends string>(
  fields: readonly F[],
  expression: Expression,
): [F, string[]] | undefined => {
  if (expression.kind === 'in') {
    const field = findLookupField(fields, expression.input);
    // A null among the options matches records without a value.
    const hasNull = expression.options.some((option) => option.kind === 'literal' && option.value === null);
    const ids = hasNull ? undefined : texts(expression.options);
    return field && ids && [field, ids];
  }
  if (expression.kind !== 'compare' || expression.operator !== '$eq') return undefined;
  for (const [field, value] of [
    [expression.left, expression.right],
    [expression.right, expression.left],
  ] as const) {
    const name = findLookupField(fields, field);
    if (name && value.kind === 'literal' && typeof value.value === 'string') return [name, [value.value]];
  }
  return undefined;
};

const latest = Number.MAX_SAFE_INTEGER;
const clamp = (micros: number): number => Math.min(Math.max(micros, -latest), latest);

/** What an operator says of the time on its left, given the whole microseconds on its right. */
const boundsByOperator: Readonly<Record<string, (micros: number) => Bounds>> = {
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

const bounded = (kind: RecordKind, time: string, expression: Expression): Bounds | undefined => {
  if (expression.kind !== 'compare') return undefined;
  const { operator, left, right } = expression;
  const isTime = (side: Expression): boolean => side.kind === 'field' && side.path.text === time;
  const onRight = isTime(left) ? timeLiteral(kind, left, right) : undefined;
  if (onRight !== undefined) return boundsByOperator[operator]?.(onRight);
  const onLeft = isTime(right) ? timeLiteral(kind, right, left) : undefined;
  return onLeft === undefined ? undefined : boundsByOperator[mirrored[operator] ?? '']?.(onLeft);
};

const both = (a: Bounds, b: Bounds): Bounds => ({
  ...narrower('from', Math.max, a, b),
  ...narrower('to', Math.min, a, b),
});

const narrower = (
  side: 'from' | 'to',
  choose: (a: number, b: number) => number,
  a: Bounds,
  b: Bounds,
): Bounds => {
  const x = a[side];
  const y = b[side];
  if (x === undefined && y === undefined) return {};
  return { [side]: x === undefined ? y : y === undefined ? x : choose(x, y) };
};

/** The values that are in both lists, each once; null stands for every value. */
export const intersect = (
  a: readonly string[] | null,
  b: readonly string[] | null,
): readonly string[] | null => {
  if (a === null || b === null) return a ?? b;
  const set = new Set(b);
  return [...new Set(a)].filter((value) => set.has(value));
};

/** Finds what expressions say of where records are. All of them must hold. */
export const pushDown = <F extends string>(
  kind: RecordKind,
  { fields, time }: Lookup<F>,
  expressions: readonly Expression[],
): Pushed<F> => {
  const ids = new Map<F, readonly string[]>();
  const inBounds = new Set<Expression>();
  let bounds: Bounds = {};
  for (const expression of expressions) {
    const [field, values] = requiredIds(fields, expression) ?? [];
    // The empty text may stand for no value, and there is no looking that up.
    const isOfMissing = 'missingIsEmpty' in expression && expression.missingIsEmpty && values?.includes('');
    if (field && values && !isOfMissing) ids.set(field, intersect(ids.get(field) ?? null, values) ?? []);
    const more = bounded(kind, time, expression);
    if (more) {
      bounds = both(bounds, more);
      inBounds.add(expression);
    }
  }
  return { ids, bounds, inBounds };
};
