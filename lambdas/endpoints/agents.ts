import { agentsText } from '../../api/agents.ts';
import { type FixedEvent, toHead } from '../common/http/answer.ts';
import { type Located, ownUrl } from '../common/http/own-url.ts';

/** The service's version, set by the bundler. */
declare const SERVICE_VERSION: string;

/**
 * `GET /agents.md`: how coding agents use this service. It takes no credentials and asks no store.
 * It is streamed, because the gateway would take the bytes of a buffered answer for text.
 */
export const handler = awslambda.streamifyResponse(async (event: FixedEvent & Located, stream) => {
  const { statusCode, headers } = toHead(event, 'no-cache');
  const answer = awslambda.HttpResponseStream.from(stream, {
    statusCode,
    headers: { ...headers, 'content-type': 'text/markdown; charset=utf-8' },
  });
  answer.write(agentsText({ url: ownUrl(event), version: SERVICE_VERSION }));
  answer.end();
});
