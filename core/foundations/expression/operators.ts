import { type JsonValue, problemOf, timeRule } from '../wire/index.ts';
import { fields, type Loc, list, listOf, Problem, required } from './arguments.ts';
import {
  type Comparison,
  type Conversion,
  comparisons,
  conversions,
  type Expression,
  isTime,
  type RecordKind,
  toPath,
} from './model.ts';
import { pathProblem } from './path-problem.ts';
import { microsOf } from './values.ts';

/** Parses an operator's argument. `operand` parses an operand within it, at the steps to it. */
export type ParseArguments = (
  argument: unknown,
  loc: Loc,
  operand: (json: unknown, ...steps: string[]) => Expression,
) => Expression;

/**
 * Refuses a literal that is compared with a time and is none: it would never match. Null asks for a
 * time that is missing.
 */
const requireTime = (kind: RecordKind, time: Expression, other: Expression, loc: Loc): void => {
  if (other.kind !== 'literal' || other.value === null || !isTime(kind, time)) return;
  if (microsOf(other.value) !== undefined) return;
  const msg = `${timeRule}, or seconds since 1970: it is compared with a time`;
  throw new Problem([...loc, '$literal'], msg, 'datetime_parsing');
};

const comparison =
  (kind: RecordKind, operator: Comparison): ParseArguments =>
  (argument, loc, operand) => {
    const operands = listOf(2, argument, loc, '[{"$getField": "op_name"}, {"$literal": "answer"}]');
    const [left, right] = [operand(operands[0], '0'), operand(operands[1], '1')];
    requireTime(kind, left, right, [...loc, '1']);
    requireTime(kind, right, left, [...loc, '0']);
    return { kind: 'compare', operator, left, right };
  };

const junction =
  (kind: 'and' | 'or'): ParseArguments =>
  (argument, loc, operand) => ({
    kind,
    operands: list(argument, loc).map((item, i) => operand(item, String(i))),
  });

const isIn =
  (kind: RecordKind): ParseArguments =>
  (argument, loc, operand) => {
    const operands = listOf(2, argument, loc, '[operand, [operands]]');
    const input = operand(operands[0], '0');
    const options = list(operands[1], [...loc, '1']).map((json, i) => {
      const option = operand(json, '1', String(i));
      requireTime(kind, input, option, [...loc, '1', String(i)]);
      return option;
    });
    return { kind: 'in', input, options };
  };

const parseContains: ParseArguments = (argument, loc, operand) => {
  const record = fields(argument, loc, ['input', 'substr', 'case_insensitive']);
  const { case_insensitive: caseInsensitive = false } = record;
  if (typeof caseInsensitive !== 'boolean' && caseInsensitive !== null)
    throw new Problem([...loc, 'case_insensitive'], 'should be true or false', 'bool_type');
  return {
    kind: 'contains',
    input: operand(required(record, 'input', loc), 'input'),
    substr: operand(required(record, 'substr', loc), 'substr'),
    caseInsensitive: caseInsensitive ?? false,
  };
};

const isConversion = (to: unknown): to is Conversion => conversions.some((known) => known === to);

const parseConvert: ParseArguments = (argument, loc, operand) => {
  const record = fields(argument, loc, ['input', 'to']);
  const to = required(record, 'to', loc);
  if (!isConversion(to))
    throw new Problem([...loc, 'to'], `should be one of ${conversions.join(', ')}`, 'literal_error');
  return { kind: 'convert', input: operand(required(record, 'input', loc), 'input'), to };
};

const parseLiteral: ParseArguments = (value, loc) => {
  const problem = problemOf(value);
  if (problem) throw new Problem(loc, `holds a value that is ${problem}`, 'value_error');
  return { kind: 'literal', value: value as JsonValue };
};

/** The parsers of all operators for a kind of records, by the operator's name. */
export const operatorsOf = (kind: RecordKind): ReadonlyMap<string, ParseArguments> =>
  new Map<string, ParseArguments>([
    ['$and', junction('and')],
    ['$or', junction('or')],
    [
      '$not',
      (argument, loc, operand) => ({
        kind: 'not',
        operand: operand(listOf(1, argument, loc, '[operation]')[0], '0'),
      }),
    ],
    ...comparisons.map((operator): [string, ParseArguments] => [operator, comparison(kind, operator)]),
    ['$in', isIn(kind)],
    ['$contains', parseContains],
    ['$convert', parseConvert],
    ['$literal', parseLiteral],
    [
      '$getField',
      (path, loc) => {
        const problem = pathProblem(kind, path);
        if (problem) throw new Problem(loc, problem.msg, problem.type);
        return { kind: 'field', path: toPath(String(path)) };
      },
    ],
  ]);
