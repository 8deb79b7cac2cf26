import { isObject } from '../template/intrinsics.ts';
import type { Pattern } from '../template/subscriptions.ts';

/*
 * EventBridge's patterns, as far as the filters of this stack and rules like theirs use them:
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
 */

const comparisons: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '=': (value, bound) => value === bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
};

/** `["<", 0.5]` or `[">", 0, "<=", 1]` */
const isNumeric = (value: unknown, rule: readonly unknown[]): boolean => {
  if (typeof value !== 'number') return false;
  for (let at = 0; at < rule.length; at += 2) {
    const compare = comparisons[String(rule[at])];
    if (!compare) throw new Error(`the comparison ${String(rule[at])} is not supported locally`);
    if (!compare(value, Number(rule[at + 1]))) return false;
  }
  return true;
};

/** Whether a value fits one entry of a pattern's list. */
const fitsEntry = (entry: unknown, value: unknown): boolean => {
  if (!isObject(entry)) return entry === value;
  const [operator, operand] = Object.entries(entry)[0] ?? [];
  if (operator === 'exists') return (value !== undefined) === operand;
  if (operator === 'prefix') return typeof value === 'string' && value.startsWith(String(operand));
  if (operator === 'anything-but') return value !== undefined && ![operand].flat().includes(value);
  if (operator === 'numeric' && Array.isArray(operand)) return isNumeric(value, operand);
  throw new Error(`the pattern ${JSON.stringify(entry)} is not supported locally`);
};

/**
 * Whether a record or an event fits a pattern.
 *
 * @throws Error if the pattern has something that is not supported locally
 */
export const fitsPattern = (pattern: Pattern, value: unknown): boolean =>
  Object.entries(pattern).every(([name, rule]) => {
    const found = isObject(value) ? value[name] : undefined;
    if (!Array.isArray(rule)) return fitsPattern(rule as Pattern, found);
    const values = Array.isArray(found) ? found : [found];
    return rule.some((entry) => values.some((each) => fitsEntry(entry, each)));
  });
