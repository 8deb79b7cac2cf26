import { issuesQuery } from '../../../api/issues.ts';
import { queryIssues } from '../../../core/questions/issues/index.ts';
import { work } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /issues/query`: what went wrong, grouped. It is streamed, since looking for issues in a month of calls for
 * the first time can take minutes.
 */
export const handler = work(issuesQuery, async ({ body, budget, describe }) => {
  const { counts, answer } = queryIssues(stores, body, budget);
  describe(() => counts);
  const found = await answer();
  describe(() => ({ rows: found.issues.length, ...counts }));
  return found;
});
