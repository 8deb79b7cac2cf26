import { invalid, malformed, StoreError, unsupported } from './errors.ts';
import {
  addNumbers,
  attribute,
  beginsWith,
  compareValues,
  type Item,
  isObject,
  isOrdered,
  nameProblem,
  sameValue,
  toSizedValue,
  type Value,
} from './values.ts';

/*
 * The expressions of DynamoDB's API, as far as the service uses them:
 *
 *   condition   attribute_exists(#n), attribute_not_exists(#n), begins_with(#n, :v), comparisons of
 *               an attribute with a value, BETWEEN, AND, OR and parentheses
 *   key         #p = :p, also with a comparison of the sort key, BETWEEN or begins_with
 *   update      SET #n = :v and #n = if_not_exists(#n, :v), ADD #n :v, REMOVE #n
 *   projection  names of attributes
 *
 * All else is refused by name.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html
 */

/** The parameters of requests that are expressions. */
type Kind =
  | 'ConditionExpression'
  | 'FilterExpression'
  | 'KeyConditionExpression'
  | 'ProjectionExpression'
  | 'UpdateExpression';

interface Token {
  readonly text: string;
  readonly at: number;
}

const tokens = /\s*(?:([#:]?[A-Za-z0-9_]+)|(<=|>=|<>|[=<>(),.[\]+-]))/y;

const tokenize = (kind: Kind, source: string): Token[] => {
  const found: Token[] = [];
  const end = source.trimEnd().length;
  tokens.lastIndex = 0;
  while (tokens.lastIndex < end) {
    const from = tokens.lastIndex;
    const match = tokens.exec(source);
    const text = match?.[1] ?? match?.[2];
    if (match === null || text === undefined)
      throw invalid(`Invalid ${kind}: Syntax error; token: "${source.slice(from).trim().charAt(0)}"`);
    found.push({ text, at: match.index + match[0].length - text.length });
  }
  return found;
};

/**
 * DynamoDB's limits of expressions:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-expression-parameters
 */
const maxExpressionBytes = 4096;
const maxOperators = 300;
const maxPlaceholderLength = 255;
const maxValuesBytes = 2 * 1024 * 1024;

/** The expressions of which DynamoDB says how large they are. */
const saysSize: ReadonlySet<Kind> = new Set([
  'ConditionExpression',
  'FilterExpression',
  'KeyConditionExpression',
]);

/** @throws StoreError if a key of a map of placeholders has another form, or is too long */
const requirePlaceholder = (parameter: string, sign: '#' | ':', key: string): void => {
  if (!/^[#:]\w+$/.test(key) || !key.startsWith(sign))
    throw invalid(`${parameter} contains invalid key: Syntax error; key: "${key}"`);
  if (key.length <= maxPlaceholderLength) return;
  const size = sign === '#' ? ` size of key: ${key.length}` : '';
  throw invalid(
    `${parameter} contains invalid key: The expression attribute map contains a key that is too long;${size}`,
  );
};

/** @throws StoreError if a placeholder stands for what is no name of an attribute */
const requireAttributeName = (key: string, name: string): void => {
  const problem = nameProblem(name);
  if (problem !== undefined)
    throw invalid(`ExpressionAttributeNames contains invalid value: ${problem} for key ${key}`);
};

/** The value behind a placeholder, with its size. Errors of the value say which it is. */
const readValue = (key: string, value: unknown) => {
  try {
    return toSizedValue(value);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'ValidationException') throw error;
    throw invalid(`ExpressionAttributeValues contains invalid value: ${error.message} for key ${key}`);
  }
};

/** The names and values that stand behind the placeholders of a request's expressions. */
export class Placeholders {
  readonly #names: ReadonlyMap<string, string>;
  readonly #values: ReadonlyMap<string, Value>;
  readonly #usedNames = new Set<string>();
  readonly #usedValues = new Set<string>();

  /**
   * @param names `ExpressionAttributeNames` of the request
   * @param values `ExpressionAttributeValues` of the request
   * @throws StoreError if one is not as it should be
   */
  constructor(names: unknown, values: unknown) {
    if (names !== undefined && !isObject(names)) throw malformed('ExpressionAttributeNames is no object');
    if (values !== undefined && !isObject(values)) throw malformed('ExpressionAttributeValues is no object');
    this.#names = new Map(
      Object.entries(names ?? {}).map(([key, name]) => {
        if (typeof name !== 'string') throw malformed(`the name ${key} is no text`);
        requirePlaceholder('ExpressionAttributeNames', '#', key);
        requireAttributeName(key, name);
        return [key, name];
      }),
    );
    let bytes = 0;
    this.#values = new Map(
      Object.entries(values ?? {}).map(([key, given]) => {
        requirePlaceholder('ExpressionAttributeValues', ':', key);
        const { value, size } = readValue(key, given);
        bytes += Buffer.byteLength(key) + size;
        return [key, value];
      }),
    );
    if (bytes > maxValuesBytes) throw invalid('ExpressionAttributeValues exceeds max size');
    if (names !== undefined && this.#names.size === 0)
      throw invalid('ExpressionAttributeNames must not be empty');
    if (values !== undefined && this.#values.size === 0)
      throw invalid('ExpressionAttributeValues must not be empty');
  }

  /** The name behind a placeholder; undefined if the request has none. */
  name(placeholder: string): string | undefined {
    this.#usedNames.add(placeholder);
    return this.#names.get(placeholder);
  }

  /** The value behind a placeholder; undefined if the request has none. */
  value(placeholder: string): Value | undefined {
    this.#usedValues.add(placeholder);
    return this.#values.get(placeholder);
  }

  /**
   * @param hasExpressions whether the request has any expression
   * @throws StoreError if a name or value was never used
   */
  requireUsed(hasExpressions: boolean): void {
    if (!hasExpressions && this.#names.size > 0)
      throw invalid('ExpressionAttributeNames can only be specified when using expressions');
    if (!hasExpressions && this.#values.size > 0)
      throw invalid('ExpressionAttributeValues can only be specified when using expressions');
    const unused = (all: Iterable<string>, used: ReadonlySet<string>): string =>
      [...all].filter((one) => !used.has(one)).join(', ');
    const names = unused(this.#names.keys(), this.#usedNames);
    if (names)
      throw invalid(`Value provided in ExpressionAttributeNames unused in expressions: keys: {${names}}`);
    const values = unused(this.#values.keys(), this.#usedValues);
    if (values)
      throw invalid(`Value provided in ExpressionAttributeValues unused in expressions: keys: {${values}}`);
  }
}

/** A condition on an item. */
export type Condition =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Condition[] }
  | { readonly kind: 'exists'; readonly name: string }
  | { readonly kind: 'absent'; readonly name: string }
  | Comparison;

/** How an attribute is compared with values. */
export type Comparison =
  | {
      readonly kind: '=' | '<>' | '<' | '<=' | '>' | '>=' | 'begins';
      readonly name: string;
      readonly value: Value;
    }
  | { readonly kind: 'between'; readonly name: string; readonly value: Value; readonly to: Value };

const comparators = new Set(['=', '<>', '<', '<=', '>', '>=']);

const isComparator = (text: string | undefined): text is '=' | '<>' | '<' | '<=' | '>' | '>=' =>
  text !== undefined && comparators.has(text);

/** What DynamoDB has in expressions and this store has not. */
const unsupportedWords = new Set([
  'not',
  'in',
  'contains',
  'size',
  'attribute_type',
  'list_append',
  'remove',
  'delete',
]);

/** Reads the tokens of an expression from left to right. */
class Reader {
  readonly kind: Kind;
  readonly #source: string;
  readonly #tokens: readonly Token[];
  readonly #placeholders: Placeholders;
  #at = 0;
  #operators = 0;
  /** Where the contents of the parentheses begin that are open. */
  readonly #open: number[] = [];
  /** The pair of parentheses that ended last: its first token, and the one behind it. */
  #closed = { from: -1, to: -1 };

  constructor(kind: Kind, source: unknown, placeholders: Placeholders) {
    if (typeof source !== 'string') throw malformed(`${kind} is no text`);
    this.kind = kind;
    const bytes = Buffer.byteLength(source);
    if (bytes > maxExpressionBytes)
      throw this.invalid(
        `Expression size has exceeded the maximum allowed size;${saysSize.has(kind) ? ` expression size: ${bytes}` : ''}`,
      );
    this.#source = source;
    this.#placeholders = placeholders;
    this.#tokens = tokenize(kind, source);
    if (this.#tokens.length === 0) throw this.invalid('The expression can not be empty;');
  }

  /** The token at this place; undefined at the end. */
  get next(): string | undefined {
    return this.#tokens[this.#at]?.text;
  }

  invalid(message: string): StoreError {
    return invalid(`Invalid ${this.kind}: ${message}`);
  }

  /** The error for a token that makes no sense at its place. */
  unexpected(): StoreError {
    const token = this.#tokens[this.#at];
    const from = this.#tokens[Math.max(0, this.#at - 1)]?.at ?? 0;
    if (token === undefined)
      return this.invalid(`Syntax error; token: "<EOF>", near: "${this.#source.slice(from)}"`);
    if (unsupportedWords.has(token.text.toLowerCase()))
      return unsupported(`${token.text.toUpperCase()} in a ${this.kind}`);
    if (['.', '[', ']', '+', '-'].includes(token.text))
      return unsupported(`'${token.text}' in a ${this.kind}`);
    const to = this.#tokens[this.#at + 1];
    const near = this.#source.slice(from, to && to.at + to.text.length);
    return this.invalid(`Syntax error; token: "${token.text}", near: "${near}"`);
  }

  /** Counts an operator, or a function that is called. */
  #count(): void {
    this.#operators++;
    if (this.#operators > maxOperators)
      throw this.invalid(`The expression contains too many operators; operator count: ${this.#operators}`);
  }

  /** Goes on if the token is this operator. */
  takesOperator(word: 'AND' | 'OR' | 'BETWEEN'): boolean {
    if (!this.takes(word)) return false;
    this.#count();
    return true;
  }

  /** Goes on if the token is this word or sign. */
  takes(text: string): boolean {
    if (this.next?.toUpperCase() !== text.toUpperCase()) return false;
    this.#at++;
    return true;
  }

  /** Goes on if a pair of parentheses begins here. */
  opens(): boolean {
    if (!this.takes('(')) return false;
    this.#open.push(this.#at);
    return true;
  }

  /** Ends the pair of parentheses that began last. Nothing but another pair may not be in it. */
  closes(): void {
    const from = this.#open.pop();
    const { from: innerFrom, to: innerTo } = this.#closed;
    if (innerFrom === from && innerTo === this.#at)
      throw this.invalid('The expression has redundant parentheses;');
    this.expect(')');
    this.#closed = { from: (from ?? 0) - 1, to: this.#at };
  }

  expect(text: string): void {
    if (!this.takes(text)) throw this.unexpected();
  }

  /** Reads a comparator, if there is one. */
  comparator(): '=' | '<>' | '<' | '<=' | '>' | '>=' | undefined {
    const { next } = this;
    if (!isComparator(next)) return undefined;
    this.#at++;
    this.#count();
    return next;
  }

  /** Whether a function's call is at this place, which is read as far as its parenthesis. */
  calls(name: string): boolean {
    if (this.next !== name || this.#tokens[this.#at + 1]?.text !== '(') return false;
    this.#at += 2;
    this.#count();
    return true;
  }

  /**
   * Reads the name of an attribute. DynamoDB has hundreds of reserved words of two letters and more,
   * so only names of one letter may stand without a placeholder.
   */
  name(): string {
    const { next } = this;
    if (next === undefined || !/^[#A-Za-z]/.test(next) || this.#tokens[this.#at + 1]?.text === '(')
      throw this.unexpected();
    if (unsupportedWords.has(next.toLowerCase())) throw this.unexpected();
    this.#at++;
    if (next.startsWith('#')) {
      const name = this.#placeholders.name(next);
      if (name !== undefined) return name;
      throw this.invalid(
        `An expression attribute name used in the document path is not defined; attribute name: ${next}`,
      );
    }
    if (next.length > 1)
      throw unsupported(`the name ${next} in a ${this.kind}, which may be a reserved word (write a #name)`);
    return next;
  }

  /** Reads a value, which is always a placeholder. */
  value(): Value {
    const { next } = this;
    if (!next?.startsWith(':')) throw this.unexpected();
    this.#at++;
    const value = this.#placeholders.value(next);
    if (value !== undefined) return value;
    throw this.invalid(
      `An expression attribute value used in expression is not defined; attribute value: ${next}`,
    );
  }

  /** Reads a value that has an order: text, a number or bytes. */
  orderedValue(operator: string): Value {
    const value = this.value();
    if (isOrdered(value)) return value;
    throw this.invalid(
      `Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${Object.keys(value)[0]}`,
    );
  }

  end(): void {
    if (this.next !== undefined) throw this.unexpected();
  }
}

const readBetween = (reader: Reader, name: string): Comparison => {
  const value = reader.orderedValue('BETWEEN');
  reader.expect('AND');
  const to = reader.orderedValue('BETWEEN');
  const order = compareValues(value, to);
  if (order === undefined)
    throw reader.invalid('The BETWEEN operator requires same data type for lower and upper bounds');
  if (order > 0)
    throw reader.invalid(
      'The BETWEEN operator requires upper bound to be greater than or equal to lower bound',
    );
  return { kind: 'between', name, value, to };
};

const readBegins = (reader: Reader): Comparison => {
  const name = reader.name();
  reader.expect(',');
  const value = reader.value();
  if (!('S' in value || 'B' in value))
    throw reader.invalid(
      `Incorrect operand type for operator or function; operator or function: begins_with, operand type: ${Object.keys(value)[0]}`,
    );
  reader.expect(')');
  return { kind: 'begins', name, value };
};

const readComparison = (reader: Reader): Comparison => {
  if (reader.calls('begins_with')) return readBegins(reader);
  const name = reader.name();
  if (reader.takesOperator('BETWEEN')) return readBetween(reader, name);
  const kind = reader.comparator();
  if (kind === undefined) throw reader.unexpected();
  return { kind, name, value: kind === '=' || kind === '<>' ? reader.value() : reader.orderedValue(kind) };
};

const readOne = (reader: Reader): Condition => {
  if (reader.opens()) {
    const inner = readEither(reader);
    reader.closes();
    return inner;
  }
  for (const [call, kind] of [
    ['attribute_exists', 'exists'],
    ['attribute_not_exists', 'absent'],
  ] as const)
    if (reader.calls(call)) {
      const name = reader.name();
      reader.expect(')');
      return { kind, name };
    }
  return readComparison(reader);
};

const readSeveral = (
  reader: Reader,
  word: 'AND' | 'OR',
  part: (reader: Reader) => Condition,
): Condition[] => {
  const parts = [part(reader)];
  while (reader.takesOperator(word)) parts.push(part(reader));
  return parts;
};

const readAll = (reader: Reader): Condition => {
  const [first, ...more] = readSeveral(reader, 'AND', readOne);
  return first && more.length === 0 ? first : { kind: 'and', parts: first ? [first, ...more] : more };
};

const readEither = (reader: Reader): Condition => {
  const [first, ...more] = readSeveral(reader, 'OR', readAll);
  return first && more.length === 0 ? first : { kind: 'or', parts: first ? [first, ...more] : more };
};

/**
 * Reads a condition or a filter.
 *
 * @throws StoreError if it is none, or uses what is not supported here
 */
export const readCondition = (
  kind: 'ConditionExpression' | 'FilterExpression',
  source: unknown,
  placeholders: Placeholders,
): Condition => {
  const reader = new Reader(kind, source, placeholders);
  const condition = readEither(reader);
  reader.end();
  return condition;
};

/** The names of the attributes that a condition looks at. */
export const namesIn = (condition: Condition): string[] =>
  'parts' in condition ? condition.parts.flatMap(namesIn) : [condition.name];

const holdsComparison = (comparison: Comparison, value: Value): boolean => {
  if (comparison.kind === '=') return sameValue(value, comparison.value);
  if (comparison.kind === '<>') return !sameValue(value, comparison.value);
  if (comparison.kind === 'begins') return beginsWith(value, comparison.value);
  const order = compareValues(value, comparison.value);
  if (order === undefined) return false;
  if (comparison.kind === 'between') {
    const above = compareValues(value, comparison.to);
    return order >= 0 && above !== undefined && above <= 0;
  }
  if (comparison.kind === '<') return order < 0;
  if (comparison.kind === '<=') return order <= 0;
  if (comparison.kind === '>') return order > 0;
  return order >= 0;
};

/** Whether a condition holds for an item; for no item as for one without attributes. */
export const holds = (condition: Condition, item: Item): boolean => {
  if ('parts' in condition)
    return condition.kind === 'and'
      ? condition.parts.every((part) => holds(part, item))
      : condition.parts.some((part) => holds(part, item));
  const value = attribute(item, condition.name);
  if (condition.kind === 'exists' || condition.kind === 'absent')
    return (value !== undefined) === (condition.kind === 'exists');
  if (value === undefined) return condition.kind === '<>';
  return holdsComparison(condition, value);
};

const noKeyOperator = (operator: string): StoreError =>
  invalid(`Invalid operator used in KeyConditionExpression: ${operator}`);

const readKeyComparison = (reader: Reader): Comparison => {
  const { next } = reader;
  if (next === '(' || next?.startsWith(':'))
    throw unsupported(`'${next}' at the beginning of a part of a ${reader.kind}`);
  if (next === 'attribute_exists' || next === 'attribute_not_exists') throw noKeyOperator(next);
  const comparison = readComparison(reader);
  if (comparison.kind === '<>') throw noKeyOperator('<>');
  return comparison;
};

/**
 * Reads the condition of a query: comparisons that all have to hold.
 *
 * @throws StoreError if it is none, or uses what is not supported here
 */
export const readKeyCondition = (source: unknown, placeholders: Placeholders): Comparison[] => {
  const reader = new Reader('KeyConditionExpression', source, placeholders);
  const comparisons = [readKeyComparison(reader)];
  while (reader.takesOperator('AND')) comparisons.push(readKeyComparison(reader));
  if (reader.takes('OR')) throw noKeyOperator('OR');
  reader.end();
  return comparisons;
};

/** @throws StoreError if a name is there twice */
const requireApart = (reader: Reader, names: readonly string[]): void => {
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw reader.invalid(
      'Two document paths overlap with each other; must remove or rewrite one of these paths; ' +
        `path one: [${twice}], path two: [${twice}]`,
    );
};

/**
 * Reads the names of the attributes that an answer is to have.
 *
 * @throws StoreError if there are none, or a path to the inside of an attribute
 */
export const readProjection = (source: unknown, placeholders: Placeholders): string[] => {
  const reader = new Reader('ProjectionExpression', source, placeholders);
  const names = [reader.name()];
  while (reader.takes(',')) names.push(reader.name());
  reader.end();
  requireApart(reader, names);
  return names;
};

/** What an update does to one attribute. */
export type Change =
  | { readonly kind: 'set' | 'default' | 'add'; readonly name: string; readonly value: Value }
  | { readonly kind: 'remove'; readonly name: string };

/** Reads `#n = :v` or `#n = if_not_exists(#n, :v)`. */
const readAssignment = (reader: Reader): Change => {
  const name = reader.name();
  reader.expect('=');
  if (!reader.calls('if_not_exists')) return { kind: 'set', name, value: reader.value() };
  if (reader.name() !== name)
    throw unsupported('if_not_exists of another attribute than the one that is set');
  reader.expect(',');
  const value = reader.value();
  reader.expect(')');
  return { kind: 'default', name, value };
};

const readAddition = (reader: Reader): Change => {
  const name = reader.name();
  const value = reader.value();
  if ('N' in value) return { kind: 'add', name, value };
  throw reader.invalid('Incorrect operand type for operator or function; operator: ADD');
};

const readRemoval = (reader: Reader): Change => ({ kind: 'remove', name: reader.name() });

const clauses = { SET: readAssignment, ADD: readAddition, REMOVE: readRemoval };

const isClause = (word: string): word is keyof typeof clauses => Object.hasOwn(clauses, word);

/**
 * Reads an update.
 *
 * @throws StoreError if it is none, or uses what is not supported here
 */
export const readUpdate = (source: unknown, placeholders: Placeholders): Change[] => {
  const reader = new Reader('UpdateExpression', source, placeholders);
  const changes: Change[] = [];
  const seen = new Set<string>();
  while (reader.next !== undefined) {
    const word = reader.next.toUpperCase();
    if (!isClause(word)) throw reader.unexpected();
    if (seen.has(word))
      throw reader.invalid(`The "${word}" section can only be used once in an update expression;`);
    seen.add(word);
    reader.expect(word);
    changes.push(clauses[word](reader));
    while (reader.takes(',')) changes.push(clauses[word](reader));
  }
  requireApart(
    reader,
    changes.map(({ name }) => name),
  );
  return changes;
};

const changed = (present: Value | undefined, change: Change): Value | undefined => {
  if (change.kind === 'remove') return undefined;
  const { kind, value } = change;
  if (kind === 'set' || present === undefined) return value;
  if (kind === 'default') return present;
  if ('N' in present && 'N' in value) return { N: addNumbers(present.N, value.N) };
  throw invalid('An operand in the update expression has an incorrect data type');
};

/** An item with what an update does to it. */
export const updated = (item: Item, changes: readonly Change[]): Item => {
  const values = new Map(Object.entries(item));
  for (const change of changes) {
    const value = changed(attribute(item, change.name), change);
    if (value === undefined) values.delete(change.name);
    else values.set(change.name, value);
  }
  return Object.fromEntries(values);
};
