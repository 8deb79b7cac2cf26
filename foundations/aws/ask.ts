import { text } from 'node:stream/consumers';
import { HttpRequest } from '@smithy/core/transport';
import { httpHandler, type RequestBudget } from '../storage/index.ts';
import { type Signing, signed } from './signed.ts';

/** A service of AWS, and where it answers. */
export interface AwsService extends Signing {
  /** Where it answers instead of its own place, as SDKs read it from AWS_ENDPOINT_URL_…. @default - its own */
  readonly endpoint?: string | undefined;
}

/** A service of AWS refuses a request, or fails. */
export class AwsError extends Error {
  override readonly name = 'AwsError';
  /** What it calls the error; empty if it does not say. */
  readonly code: string;
  readonly status: number;

  constructor(service: string, status: number, code: string) {
    super(`${service} answers ${status}${code && ` ${code}`}`);
    this.code = code;
    this.status = status;
  }
}

/** The longest time for an answer, in milliseconds. */
const answerMs = 10_000;

const handler = httpHandler(answerMs);

/** The code of an error, in JSON (`{"__type": "…#Code"}`) or in XML (`<Code>…</Code>`). */
const codeIn = (answer: string): string => {
  const [, json, xml] = /"__type"\s*:\s*"(?:[^"]*#)?(\w+)|<Code>(\w+)<\/Code>/.exec(answer) ?? [];
  return json ?? xml ?? '';
};

/**
 * Sends one signed POST to a service of AWS, for the few operations that need no client of an SDK.
 *
 * @param path with a slash at its beginning
 * @returns the body of the answer
 * @throws AwsError if the service refuses; Error if it does not answer in time
 */
export const askAws = async (
  service: AwsService,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  { deadline, signal }: Pick<RequestBudget, 'deadline' | 'signal'>,
): Promise<string> => {
  const url = new URL(path, service.endpoint || `https://${service.service}.${service.region}.amazonaws.com`);
  const bytes = Buffer.from(body);
  const inTime = AbortSignal.timeout(Math.max(0, deadline - Date.now()));
  const { response } = await handler.handle(
    new HttpRequest({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port && { port: Number(url.port) }),
      path: url.pathname,
      headers: await signed(service, url, headers, bytes),
      body: bytes,
    }),
    { abortSignal: signal ? AbortSignal.any([signal, inTime]) : inTime },
  );
  const answer = await text(response.body);
  if (response.statusCode >= 300)
    throw new AwsError(service.service, response.statusCode, codeIn(answer) || (headerCode(response) ?? ''));
  return answer;
};

const headerCode = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) =>
  headers['x-amzn-errortype']?.split(':')[0];

/**
 * Asks for an operation of a service that speaks JSON 1.1.
 *
 * @param target the operation with its service's name: `AmazonSSM.GetParameter`
 * @throws as {@link askAws} does
 */
export const askJson = async (
  service: AwsService,
  target: string,
  body: unknown,
  budget: Pick<RequestBudget, 'deadline' | 'signal'>,
): Promise<unknown> => {
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
  return JSON.parse(await askAws(service, '/', headers, JSON.stringify(body), budget));
};

/**
 * Invokes a function of the same account and region, and waits for what it answers.
 *
 * @param name of the function
 * @throws AwsError if Lambda refuses; Error if it does not answer in time, or the function fails
 */
export const invoke = async (
  name: string,
  event: unknown,
  budget: Pick<RequestBudget, 'deadline' | 'signal'>,
): Promise<unknown> => {
  const { AWS_REGION: region = '', AWS_ENDPOINT_URL_LAMBDA: endpoint } = process.env;
  const path = `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`;
  const headers = { 'content-type': 'application/json' };
  const service = { service: 'lambda', region, endpoint };
  const answer = JSON.parse(await askAws(service, path, headers, JSON.stringify(event), budget));
  // A function that throws is answered with its error and a status of 200.
  if (typeof answer === 'object' && answer !== null && 'errorType' in answer)
    throw new Error(`the function ${name} failed: ${answer.errorType}`);
  return answer;
};
