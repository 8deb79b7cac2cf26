import { membersQuery } from '../../../api/people.ts';
import { queryMembers } from '../../../core/records/people.ts';
import { work } from '../../common/http/endpoint.ts';
import { asking } from '../../common/http/people.ts';

/** `POST /members/query`: who may do something in a project or an entity, by name. */
export const handler = work(membersQuery, async (request) => {
  const found = await queryMembers(asking(request), request.body.scope);
  request.describe(() => ({ rows: found.length }));
  const members = found.map(({ record: { user }, roles, inherited }) => ({
    member: user,
    grants: roles,
    inherited: inherited.map(({ scope, role }) => ({ resource: scope, role })),
  }));
  return { members };
});
