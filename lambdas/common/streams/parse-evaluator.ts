import { evaluator } from '../../../api/evaluators.ts';
import type { ParseEvaluator } from '../../../core/workers/evaluators/index.ts';
import { makeParser } from '../../../foundations/wire/schema.ts';

/** Reads the value of an evaluator. */
export const parseEvaluator: ParseEvaluator = makeParser(evaluator());
