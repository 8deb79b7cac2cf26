import { fixedEndpoint, jsonText } from './http/answer.ts';

/** The service's version, set by the bundler. */
declare const SERVICE_VERSION: string;

/**
 * `GET /server_info`: what Weave's SDKs ask first. Every version of theirs may go on: what it sends
 * is tried, and what is not known is passed over.
 */
export const handler = fixedEndpoint({
  text: jsonText({ min_required_weave_python_version: '0.0.0', trace_server_version: SERVICE_VERSION }),
  cacheControl: 'no-store',
});
