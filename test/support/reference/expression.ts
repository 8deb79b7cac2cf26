import { type JsonObject, type JsonValue, parseTime } from '../../../foundations/wire/index.ts';
import { valueAt } from './paths.ts';
import {
  type Conversion,
  compareScalars,
  convert,
  isEqual,
  isMissing,
  isTrue,
  type Value,
} from './values.ts';

type Pair = readonly [Operand, Operand];

/** An operand or operation of `query`, as clients write it. */
export type Operand =
  | { readonly $literal: JsonValue }
  | { readonly $getField: string }
  | { readonly $convert: { readonly input: Operand; readonly to: Conversion } }
  | { readonly $and: readonly Operand[] }
  | { readonly $or: readonly Operand[] }
  | { readonly $not: readonly [Operand] }
  | { readonly $eq: Pair }
  | { readonly $ne: Pair }
  | { readonly $gt: Pair }
  | { readonly $gte: Pair }
  | { readonly $lt: Pair }
  | { readonly $lte: Pair }
  | { readonly $in: readonly [Operand, readonly Operand[]] }
  | { readonly $contains: Contains };

/** What `$contains` takes. */
export interface Contains {
  readonly input: Operand;
  readonly substr: Operand;
  readonly case_insensitive?: boolean | null;
}

const isNullLiteral = (operand: Operand): boolean => '$literal' in operand && operand.$literal === null;

const isTimeColumn = (operand: Operand): boolean =>
  '$getField' in operand && ['started_at', 'ended_at'].includes(operand.$getField);

/**
 * The time that a literal stands for, in microseconds since 1970: ISO 8601 text, or seconds since
 * 1970.
 */
const toTime = (operand: Operand): number | undefined => {
  if (!('$literal' in operand)) return undefined;
  if (typeof operand.$literal === 'number') return Math.round(operand.$literal * 1e6);
  return typeof operand.$literal === 'string' ? parseTime(operand.$literal) : undefined;
};

/**
 * The two values that a comparison compares: times, in microseconds, where a time column meets a
 * literal that is a time.
 */
const sides = ([left, right]: Pair, call: JsonObject): [Value, Value] => {
  const values: [Value, Value] = [evaluate(left, call), evaluate(right, call)];
  if (isTimeColumn(left) && toTime(right) !== undefined) return [parseTime(String(values[0])), toTime(right)];
  if (isTimeColumn(right) && toTime(left) !== undefined) return [toTime(left), parseTime(String(values[1]))];
  return values;
};

/**
 * Whether both sides are there and equal (`$eq`) or there and different (`$ne`); a null literal
 * equals what is missing, and only that.
 */
const compareEqual = (pair: Pair, call: JsonObject): '$eq' | '$ne' | undefined => {
  const [left, right] = sides(pair, call);
  if (pair.some(isNullLiteral)) return isMissing(left) && isMissing(right) ? '$eq' : '$ne';
  if (isMissing(left) || isMissing(right)) return undefined;
  return isEqual(left, right) ? '$eq' : '$ne';
};

const contains = ({ input, substr, case_insensitive }: Contains, call: JsonObject): boolean => {
  const whole = evaluate(input, call);
  const part = evaluate(substr, call);
  if (isMissing(whole) || isMissing(part)) return false;
  if (Array.isArray(whole)) return whole.some((item) => isEqual(item, part));
  if (typeof whole !== 'string' || typeof part !== 'string') return false;
  return case_insensitive ? whole.toLowerCase().includes(part.toLowerCase()) : whole.includes(part);
};

const holds = (operand: Operand, call: JsonObject): boolean => isTrue(evaluate(operand, call));

const compareOrder = (pair: Pair, call: JsonObject): number => compareScalars(...sides(pair, call));

/**
 * The value of an operand for a call; that of an operation is true or false.
 *
 * @param call all its columns
 * @throws RangeError where a path begins with no column, TypeError where the operator is unknown
 */
export const evaluate = (operand: Operand, call: JsonObject): Value => {
  if ('$literal' in operand) return operand.$literal;
  if ('$getField' in operand) return valueAt(call, operand.$getField);
  if ('$convert' in operand) return convert(evaluate(operand.$convert.input, call), operand.$convert.to);
  if ('$and' in operand) return operand.$and.every((inner) => holds(inner, call));
  if ('$or' in operand) return operand.$or.some((inner) => holds(inner, call));
  if ('$not' in operand) return !holds(operand.$not[0], call);
  if ('$eq' in operand) return compareEqual(operand.$eq, call) === '$eq';
  if ('$ne' in operand) return compareEqual(operand.$ne, call) === '$ne';
  if ('$gt' in operand) return compareOrder(operand.$gt, call) > 0;
  if ('$gte' in operand) return compareOrder(operand.$gte, call) >= 0;
  if ('$lt' in operand) return compareOrder(operand.$lt, call) < 0;
  if ('$lte' in operand) return compareOrder(operand.$lte, call) <= 0;
  if ('$in' in operand) {
    const [one, others] = operand.$in;
    return others.some((other) => compareEqual([one, other], call) === '$eq');
  }
  if ('$contains' in operand) return contains(operand.$contains, call);
  throw new TypeError(`there is no operator ${Object.keys(operand)}`);
};

/** Whether a call matches a `query`. */
export const matchesQuery = ({ $expr }: { readonly $expr: Operand }, call: JsonObject): boolean =>
  holds($expr, call);
