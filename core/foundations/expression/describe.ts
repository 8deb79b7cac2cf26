import type { Expression } from './model.ts';

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
