import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

/** The answer of an endpoint without credentials, the same for everybody. */
export interface FixedAnswer {
  /** JSON, with a line end. */
  readonly text: string;
  /** The `cache-control` header: how long a client or a cache may keep it. */
  readonly cacheControl: string;
}

/**
 * Makes the handler of an endpoint that answers everybody the same JSON text. It reads the
 * request's id alone and logs nothing: the access log has the request, and nothing here can fail.
 */
export const fixedEndpoint =
  ({ text, cacheControl }: FixedAnswer) =>
  async ({
    requestContext,
  }: Pick<APIGatewayProxyEvent, 'requestContext'>): Promise<APIGatewayProxyResult> => ({
    statusCode: 200,
    headers: {
      'content-type': 'application/json',
      'x-request-id': requestContext.requestId,
      'cache-control': cacheControl,
    },
    body: text,
  });
