import { fixedStream } from './http/answer.ts';

/** The document as JSON text, set by the bundler: it is made when the stack is. */
declare const OPENAPI_DOCUMENT: string;

/**
 * `GET /openapi.json`: the OpenAPI document of the service. It takes no credentials and
 * changes with a deployment alone.
 */
export const handler = fixedStream({
  text: OPENAPI_DOCUMENT,
  cacheControl: 'public, max-age=300',
});
