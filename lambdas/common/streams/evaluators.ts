import { Evaluators, type Watch } from '../../../core/workers/evaluators/index.ts';
import { stores } from '../http/stores.ts';
import { deadLetters } from './batch.ts';
import { parseEvaluator } from './parse-evaluator.ts';
import { required, sqsClient } from './queues.ts';

/** How long evaluators are remembered, in milliseconds: a change counts a little later. */
const rememberedMs = 5000;

/** The evaluators of all projects, remembered for some seconds. */
export const rememberedEvaluators = (): Evaluators =>
  new Evaluators({ objects: stores.objects, parse: parseEvaluator, rememberedMs });

/** What deciding takes, by the environment. */
export const createWatch = (): Watch => ({
  calls: stores.calls,
  evaluators: rememberedEvaluators(),
  queue: { url: required('EVALUATIONS_QUEUE'), client: sqsClient },
  deadLetters,
});
