import { byPath, to } from '../common/http/by-path.ts';

/** What is added up over traces and calls: one function, whose endpoints read the same stores. */
export const handler = byPath({
  '/calls/usage': to(() => import('./calls/usage.ts')),
  '/trace/agents': to(() => import('./trace/agents.ts')),
  '/call/context': to(() => import('./call/context.ts')),
});
