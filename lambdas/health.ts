import { fixedEndpoint } from './http/fixed.ts';
import { jsonText } from './http/text.ts';

/** The service's version, which the bundler puts in. */
declare const SERVICE_VERSION: string;

/**
 * `GET /health`: that the service is up, and its version; without credentials, and never from a
 * cache.
 */
export const handler = fixedEndpoint({
  text: jsonText({ status: 'up', version: SERVICE_VERSION }),
  cacheControl: 'no-store',
});
