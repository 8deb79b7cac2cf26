import { allRoutes, handlersOf } from '../api/routes.ts';

/** Every handler that a service may need, by its path below `lambdas/`. */
export const handlers: readonly string[] = [...handlersOf(allRoutes), 'authorizer'];
