import type { APIGatewayProxyResult } from 'aws-lambda';
import type { resourceMetadata, signIn } from '../../api/service.ts';
import { serverInfoPath } from '../../api/weave-paths.ts';
import { type FixedEvent, fixedEndpoint, jsonText } from '../common/http/answer.ts';

/** The service's version, set by the bundler. */
declare const SERVICE_VERSION: string;

/**
 * `GET /health`, or HEAD: says that the service is up, and its version. It takes no credentials
 * and never comes from a cache.
 */
const health = fixedEndpoint({
  text: jsonText({ status: 'up', version: SERVICE_VERSION }),
  cacheControl: 'no-store',
});

/**
 * `GET /weave/server_info`: what Weave's SDKs ask first. Every version of theirs may go on: what it sends
 * is tried, and what is not known is passed over.
 */
const serverInfo = fixedEndpoint({
  text: jsonText({ min_required_weave_python_version: '0.0.0', trace_server_version: SERVICE_VERSION }),
  cacheControl: 'no-store',
});

const signInPath: typeof signIn.path = '/sign-in';
const resourceMetadataPath: typeof resourceMetadata.path = '/.well-known/oauth-protected-resource/mcp';

/** What knows how to ask an issuer, loaded when somebody asks. */
const signIns = () => import('../common/http/sign-in.ts');

const answerers: Readonly<Record<string, (event: FixedEvent) => Promise<APIGatewayProxyResult>>> = {
  [serverInfoPath]: serverInfo,
  [signInPath]: async (event) => (await signIns()).answerSignIn(event),
  [resourceMetadataPath]: async (event) => (await signIns()).answerResourceMetadata(event),
};

export const handler = (event: FixedEvent) => (answerers[event.resource] ?? health)(event);
