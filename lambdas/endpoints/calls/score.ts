import { callsScore } from '../../../api/evaluators.ts';
import { readCosts, readLimitPrices } from '../../../core/records/costs/index.ts';
import { checkValue } from '../../../core/records/objects/index.ts';
import { type Scoring, scoreCalls } from '../../../core/workers/evaluators/score.ts';
import { toPayload } from '../../../core/workers/evaluators/verdict.ts';
import type { Caller } from '../../../foundations/auth/index.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { keyLimits, projectLimits, unpriced } from '../../common/http/limits.ts';
import { nearly } from '../../common/http/nearly-reached.ts';
import { stores } from '../../common/http/stores.ts';
import { inference } from '../../common/inference/upstreams.ts';
import { parseEvaluator } from '../../common/streams/parse-evaluator.ts';
import { sqsClient } from '../../common/streams/queues.ts';

const { EVALUATIONS_QUEUE: url } = process.env;

/** The longest that one question of a trial may take, in milliseconds: there is time for two. */
const askMs = 45_000;

const sources = {
  calls: stores.calls,
  costs: (projectId: ProjectId, budget: RequestBudget) => readCosts(stores.costs, projectId, budget),
};

/** What asking for verdicts takes. Who tries an evaluator pays from the limits of the own key, too. */
const scoringFor = (caller: Caller): Scoring => ({
  ...sources,
  objects: stores.objects,
  feedback: stores.feedback,
  parse: parseEvaluator,
  check: (value) => checkValue(value, ['body', 'evaluator']),
  evaluations: url
    ? {
        queue: { url, client: sqsClient },
        asking: {
          ...sources,
          spending: stores.bookkeeping,
          inference,
          nearly,
          askMs,
          prices: (project, budget) => readLimitPrices(stores.costs, project, budget),
          limits:
            unpriced &&
            (async (project, budget) => [...keyLimits(caller), ...(await projectLimits(project, budget))]),
        },
      }
    : undefined,
});

/**
 * `POST /calls/score`: has evaluators judge existing calls, or says what that would cost. One that is
 * not stored is tried.
 */
export const handler = endpoint(callsScore, async ({ body, caller, budget, describe }) => {
  const { calls, estimatedUsd, spentTodayUsd, tried } = await scoreCalls(
    scoringFor(caller),
    body,
    caller,
    budget,
  );
  describe(() => ({ rows: calls }));
  return {
    calls,
    estimated_usd: estimatedUsd,
    is_on: url !== undefined,
    spent_today_usd: spentTodayUsd,
    verdicts: tried.map(({ callId, verdict, judgesCall, usd = 0 }) => ({
      call_id: callId,
      ...toPayload(verdict),
      value: verdict.value,
      call_ref: judgesCall,
      usd,
    })),
  };
});
