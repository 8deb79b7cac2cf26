import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What CloudFormation is told of a request
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/crpg-ref-responses.html).
 */
export interface CustomResourceAnswer {
  readonly Status: 'SUCCESS' | 'FAILED';
  readonly Reason?: string;
  readonly PhysicalResourceId: string;
  readonly StackId: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
  readonly Data?: Readonly<Record<string, string>>;
}

const tries = 4;
const pauseMs = 1000;
const timeoutMs = 5000;

const put = (url: URL, body: string): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
  // The URL is signed for an empty content type.
  const headers = { 'content-type': '', 'content-length': Buffer.byteLength(body) };
  const sent = send(url, { method: 'PUT', headers, timeout: timeoutMs }, (answer) => {
    answer.resume();
    const { statusCode = 0 } = answer;
    if (statusCode < 300) resolve();
    else reject(new Error(`CloudFormation's answer to the answer is ${statusCode}`));
  });
  sent.on('timeout', () => sent.destroy(new Error('CloudFormation took no answer in time')));
  sent.on('error', reject);
  sent.end(body);
  return promise;
};

/**
 * Answers CloudFormation, which otherwise waits for as long as the resource's time-out.
 *
 * @param url the signed URL of the request
 * @throws Error after four tries: Lambda then repeats the whole request
 */
export const respond = async (url: string, answer: CustomResourceAnswer): Promise<void> => {
  const body = JSON.stringify(answer);
  for (let left = tries - 1; ; left--) {
    try {
      return await put(new URL(url), body);
    } catch (error) {
      if (left === 0) throw error;
      await sleep(pauseMs);
    }
  }
};
