import type { Expression, FieldPath } from './model.ts';

/** Whether a path leads to a value. */
export interface Presence {
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
export const presenceOf = (expression: Expression): Presence | undefined => {
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
      const denied = presenceOf(expression.operand);
      return denied && { ...denied, isThere: !denied.isThere };
    }
    default:
      return undefined;
  }
};
