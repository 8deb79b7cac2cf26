import type { peopleRoutes } from '../../api/people.ts';
import { byPath, to } from '../common/http/by-path.ts';

type Path = (typeof peopleRoutes)[number]['path'];

/** Members, keys and the audit trail: seldom asked for, so one function has all of it. */
export const handler = byPath<Path>({
  '/members/query': to(() => import('./members/query.ts')),
  '/members/set': to(() => import('./members/set.ts')),
  '/members/remove': to(() => import('./members/remove.ts')),
  '/keys/create': to(() => import('./keys/create.ts')),
  '/keys/query': to(() => import('./keys/query.ts')),
  '/keys/revoke': to(() => import('./keys/revoke.ts')),
  '/audit/query': to(() => import('./audit/query.ts')),
});
