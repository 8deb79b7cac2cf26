import { includes } from '../includes.ts';
import { compareNumbers, ExactNumber, isNumber, type JsonValue } from '../wire/index.ts';
import { type Comparison, type Expression, type FieldPath, isTime, type RecordKind } from './tree.ts';
import { compareScalars, convert, equal, isTruthy, toMicros, type Value } from './values.ts';

/** Makes what reads a path's value from a record. */
export type Reader<R> = (path: FieldPath) => (record: R) => Value;

type Evaluate<R> = (record: R) => Value;

/**
 * Compiles an expression into a test of a record. A comparison with a missing value is false,
 * except that `$eq` with a null literal asks for it. What has no order is neither above nor below.
 * A time is compared with a literal as a time.
 */
export const compile = <R>(
  kind: RecordKind,
  expression: Expression,
  read: Reader<R>,
): ((record: R) => boolean) => {
  const evaluate = compileValue(kind, expression, read);
  return (record) => isTruthy(evaluate(record));
};

const compileValue = <R>(kind: RecordKind, expression: Expression, read: Reader<R>): Evaluate<R> => {
  const test = (operand: Expression) => compile(kind, operand, read);
  const value = (operand: Expression) => compileValue(kind, operand, read);
  switch (expression.kind) {
    case 'literal': {
      const { value: literal } = expression;
      return () => literal;
    }
    case 'field':
      return read(expression.path);
    case 'convert': {
      const input = value(expression.input);
      return (record) => convert(input(record), expression.to);
    }
    case 'and': {
      const tests = expression.operands.map(test);
      return (record) => tests.every((holds) => holds(record));
    }
    case 'or': {
      const tests = expression.operands.map(test);
      return (record) => tests.some((holds) => holds(record));
    }
    case 'not': {
      const holds = test(expression.operand);
      return (record) => !holds(record);
    }
    case 'compare':
      return compileComparison(kind, expression, read);
    case 'in':
      return compileIn(kind, expression, read);
    case 'contains': {
      const input = value(expression.input);
      const substr = value(expression.substr);
      return (record) => contains(input(record), substr(record), expression.caseInsensitive);
    }
  }
};

/**
 * A literal that is compared with a time, in microseconds.
 *
 * @returns undefined if it is no time
 */
export const timeLiteral = (kind: RecordKind, time: Expression, other: Expression): number | undefined =>
  other.kind === 'literal' && isTime(kind, time) ? toMicros(other.value) : undefined;

const compileComparison = <R>(
  kind: RecordKind,
  comparison: Extract<Expression, { kind: 'compare' }>,
  read: Reader<R>,
): Evaluate<R> => {
  const { operator, left, right, missingIsEmpty = false } = comparison;
  const holds = relations[operator];
  const a = compileValue(kind, left, read);
  const b = compileValue(kind, right, read);
  const rightTime = timeLiteral(kind, left, right);
  if (rightTime !== undefined) return (record) => holds(toMicros(a(record)), rightTime);
  const leftTime = timeLiteral(kind, right, left);
  if (leftTime !== undefined) return (record) => holds(leftTime, toMicros(b(record)));
  const isNull = (expression: Expression) => expression.kind === 'literal' && expression.value === null;
  if (operator === '$eq' || operator === '$ne') {
    const other = isNull(right) ? a : isNull(left) ? b : undefined;
    if (other) return (record) => ((other(record) ?? null) === null) === (operator === '$eq');
  }
  const orEmpty = (operand: Expression, evaluate: Evaluate<R>): Evaluate<R> =>
    missingIsEmpty && operand.kind === 'field' ? (record) => evaluate(record) ?? '' : evaluate;
  const x = orEmpty(left, a);
  const y = orEmpty(right, b);
  if (!isByText(comparison)) return (record) => holds(x(record), y(record));
  return (record) => holds(scalarAsText(x(record)), scalarAsText(y(record)));
};

/** Whether a comparison is one of a field with a text literal, and takes scalars as texts. */
const isByText = ({
  operator,
  left,
  right,
  equalAsText = false,
}: Extract<Expression, { kind: 'compare' }>): boolean => {
  if (!equalAsText || (operator !== '$eq' && operator !== '$ne')) return false;
  const isText = (side: Expression) => side.kind === 'literal' && typeof side.value === 'string';
  return (left.kind === 'field' && isText(right)) || (right.kind === 'field' && isText(left));
};

/** A number or a boolean as it is in JSON; any other value as it is. */
const scalarAsText = (value: Value): Value =>
  isNumber(value) || typeof value === 'boolean' ? convert(value, 'string') : value;

const isThere = (value: Value): value is Exclude<JsonValue, null> => value !== undefined && value !== null;

const ordered =
  (test: (order: number) => boolean) =>
  (a: Value, b: Value): boolean => {
    const order = isThere(a) && isThere(b) ? compareScalars(a, b) : undefined;
    return order !== undefined && test(order);
  };

const relations: Readonly<Record<Comparison, (a: Value, b: Value) => boolean>> = {
  $eq: (a, b) => isThere(a) && isThere(b) && equal(a, b),
  $ne: (a, b) => isThere(a) && isThere(b) && !equal(a, b),
  $gt: ordered((order) => order > 0),
  $gte: ordered((order) => order >= 0),
  $lt: ordered((order) => order < 0),
  $lte: ordered((order) => order <= 0),
};

type Scalar = string | number | boolean;
const isScalarLiteral = (
  expression: Expression,
): expression is Extract<Expression, { kind: 'literal' }> & { readonly value: Scalar } =>
  expression.kind === 'literal' && ['string', 'number', 'boolean'].includes(typeof expression.value);

/** The double that equals an exact number; undefined for an integer that no double has. */
const toDouble = (value: ExactNumber): number | undefined => {
  const double = value.valueOf();
  return compareNumbers(value, double) === 0 ? double : undefined;
};

const compileIn = <R>(
  kind: RecordKind,
  { input, options, ...looseness }: Extract<Expression, { kind: 'in' }>,
  read: Reader<R>,
): Evaluate<R> => {
  // Lists of ids are long, so a value is looked up in a set.
  const literals = isTime(kind, input) ? [] : options.filter(isScalarLiteral);
  const set = new Set<Value>(literals.map(({ value }) => value));
  const others = options
    .filter((option) => isTime(kind, input) || !isScalarLiteral(option))
    .map((right) =>
      compileComparison(kind, { ...looseness, kind: 'compare', operator: '$eq', left: input, right }, read),
    );
  const value = compileValue(kind, input, read);
  const absent = looseness.missingIsEmpty && input.kind === 'field' ? '' : undefined;
  const byText = looseness.equalAsText && input.kind === 'field';
  return (record) => {
    const found = value(record) ?? absent;
    const known = found instanceof ExactNumber ? toDouble(found) : found;
    return (
      set.has(known) ||
      (byText && set.has(scalarAsText(found))) ||
      others.some((isEqual) => isEqual(record) === true)
    );
  };
};

/** Whether a text contains another, or a list contains an equal item. */
const contains = (input: Value, sought: Value, caseInsensitive: boolean): boolean => {
  if (Array.isArray(input)) return isThere(sought) && input.some((item) => equal(item, sought));
  if (typeof input !== 'string' || typeof sought !== 'string') return false;
  return caseInsensitive ? includes(input.toLowerCase(), sought.toLowerCase()) : includes(input, sought);
};
