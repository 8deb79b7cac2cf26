import { callsScore } from '../../api/evaluators.ts';
import { readCosts } from '../../core/records/costs/index.ts';
import { scoreCalls } from '../../core/workers/evaluators/score.ts';
import type { RequestBudget } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { endpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';
import { parseEvaluator } from '../streams/parse-evaluator.ts';
import { sqsClient } from '../streams/queues.ts';

const { EVALUATIONS_QUEUE: url } = process.env;

/** `POST /calls/score`: has evaluators judge existing calls, or says what that would cost. */
export const handler = endpoint(callsScore, async ({ body, budget, describe }) => {
  const scoring = {
    ...{ calls: settings.calls, objects: settings.objects, feedback: settings.feedback },
    parse: parseEvaluator,
    costs: (projectId: ProjectId, budget: RequestBudget) => readCosts(settings.costs, projectId, budget),
    queue: url ? { url, client: sqsClient } : undefined,
  };
  const { calls, estimatedUsd } = await scoreCalls(scoring, body, budget);
  describe(() => ({ rows: calls }));
  return { calls, estimated_usd: estimatedUsd };
});
