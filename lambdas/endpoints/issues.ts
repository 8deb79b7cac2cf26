import type { alertsPreview } from '../../api/alerts.ts';
import type { issuesQuery } from '../../api/issues.ts';
import { byPath, to } from '../common/http/by-path.ts';

type Path = (typeof alertsPreview | typeof issuesQuery)['path'];

/** What looks back over a range of calls and feedback: one function, whose endpoints read the same stores. */
export const handler = byPath<Path>({
  '/alerts/preview': to(() => import('./alerts/preview.ts')),
  '/issues/query': to(() => import('./issues/query.ts')),
});
