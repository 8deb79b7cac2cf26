import * as z from 'zod/mini';
import type { UsageRequest } from '../../core/stats/usage.ts';
import { id, nullish, projectId } from '../../core/wire/schema.ts';

/** The most calls of one request for usage. */
const maxCalls = 1000;

/** The body of `/calls/usage`. */
export const callsUsageBody: z.ZodMiniType<UsageRequest> = z.pipe(
  z.strictObject({
    project_id: projectId,
    call_ids: z.array(id).check(z.maxLength(maxCalls, `should be at most ${maxCalls} ids`)),
    include_costs: nullish(z.boolean()),
  }),
  z.transform((body) => ({
    projectId: body.project_id,
    callIds: [...new Set(body.call_ids)],
    withCosts: body.include_costs ?? false,
  })),
);
