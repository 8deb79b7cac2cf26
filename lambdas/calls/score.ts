import { callsScore } from '../../api/evaluators.ts';
import { scoreCalls } from '../../core/workers/evaluators/score.ts';
import { endpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';
import { costsOfProject } from '../streams/costs.ts';
import { parseEvaluator } from '../streams/parse-evaluator.ts';
import { sqsClient } from '../streams/queues.ts';

const { EVALUATIONS_QUEUE: url } = process.env;

/** `POST /calls/score`: has evaluators judge existing calls, or says what that would cost. */
export const handler = endpoint(callsScore, async ({ body, budget, describe }) => {
  const scoring = {
    ...{ calls: settings.calls, objects: settings.objects, feedback: settings.feedback },
    ...{ costs: costsOfProject, parse: parseEvaluator },
    queue: url ? { url, client: sqsClient } : undefined,
  };
  const { calls, estimatedUsd } = await scoreCalls(scoring, body, budget);
  describe(() => ({ rows: calls }));
  return { calls, estimated_usd: estimatedUsd };
});
