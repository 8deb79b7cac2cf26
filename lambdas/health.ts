import { fixedEndpoint, jsonText } from './http/answer.ts';

/** The service's version, set by the bundler. */
declare const SERVICE_VERSION: string;

/**
 * `GET /health`, or HEAD: says that the service is up, and its version. It takes no credentials
 * and never comes from a cache.
 */
export const handler = fixedEndpoint({
  text: jsonText({ status: 'up', version: SERVICE_VERSION }),
  cacheControl: 'no-store',
});
