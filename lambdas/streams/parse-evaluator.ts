import { evaluator } from '../../api/evaluators.ts';
import type { ParseEvaluator } from '../../core/workers/evaluators/index.ts';
import { schemaInDialect } from '../http/dialect.ts';

const schema = schemaInDialect(evaluator());

/** Reads the value of an evaluator in the dialect of the deployment. */
export const parseEvaluator: ParseEvaluator = (value) => {
  const result = schema.safeParse(value);
  return result.success ? result.data : undefined;
};
