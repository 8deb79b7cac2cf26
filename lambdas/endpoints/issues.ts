import type { alertsPreview } from '../../api/alerts.ts';
import type { issueRoutes } from '../../api/issues.ts';
import { byPath, to } from '../common/http/by-path.ts';

type Path = (typeof alertsPreview | (typeof issueRoutes)[number])['path'];

/**
 * What looks back over a range of calls and feedback, and what is decided on the issues in it: one function, whose
 * endpoints read the same stores.
 */
export const handler = byPath<Path>({
  '/alerts/preview': to(() => import('./alerts/preview.ts')),
  '/issues/query': to(() => import('./issues/query.ts')),
  '/issues/update': to(() => import('./issues/update.ts')),
});
