import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

/** Placeholder until the core stands. */
export const handler = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => ({
  statusCode: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ placeholder: event.path }),
});
