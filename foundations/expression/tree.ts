import { formatTime, type JsonValue, type Micros } from '../wire/index.ts';

/*
 * The query language: `{"$expr": <operation>}` over the fields of records of some kind (calls,
 * feedback, prices). It is parsed once, into the tree below, and compiled into a function of a
 * record.
 */

/** A dotted path into a record, e.g. `inputs.messages.0.role`. */
export interface FieldPath {
  /** As it was written. */
  readonly text: string;
  /** The record's field: the path's first step. */
  readonly field: string;
  /** The steps below it. */
  readonly steps: readonly string[];
}

/** A path into the feedback on a call, of the type in brackets: `feedback.[note].payload.note`. */
const ofFeedback = /^feedback\.\[([^\]]+)\](?:\.(.+))?$/s;

/** Parses a dotted path. A type of feedback is one step, and may hold dots. */
export const toPath = (text: string): FieldPath => {
  const [, type, below] = ofFeedback.exec(text) ?? [];
  if (type !== undefined) return { text, field: 'feedback', steps: [type, ...(below?.split('.') ?? [])] };
  const [field = '', ...steps] = text.split('.');
  return { text, field, steps };
};

export const comparisons = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte'] as const;
export type Comparison = (typeof comparisons)[number];

export const conversions = ['double', 'int', 'string', 'bool', 'exists'] as const;
export type Conversion = (typeof conversions)[number];

/** How a comparison differs from what the operators say by themselves. */
export interface Looseness {
  /**
   * Whether it takes the empty text for a field that is missing or null, as Weave does.
   *
   * @default - nothing equals what is missing
   */
  readonly missingIsEmpty?: boolean;
  /**
   * Whether `$eq`, `$ne` and `$in` compare a text literal with a number or a boolean of a field by
   * what that is in JSON, as Weave does.
   *
   * @default - no text equals a number
   */
  readonly equalAsText?: boolean;
}

/** An operation or an operand: each may stand for the other. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: JsonValue }
  | { readonly kind: 'field'; readonly path: FieldPath }
  | { readonly kind: 'convert'; readonly input: Expression; readonly to: Conversion }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Expression[] }
  | { readonly kind: 'not'; readonly operand: Expression }
  | ({
      readonly kind: 'compare';
      readonly operator: Comparison;
      readonly left: Expression;
      readonly right: Expression;
    } & Looseness)
  | ({
      readonly kind: 'in';
      readonly input: Expression;
      readonly options: readonly Expression[];
    } & Looseness)
  | {
      readonly kind: 'contains';
      readonly input: Expression;
      readonly substr: Expression;
      readonly caseInsensitive: boolean;
    };

/** A comparison of a field with a literal. */
export const compare = (path: string, operator: Comparison, value: JsonValue): Expression => ({
  kind: 'compare',
  operator,
  left: { kind: 'field', path: toPath(path) },
  right: { kind: 'literal', value },
});

/** What must hold for a time to be in a range: from its start on, before its end. Null is no bound. */
export const isDuring = (path: string, start: Micros | null, end: Micros | null): Expression[] => [
  ...(start === null ? [] : [compare(path, '$gte', formatTime(start))]),
  ...(end === null ? [] : [compare(path, '$lt', formatTime(end))]),
];

/** What is known of the records that an expression is about. */
export interface RecordKind {
  /** Their name in the components of the OpenAPI document: `Call` makes `CallQuery`. */
  readonly name: string;
  /** The fields that a path may begin with. */
  readonly fields: readonly string[];
  /** The fields that can hold lists and objects. Only these have anything below them. */
  readonly nested: readonly string[];
  /** The fields that hold a time as text. */
  readonly times: ReadonlySet<string>;
  /** Says what is wrong with a path into a field; undefined if nothing is. */
  readonly pathRule?: (path: FieldPath) => string | undefined;
}

/** Whether an expression is a time of records. */
export const isTime = ({ times }: Pick<RecordKind, 'times'>, expression: Expression): boolean =>
  expression.kind === 'field' && expression.path.steps.length === 0 && times.has(expression.path.field);

/**
 * The expressions that must all hold: the operands of a top-level `$and`, of an `$and` within it,
 * and so on.
 */
export const conjuncts = (expression: Expression): Expression[] => {
  const found: Expression[] = [];
  const left = [expression];
  for (let next = left.pop(); next; next = left.pop()) {
    if (next.kind === 'and') left.push(...next.operands.toReversed());
    else found.push(next);
  }
  return found;
};

const getOperands = (expression: Expression): readonly Expression[] => {
  switch (expression.kind) {
    case 'literal':
    case 'field':
      return [];
    case 'convert':
      return [expression.input];
    case 'and':
    case 'or':
      return expression.operands;
    case 'not':
      return [expression.operand];
    case 'compare':
      return [expression.left, expression.right];
    case 'in':
      return [expression.input, ...expression.options];
    case 'contains':
      return [expression.input, expression.substr];
  }
};

/** An expression whose comparisons are all loose in this way. */
export const loosened = (expression: Expression, looseness: Looseness): Expression => {
  const inner = (operand: Expression) => loosened(operand, looseness);
  switch (expression.kind) {
    case 'literal':
    case 'field':
      return expression;
    case 'convert':
      return { ...expression, input: inner(expression.input) };
    case 'and':
    case 'or':
      return { ...expression, operands: expression.operands.map(inner) };
    case 'not':
      return { ...expression, operand: inner(expression.operand) };
    case 'compare':
      return { ...expression, ...looseness, left: inner(expression.left), right: inner(expression.right) };
    case 'in':
      return {
        ...expression,
        ...looseness,
        input: inner(expression.input),
        options: expression.options.map(inner),
      };
    case 'contains':
      return { ...expression, input: inner(expression.input), substr: inner(expression.substr) };
  }
};

/** Every path that an expression reads. */
export const pathsIn = (expression: Expression): FieldPath[] => {
  const paths: FieldPath[] = [];
  const left = [expression];
  for (let next = left.pop(); next; next = left.pop()) {
    if (next.kind === 'field') paths.push(next.path);
    for (const operand of getOperands(next)) left.push(operand);
  }
  return paths;
};

/** Whether a path leads to a value. */
interface Presence {
  readonly path: FieldPath;
  /** False where the value must be null or missing. */
  readonly isThere: boolean;
}

const isNull = (expression: Expression): boolean =>
  expression.kind === 'literal' && expression.value === null;

const about = (expression: Expression, isThere: boolean): Presence | undefined =>
  expression.kind === 'field' ? { path: expression.path, isThere } : undefined;

/**
 * What an expression asks for, if it is that a path leads to a value, or to none. That is a
 * comparison with null, `$convert` to `exists`, a list of nulls, or the opposite of one of them.
 *
 * @returns undefined if it asks for anything else
 */
export const getPresence = (expression: Expression): Presence | undefined => {
  switch (expression.kind) {
    case 'compare': {
      const { operator, left, right } = expression;
      const other = isNull(right) ? left : isNull(left) ? right : undefined;
      const isEquality = operator === '$eq' || operator === '$ne';
      return other && isEquality ? about(other, operator === '$ne') : undefined;
    }
    case 'in':
      return expression.options.length > 0 && expression.options.every(isNull)
        ? about(expression.input, false)
        : undefined;
    case 'convert':
      return expression.to === 'exists' ? about(expression.input, true) : undefined;
    case 'not': {
      const denied = getPresence(expression.operand);
      return denied && { ...denied, isThere: !denied.isThere };
    }
    default:
      return undefined;
  }
};

const longest = 300;

/**
 * An expression as it is logged: its operators and paths, without its literals, at most 300
 * characters.
 */
export const describe = (expression: Expression): string => {
  const text = write(expression, longest);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
};

/** Writes no more than is wanted: a long expression is not written in full and then cut off. */
const write = (expression: Expression, room: number): string => {
  const operands = (operator: string, list: readonly Expression[]): string => {
    let text = '';
    for (const operand of list) {
      if (text.length > room) break;
      text += `${text && ', '}${write(operand, room - text.length)}`;
    }
    return `${operator}(${text})`;
  };
  if (room < 0) return '…';
  switch (expression.kind) {
    case 'literal':
      return expression.value === null ? 'null' : '?';
    case 'field':
      return expression.path.text;
    case 'convert':
      return operands(expression.to, [expression.input]);
    case 'and':
    case 'or':
      return operands(`$${expression.kind}`, expression.operands);
    case 'not':
      return operands('$not', [expression.operand]);
    case 'compare':
      return operands(expression.operator, [expression.left, expression.right]);
    case 'in':
      return `$in(${write(expression.input, room)}, ${expression.options.length})`;
    case 'contains':
      return operands('$contains', [expression.input, expression.substr]);
  }
};
