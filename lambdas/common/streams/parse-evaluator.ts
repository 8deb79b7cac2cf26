import { evaluator } from '../../../api/evaluators.ts';
import type { ParseEvaluator } from '../../../core/workers/evaluators/index.ts';

const schema = evaluator();

/** Reads the value of an evaluator. */
export const parseEvaluator: ParseEvaluator = (value) => {
  const result = schema.safeParse(value);
  return result.success ? result.data : undefined;
};
