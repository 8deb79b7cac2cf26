import { issuesUpdate } from '../../../api/issues.ts';
import { updateIssue } from '../../../core/records/issues.ts';
import { authorizeChange } from '../../../core/records/objects/index.ts';
import { work } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /issues/update`: resolves, ignores or assigns an issue. */
export const handler = work(issuesUpdate, async ({ body, caller, budget }) => {
  const authorize = authorizeChange(stores.objects, caller, body.projectId, budget);
  return updateIssue(stores.objects, body, caller.user, budget, { authorize });
});
