import { allRoutes, handlersOf } from '../api/routes.ts';

/** Makes and revokes the keys of functions that report: `Pennytrace.grantReport`. */
export const keyMakerHandler = 'report-key';

/** Every handler that a service may need, by its path below `lambdas/`. */
export const handlers: readonly string[] = [...handlersOf(allRoutes), 'authorizer', keyMakerHandler];
