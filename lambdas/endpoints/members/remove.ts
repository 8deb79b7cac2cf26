import { membersRemove } from '../../../api/people.ts';
import { setMembership } from '../../../core/records/people.ts';
import { work } from '../../common/http/endpoint.ts';
import { asking } from '../../common/http/people.ts';

/** `POST /members/remove`: takes all roles on a project or an entity from a person or a group. */
export const handler = work(membersRemove, async (request) => {
  const { member, scope } = request.body;
  return { member, grants: await setMembership(asking(request), { member, scope, roles: [] }) };
});
