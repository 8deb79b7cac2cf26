import { type Expression, type FieldPath, presenceOf, toPath } from '../../foundations/expression/index.ts';
import type { WireNames } from '../../foundations/wire/index.ts';

/*
 * A call has the status `error` if and only if it has an exception. Headers and an index know the
 * status, so questions about the exception are asked of the status.
 */

const failed = 'error';

const statusPath = (names: WireNames): FieldPath => toPath(`summary.${names.service}.status`);

/** Replaces what an expression asks about an exception being there by a question of the status. */
export const byStatus = (
  names: WireNames,
  expanded: readonly FieldPath[],
  expression: Expression,
): Expression => {
  const presence = presenceOf(expression);
  // An expanded exception is what it refers to, which may be null.
  if (presence?.path.text === 'exception' && !expanded.some(({ field }) => field === 'exception')) {
    const isError: Expression = {
      kind: 'compare',
      operator: '$eq',
      left: { kind: 'field', path: statusPath(names) },
      right: { kind: 'literal', value: failed },
    };
    return presence.isThere ? isError : { kind: 'not', operand: isError };
  }
  const replaced = (operand: Expression) => byStatus(names, expanded, operand);
  switch (expression.kind) {
    case 'and':
    case 'or':
      return { ...expression, operands: expression.operands.map(replaced) };
    case 'not':
      return { ...expression, operand: replaced(expression.operand) };
    default:
      return expression;
  }
};

/** Whether an expression asks for calls that have failed, and for nothing else. */
export const asksForErrors = (names: WireNames, expression: Expression): boolean => {
  const isStatus = (side: Expression) => side.kind === 'field' && side.path.text === statusPath(names).text;
  const isError = (side: Expression) => side.kind === 'literal' && side.value === failed;
  if (expression.kind === 'in')
    return isStatus(expression.input) && expression.options.length > 0 && expression.options.every(isError);
  if (expression.kind !== 'compare' || expression.operator !== '$eq') return false;
  const { left, right } = expression;
  return (isStatus(left) && isError(right)) || (isError(left) && isStatus(right));
};
