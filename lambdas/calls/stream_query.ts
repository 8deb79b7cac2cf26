import type { APIGatewayProxyEvent } from 'aws-lambda';

/** Placeholder until the core stands. */
export const handler = awslambda.streamifyResponse(async (event: APIGatewayProxyEvent, responseStream) => {
  const out = awslambda.HttpResponseStream.from(responseStream, {
    statusCode: 200,
    headers: { 'content-type': 'application/jsonl' },
  });
  for (let i = 0; i < 3; i++) out.write(`${JSON.stringify({ placeholder: event.path, i })}\n`);
  out.end();
});
