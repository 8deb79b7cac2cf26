import type { APIGatewayProxyEvent } from 'aws-lambda';
import { getHeader } from './headers.ts';

/** What of a request says where it came to. */
export type Located = Pick<APIGatewayProxyEvent, 'headers' | 'path'> & {
  readonly requestContext: Pick<APIGatewayProxyEvent['requestContext'], 'path' | 'domainName'>;
};

/**
 * The URL of the service as the client of a request has it, without a slash at its end. It ends with
 * the stage, or with what a custom domain maps to it.
 */
export const ownUrl = (event: Located): string => {
  const { path, domainName } = event.requestContext;
  const host = getHeader(event, 'host') ?? domainName ?? 'localhost';
  const scheme = getHeader(event, 'x-forwarded-proto') === 'http' ? 'http' : 'https';
  const base = path.endsWith(event.path) ? path.slice(0, path.length - event.path.length) : '';
  return `${scheme}://${host}${base.replace(/\/$/, '')}`;
};
