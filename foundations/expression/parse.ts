import * as z from 'zod/mini';
import {
  type ErrorDetail,
  findProblem,
  isJsonObject,
  type JsonValue,
  plainNumber,
  timeRule,
} from '../wire/index.ts';
import { documentedList, field, nullish } from '../wire/schema.ts';
import {
  type Comparison,
  type Conversion,
  comparisons,
  conversions,
  type Expression,
  isTime,
  type RecordKind,
  toPath,
} from './tree.ts';
import { type SortKey, toMicros } from './values.ts';

/** How deep operators may be nested. Evaluating them takes a stack. */
const maxNested = 1000;
/**
 * How many operators there may be. Each is evaluated for each record. Options of `$in` do not
 * count.
 */
const maxOperators = 5000;
type Parse = (json: unknown, loc: Loc, depth: number) => Expression;

/** An operator and its argument: an operand is an object with one key. */
const readOperator = (
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
  const operators = operatorParsers(kind);
  const known = [...operators.keys()];
  let count = 0;
  const parse: Parse = (json, loc, depth) => {
    const [operator, argument] = readOperator(json, loc, known);
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
type Parsed = { readonly expression: Expression } | { readonly problem: ErrorDetail };

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

/** Parses an operator's argument. `operand` parses an operand within it, at the steps to it. */
type ParseArguments = (
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
  if (toMicros(other.value) !== undefined) return;
  const msg = `${timeRule}, or seconds since 1970: it is compared with a time`;
  throw new Problem([...loc, '$literal'], msg, 'datetime_parsing');
};

const comparison =
  (kind: RecordKind, operator: Comparison): ParseArguments =>
  (argument, loc, operand) => {
    const operands = readList(2, argument, loc, '[{"$getField": "op_name"}, {"$literal": "answer"}]');
    const left = operand(operands[0], '0');
    const right = operand(operands[1], '1');
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
    const operands = readList(2, argument, loc, '[operand, [operands]]');
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
  const problem = findProblem(value);
  if (problem) throw new Problem(loc, `holds a value that is ${problem}`, 'value_error');
  return { kind: 'literal', value: value as JsonValue };
};

/** The parsers of all operators for a kind of records, by the operator's name. */
const operatorParsers = (kind: RecordKind): ReadonlyMap<string, ParseArguments> =>
  new Map<string, ParseArguments>([
    ['$and', junction('and')],
    ['$or', junction('or')],
    [
      '$not',
      (argument, loc, operand) => ({
        kind: 'not',
        operand: operand(readList(1, argument, loc, '[operation]')[0], '0'),
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

/** What is wrong with an expression, and where, from its root. */
class Problem extends Error {
  readonly detail: ErrorDetail;

  constructor(loc: readonly string[], msg: string, type: string) {
    super(msg);
    this.detail = { loc, msg, type };
  }
}

/** Where something stands, from the root of its expression. */
type Loc = readonly string[];

const isList = (json: unknown): json is unknown[] => Array.isArray(json);

/** @throws Problem if it is no list */
const list = (json: unknown, loc: Loc): unknown[] => {
  if (isList(json)) return json;
  throw new Problem(loc, 'should be a list of operands', 'list_type');
};

/** @throws Problem if it is no list of this length; the message has the example */
const readList = (length: number, json: unknown, loc: Loc, example: string): unknown[] => {
  const items = list(json, loc);
  if (items.length === length) return items;
  throw new Problem(
    loc,
    `should be a list of ${length}: ${example}`,
    items.length < length ? 'too_short' : 'too_long',
  );
};

/** @throws Problem if it is no object, or has other fields than those */
const fields = (json: unknown, loc: Loc, known: readonly string[]): Record<string, unknown> => {
  if (!isJsonObject(json))
    throw new Problem(loc, `should be an object with ${known.join(', ')}`, 'dict_type');
  const extra = Object.keys(json).find((key) => !known.includes(key));
  if (extra !== undefined)
    throw new Problem([...loc, extra.slice(0, 200)], 'there is no such field', 'extra_forbidden');
  return json;
};

/** @throws Problem if the record has no such field */
const required = (record: Record<string, unknown>, key: string, loc: Loc): unknown => {
  if (Object.hasOwn(record, key)) return record[key];
  throw new Problem([...loc, key], 'this field is required', 'missing');
};

/** How long a path may be, in characters. Finding it takes the square of that for each record. */
export const maxPath = 512;

/** Checks a dotted path; undefined if it is good. */
const pathProblem = (
  kind: Pick<RecordKind, 'fields' | 'nested' | 'pathRule'>,
  path: unknown,
): Omit<ErrorDetail, 'loc'> | undefined => {
  if (typeof path !== 'string') return { msg: 'should be a dotted path, as a string', type: 'string_type' };
  if (path.length > maxPath)
    return { msg: `should be at most ${maxPath} characters`, type: 'string_too_long' };
  const { field, steps } = toPath(path);
  const nested = kind.nested.join(', ');
  if (!kind.fields.includes(field)) {
    const below = nested && `, and dotted paths into ${nested}`;
    return {
      msg: `there is no such field; the fields are ${kind.fields.join(', ')}${below}`,
      type: 'value_error',
    };
  }
  if (steps.length > 0 && !kind.nested.includes(field))
    return { msg: `there is nothing below ${field}: leave out what follows it`, type: 'value_error' };
  const msg = kind.pathRule?.(toPath(path));
  return msg === undefined ? undefined : { msg, type: 'value_error' };
};

/** Which form of the query language a schema takes, and over which records. */
interface Language {
  readonly part: 'Query' | 'Path';
  readonly kind: PathKind;
}

/** What must be known of records for paths into them. */
export type PathKind = Pick<RecordKind, 'name' | 'fields' | 'nested' | 'pathRule'>;

/** The schemas that take the query language, for the OpenAPI document. Parsing does not use it. */
export const languages = z.registry<Language>();

/** The schema of a request's `query`: `{"$expr": <operation>}` over records of a kind. */
const querySchema = (kind: RecordKind) =>
  z
    .pipe(
      z.unknown(),
      z.transform((json, context): Expression => {
        const parsed = parseQuery(kind, json);
        if ('expression' in parsed) return parsed.expression;
        const { loc, msg, type } = parsed.problem;
        context.issues.push({ code: 'custom', message: msg, params: { type }, path: [...loc], input: json });
        return z.NEVER;
      }),
    )
    .register(languages, { part: 'Query', kind });

/** A dotted path into records of a kind. */
export const pathSchema = (kind: PathKind) =>
  z
    .string()
    .check(
      z.check(({ value, issues }) => {
        const problem = pathProblem(kind, value);
        if (problem)
          issues.push({ code: 'custom', message: problem.msg, params: { type: problem.type }, input: value });
      }),
    )
    .register(languages, { part: 'Path', kind });

/** More keys than this would decide nothing. */
const maxKeys = 50;

/**
 * The schema of a request's `sort_by`: `[{field, direction}]`, by fields of a kind of records and
 * dotted paths into them.
 */
export const sortSchema = (kind: PathKind) =>
  z.pipe(
    documentedList(
      z
        .array(
          z.strictObject({
            field: field(pathSchema(kind), 'What to sort by.'),
            direction: field(z.enum(['asc', 'desc']), 'Ascending or descending.'),
          }),
        )
        .check(
          z.refine((keys) => keys.length <= maxKeys, {
            error: `should be at most ${maxKeys} keys`,
            params: { type: 'too_long' },
          }),
        ),
      maxKeys,
    ),
    z.transform((keys): SortKey[] =>
      keys.map(({ field, direction }) => ({ path: toPath(field), descending: direction === 'desc' })),
    ),
  );

/** The {@link querySchema} of a field that may be missing or null. */
export const optionalQuery = (kind: RecordKind) => nullish(querySchema(kind));
