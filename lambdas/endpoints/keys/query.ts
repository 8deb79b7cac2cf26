import { keysQuery } from '../../../api/people.ts';
import { queryKeys } from '../../../core/records/people.ts';
import { keyState } from '../../../foundations/auth/index.ts';
import { work } from '../../common/http/endpoint.ts';
import { asking, toKeyFields, toTime } from '../../common/http/people.ts';

/** `POST /keys/query`: the keys that may do something where the caller is an administrator, the oldest first. */
export const handler = work(keysQuery, async (request) => {
  const seen = await queryKeys(asking(request), request.body.projectId);
  request.describe(() => ({ rows: seen.length }));
  const now = Date.now() * 1000;
  const keys = seen.map(({ record, grants, isMadeByDeployment, canRevoke }) => ({
    kind: record.digest ? ('key' as const) : ('role' as const),
    ...toKeyFields(record, grants),
    grants_elsewhere: grants.length < record.grants.length,
    state: keyState(record, now),
    revoked_at: toTime(record.revokedAt),
    last_used_on: record.usedOn ?? null,
    made_by_deployment: isMadeByDeployment,
    can_revoke: canRevoke,
  }));
  return { keys };
});
