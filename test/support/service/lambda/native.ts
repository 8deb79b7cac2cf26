/** What the native part of AWS's client does: `src/native/rapid-client.cc` of `aws-lambda-ric`. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;

const ask = (path: string, body?: string): Promise<{ bodyJson: string; headers: IncomingHttpHeaders }> =>
  new Promise((resolve, reject) => {
    request(`${api}/${path}`, { method: body === undefined ? 'GET' : 'POST' }, (answer) => {
      text(answer).then((bodyJson) => resolve({ bodyJson, headers: answer.headers }), reject);
    })
      .once('error', reject)
      .end(body);
  });

/** What is still to be sent. The native part waits for it, and lets nothing else run meanwhile. */
let sent: Promise<unknown> = Promise.resolve();

/** Waits for the next invocation. */
export const next = async () => {
  await sent;
  return ask('next');
};

/** Sends a buffered answer, as JSON. */
export const done = (requestId: string, answer: string): void => {
  sent = ask(`${requestId}/response`, answer);
};

/** Says that an invocation has failed, as JSON. */
export const error = (requestId: string, failure: string): void => {
  sent = ask(`${requestId}/error`, failure);
};
