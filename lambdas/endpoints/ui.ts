import { join } from 'node:path';
import { filesIn, type PageFiles, type PageRequest, pageAnswer } from '../common/page/answer.ts';

/** Where people exchange codes for tokens. What finds it out loads only where people sign in. */
const findTokenEndpoint = async (): Promise<string | undefined> => {
  if (!process.env.SIGN_IN) return undefined;
  const { findSignIn } = await import('../common/http/sign-in.ts');
  const found = await findSignIn();
  return 'signIn' in found ? found.signIn.token_endpoint : undefined;
};

let files: PageFiles | undefined;

/**
 * `GET /ui`, `GET /ui/{proxy+}` and `GET /`: the page. It takes no credentials, since it holds
 * nothing of anybody, and logs nothing: the access log has the request.
 */
export const handler = awslambda.streamifyResponse(async (event: PageRequest, stream) => {
  files ??= filesIn(join(__dirname, 'page'));
  const sources = { files, findTokenEndpoint };
  const { status, headers, body } = await pageAnswer(event, sources);
  const response = awslambda.HttpResponseStream.from(stream, { statusCode: status, headers });
  // Status and headers go out with the first write, even if there is nothing to write.
  response.write(body);
  response.end();
});
