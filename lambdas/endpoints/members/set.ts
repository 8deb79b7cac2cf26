import { membersSet } from '../../../api/people.ts';
import { setMembership } from '../../../core/records/people.ts';
import { work } from '../../common/http/endpoint.ts';
import { asking } from '../../common/http/people.ts';

/** `POST /members/set`: gives a person or a group roles on a project or an entity. */
export const handler = work(membersSet, async (request) => {
  const { member, scope, grants: roles } = request.body;
  return { member, grants: await setMembership(asking(request), { member, scope, roles }) };
});
