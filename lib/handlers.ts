import { allRoutes, handlersOf, type Route } from '../api/routes.ts';
import type { Config } from './config.ts';

/** Makes and revokes the keys of functions that report: `Pennytrace.grantReport`. */
export const keyMakerHandler = 'report-key';

/** Every handler that a service may need, by its path below `lambdas/`. */
export const handlers: readonly string[] = [
  ...handlersOf(allRoutes),
  'authorizer',
  keyMakerHandler,
  'events',
  'analytics',
];

/** The handlers of a service with these routes and settings. */
export const handlersFor = (
  { events, analytics }: Pick<Config, 'events' | 'analytics'>,
  routes: readonly Route[],
): readonly string[] => [
  ...handlersOf(routes),
  'authorizer',
  ...(events ? ['events'] : []),
  ...(analytics ? ['analytics'] : []),
];
