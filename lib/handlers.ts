import { handlersOf, type Route } from '../api/endpoint.ts';
import { allRoutes } from '../api/routes.ts';
import { listedTools, openApiDocument } from '../openapi/index.ts';
import about from '../package.json' with { type: 'json' };
import type { Config } from './config.ts';

/** Makes and revokes the keys of functions that report: `Pennytrace.grantReport`. */
export const keyMakerHandler = 'report-key';

/** What functions load to redact what they store. It is bundled as handlers are. */
export const redactionModule = 'redaction';

/** What tells a key what is left of its limits, instead of the handler `me`, which has no storage. */
export const limitsHandler = 'me-limits';

/** What watches calls for evaluators: the function of events, if there is one. */
export const watcherHandler = ({ events }: Pick<Config, 'events'>): string =>
  events ? 'events-evaluators' : 'evaluators';

/** Every handler that a service may need, by its path below `lambdas/`. */
export const everyHandler: readonly string[] = [
  ...handlersOf(allRoutes),
  'authorizer',
  keyMakerHandler,
  'events',
  'analytics',
  redactionModule,
  'evaluators',
  'events-evaluators',
  'judge',
  limitsHandler,
  'alerts',
];

/** The handlers of a service with these routes and settings. */
export const handlersFor = (
  {
    events,
    analytics,
    redact,
    evaluators,
    limits,
    alerts,
  }: Pick<Config, 'events' | 'analytics' | 'redact' | 'evaluators' | 'limits' | 'alerts'>,
  routes: readonly Route[],
): readonly string[] => [
  ...handlersOf(routes),
  'authorizer',
  ...(events && !evaluators ? ['events'] : []),
  ...(analytics ? ['analytics'] : []),
  ...(redact ? [redactionModule] : []),
  ...(evaluators ? [watcherHandler({ events }), 'judge'] : []),
  ...(limits ? [limitsHandler] : []),
  ...(alerts ? ['alerts'] : []),
];

/** The constants that handlers declare and the bundler fills in: their texts by their names. */
export const constantsOf = (): Readonly<Record<string, string>> => ({
  SERVICE_VERSION: about.version,
  MCP_TOOLS: JSON.stringify(listedTools()),
  OPENAPI_DOCUMENT: `${JSON.stringify(openApiDocument(about.version))}\n`,
});

/** The folder of a handler's bundle. Throws an Error if there is none. */
export const bundleOf = (bundles: ReadonlyMap<string, string>, handler: string): string => {
  const folder = bundles.get(handler);
  if (folder === undefined) throw new Error(`lambdas/${handler}.ts was not bundled`);
  return folder;
};
