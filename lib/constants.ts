import { openApiDocument } from '../openapi/index.ts';
import about from '../package.json' with { type: 'json' };

/**
 * What handlers declare and the bundler puts in.
 *
 * @param serviceName the service's own name on the wire, e.g. `svc`
 * @returns texts by the names of the constants, for the bundler
 */
export const constantsOf = (serviceName: string): Readonly<Record<string, string>> => ({
  SERVICE_VERSION: about.version,
  OPENAPI_DOCUMENT: `${JSON.stringify(openApiDocument(serviceName, about.version))}\n`,
});
