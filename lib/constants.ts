import type { Dialect } from '../core/foundations/wire/names.ts';
import { openApiDocument } from '../openapi/index.ts';
import about from '../package.json' with { type: 'json' };

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
