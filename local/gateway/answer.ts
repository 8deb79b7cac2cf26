import { z } from 'zod';
import type { Output } from '../runtime/worker.ts';
import type { WholeAnswer } from './gateway-response.ts';

/** The head of an answer. */
export type AnswerHead = Pick<WholeAnswer, 'status' | 'headers'>;

const headerValue = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const head = z.object({
  statusCode: z.coerce.number().int().min(100).max(599),
  headers: z.record(z.string(), headerValue).nullish(),
  multiValueHeaders: z.record(z.string(), z.array(headerValue)).nullish(),
  cookies: z.array(z.string()).nullish(),
});

const buffered = head.extend({
  body: z.union([z.string(), z.number(), z.boolean()]).transform(String).nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/** Headers that API Gateway keeps to itself; a function's own go out under another name. */
const remapped = new Set(
  (
    'authorization connection content-length content-md5 date expect host max-forwards proxy-authenticate server ' +
    'te trailer transfer-encoding upgrade user-agent via www-authenticate'
  ).split(' '),
);

const outgoingName = (name: string): string =>
  remapped.has(name.toLowerCase()) ? `x-amzn-remapped-${name.toLowerCase()}` : name;

const headOf = ({ statusCode, headers, multiValueHeaders, cookies }: z.output<typeof head>): AnswerHead => {
  const several = Object.entries(multiValueHeaders ?? {});
  const names = new Set(several.map(([name]) => name.toLowerCase()));
  const single = Object.entries(headers ?? {}).filter(([name]) => !names.has(name.toLowerCase()));
  const pairs = [
    ...single,
    ...several.flatMap(([name, values]) => values.map((value): [string, string] => [name, value])),
    ...(cookies ?? []).map((cookie): [string, string] => ['set-cookie', cookie]),
  ].map(([name, value]): [string, string] => [outgoingName(name), value]);
  const typed = pairs.some(([name]) => name.toLowerCase() === 'content-type');
  return { status: statusCode, headers: typed ? pairs : [['content-type', 'application/json'], ...pairs] };
};

/**
 * Reads the metadata that a streamed answer begins with.
 *
 * @throws Error where it is not what API Gateway takes
 */
export const parseMetadata = (json: string): AnswerHead => headOf(head.parse(JSON.parse(json)));

/**
 * Reads a function's buffered answer to a proxy event. A body in base64 goes out as it is: without
 * binary media types API Gateway does not decode it.
 *
 * @throws Error where it is not what API Gateway takes
 */
export const parseAnswer = (json: string): WholeAnswer => {
  const answer = buffered.parse(JSON.parse(json));
  return { ...headOf(answer), body: Buffer.from(answer.body ?? '') };
};

/** Lambda's bound on the answer of a function that is not streamed. */
const maxBufferedBytes = 6_291_556;

/**
 * The whole of an answer as text.
 *
 * @throws Error where it is longer than Lambda's 6 MB
 */
export const collect = async (output: Output): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of output) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBufferedBytes) throw new Error(`the answer is longer than ${maxBufferedBytes} bytes`);
  }
  return Buffer.concat(chunks).toString('utf8');
};
