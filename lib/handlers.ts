import { allRoutes, handlersOf, type Route } from '../api/routes.ts';
import type { Dialect } from '../core/foundations/wire/names.ts';
import { openApiDocument } from '../openapi/index.ts';
import about from '../package.json' with { type: 'json' };
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

/** The constant with the OpenAPI document: the only one that depends on the settings. */
export const documentConstant = 'OPENAPI_DOCUMENT';

/**
 * The constants that handlers declare and the bundler fills in.
 *
 * @param serviceName the service's own name on the wire, e.g. `svc`
 * @param dialect decides which endpoints the document has
 * @returns the constants' texts by their names
 */
export const constantsOf = (
  serviceName: string,
  dialect: Dialect = 'svc',
): Readonly<Record<string, string>> => ({
  SERVICE_VERSION: about.version,
  [documentConstant]: `${JSON.stringify(openApiDocument(serviceName, about.version, dialect))}\n`,
});
