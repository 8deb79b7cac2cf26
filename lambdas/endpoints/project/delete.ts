import { projectDelete, projectRetention } from '../../../api/project.ts';
import { deleteProject } from '../../../core/records/deletion.ts';
import { applyRetention } from '../../../core/records/retention.ts';
import type { ProjectStores } from '../../../core/records/sweeps.ts';
import { auditing } from '../../common/http/audit.ts';
import { overStream, type StreamEvent, streaming } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

const { calls, feedback, objects, costs, bookkeeping } = stores;
const all: ProjectStores = { calls, feedback, objects, costs, bookkeeping };

const deletes = streaming(projectDelete, async (request) => {
  const { body, budget, describe } = request;
  const audit = auditing(request);
  const change = { scope: body.projectId, action: 'project.delete', target: body.projectId };
  const answer = await deleteProject(all, body.projectId, budget, (end) =>
    end
      ? audit({
          ...change,
          id: body.projectId.slice(-256),
          at: end.at,
          after: { done: true, deleted: end.deleted },
        })
      : audit({ ...change, after: { done: false } }),
  );
  describe(() => ({ rows: Object.values(answer.deleted).reduce((sum, count) => sum + count, 0) }));
  return answer;
});

const retains = streaming(projectRetention, async (request) => {
  const { body, budget, describe } = request;
  const audit = auditing(request);
  const change = { scope: body.projectId, action: 'project.retain', target: body.projectId };
  const answer = await applyRetention(
    all,
    body.projectId,
    budget,
    undefined,
    ({ callsDays = null, feedbackDays = null }) =>
      audit({ ...change, after: { calls_days: callsDays, feedback_days: feedbackDays } }),
  );
  describe(() => ({ rows: answer.applied.calls + answer.applied.feedback }));
  return answer;
});

/**
 * `POST /project/delete` deletes a project, and `POST /project/retention` applies a retention to what is
 * stored already. Both go over all that a project holds, as far as there is time for it. The short answers
 * are streamed, because a buffered one may take no longer than 29 seconds.
 */
export const handler = overStream<unknown>((event, context) =>
  event.resource === projectDelete.path
    ? deletes(event as StreamEvent<never>, context)
    : retains(event as StreamEvent<never>, context),
);
