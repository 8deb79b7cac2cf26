import type { APIGatewayProxyResult } from 'aws-lambda';
import { forbidden } from '../../foundations/wire/index.ts';
import { everyAnswer, type FixedEvent, jsonText } from '../common/http/answer.ts';
import { originHeaders } from '../common/http/cross-site.ts';

/** What requests may have besides what every page may send. */
const allowed = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'authorization, content-encoding, content-type, project_id',
  // Chrome keeps an answer for two hours at most.
  'access-control-max-age': '7200',
};

const refusal = forbidden(
  ['header', 'origin'],
  'should be one of the origins in the setting corsOrigins: pages of others may send no requests',
);

/**
 * `OPTIONS` of routes for pages of other origins: says whether the origin that asks may send requests. It
 * needs no credentials, since browsers send none with it, and logs nothing: the access log has the request.
 */
export const handler = async (event: FixedEvent): Promise<APIGatewayProxyResult> => {
  const origin = originHeaders(event);
  const headers = { ...everyAnswer(event.requestContext.requestId), ...origin };
  if (Object.hasOwn(origin, 'access-control-allow-origin'))
    return { statusCode: 204, headers: { ...headers, ...allowed }, body: '' };
  return {
    statusCode: refusal.status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: jsonText({ detail: refusal.detail }),
  };
};
