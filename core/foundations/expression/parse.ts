import { type ErrorDetail, isJsonObject, plainNumber } from '../wire/index.ts';
import { fields, type Loc, Problem, required } from './arguments.ts';
import type { Expression, RecordKind } from './model.ts';
import { operatorsOf } from './operators.ts';

/** How deep operators may be nested. Evaluating them takes a stack. */
const maxNested = 1000;
/**
 * How many operators there may be. Each is evaluated for each record. Options of `$in` do not
 * count.
 */
const maxOperators = 5000;
type Parse = (json: unknown, loc: Loc, depth: number) => Expression;

/** An operator and its argument: an operand is an object with one key. */
const operatorOf = (
  json: unknown,
  loc: Loc,
  known: readonly string[],
): [operator: string, argument: unknown] => {
  if (!isJsonObject(json)) {
    const mend =
      typeof plainNumber(json) === 'object' || json === undefined
        ? ''
        : ` such as {"$literal": ${JSON.stringify(json).slice(0, 100)}}`;
    throw new Problem(loc, `should be an object with one operator${mend}`, 'dict_type');
  }
  const [operator, ...others] = Object.keys(json);
  if (operator === undefined || others.length > 0)
    throw new Problem(
      loc,
      `should have one operator, not ${others.length > 0 ? others.length + 1 : 'none'}`,
      'value_error',
    );
  if (!known.includes(operator))
    throw new Problem(
      [...loc, operator.slice(0, 200)],
      `there is no operator ${operator.slice(0, 200)}; there are ${known.join(', ')}`,
      'value_error',
    );
  return [operator, json[operator]];
};

const parser = (kind: RecordKind): Parse => {
  const operators = operatorsOf(kind);
  const known = [...operators.keys()];
  let count = 0;
  const parse: Parse = (json, loc, depth) => {
    const [operator, argument] = operatorOf(json, loc, known);
    const below = [...loc, operator];
    if (operator !== '$literal' && ++count > maxOperators)
      throw new Problem(below, `should be at most ${maxOperators} operators in all`, 'too_long');
    if (depth > maxNested)
      throw new Problem(below, `should nest operators at most ${maxNested} deep`, 'recursion_loop');
    const toExpression = operators.get(operator);
    if (!toExpression) throw new Error(`no parser for ${operator}`);
    return toExpression(argument, below, (operand, ...steps) =>
      parse(operand, [...below, ...steps], depth + 1),
    );
  };
  return parse;
};

/**
 * An expression, or what is wrong with it. The location starts at the query, e.g. `['$expr',
 * '$and', '0']`.
 */
export type Parsed = { readonly expression: Expression } | { readonly problem: ErrorDetail };

/** Parses `{"$expr": <operation>}`. */
export const parseQuery = (kind: RecordKind, json: unknown): Parsed => {
  try {
    const root = fields(json, [], ['$expr']);
    return { expression: parser(kind)(required(root, '$expr', []), ['$expr'], 1) };
  } catch (error) {
    if (error instanceof Problem) return { problem: error.detail };
    throw error;
  }
};
