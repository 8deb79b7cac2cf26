import type { callsUsage } from '../../api/stats.ts';
import type { traceRoutes } from '../../api/traces.ts';
import { byPath, to } from '../common/http/by-path.ts';

type Path = (typeof callsUsage | (typeof traceRoutes)[number])['path'];

/** What is added up over traces and calls: one function, whose endpoints read the same stores. */
export const handler = byPath<Path>({
  '/calls/usage': to(() => import('./calls/usage.ts')),
  '/trace/agents': to(() => import('./trace/agents.ts')),
  '/call/context': to(() => import('./call/context.ts')),
});
