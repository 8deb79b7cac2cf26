import { deflateRawSync } from 'node:zlib';
import { openApiDocument, toolSchemas } from '../api/openapi/index.ts';
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

/** The constants that handlers declare and the bundler fills in: their texts by their names. */
export const bundledConstants = (): Readonly<Record<string, string>> => ({
  SERVICE_VERSION: about.version,
  // A third of their length: function bundles are read and parsed at each cold start.
  MCP_TOOLS: deflateRawSync(JSON.stringify(toolSchemas())).toString('base64'),
  OPENAPI_DOCUMENT: `${JSON.stringify(openApiDocument(about.version))}\n`,
});

/** The folder of a handler's bundle. Throws an Error if there is none. */
export const getBundle = (bundles: ReadonlyMap<string, string>, handler: string): string => {
  const folder = bundles.get(handler);
  if (folder === undefined) throw new Error(`the handler ${handler} was not bundled`);
  return folder;
};

/** The handler of requests that browsers send before those of pages of other origins. */
export const preflightHandler = 'preflight';
