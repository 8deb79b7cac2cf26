import { join } from 'node:path';
import { filesIn, type PageFiles, type PageRequest, pageAnswer } from '../common/page/answer.ts';

let files: PageFiles | undefined;

/**
 * `GET /ui`, `GET /ui/{proxy+}` and `GET /`: the page. It takes no credentials, since it holds
 * nothing of anybody, and logs nothing: the access log has the request.
 */
export const handler = awslambda.streamifyResponse(async (event: PageRequest, stream) => {
  files ??= filesIn(join(__dirname, 'page'));
  const sources = { files, findTokenEndpoint: async () => undefined };
  const { status, headers, body } = await pageAnswer(event, sources);
  const response = awslambda.HttpResponseStream.from(stream, { statusCode: status, headers });
  // Status and headers go out with the first write, even if there is nothing to write.
  response.write(body);
  response.end();
});
