import { z } from 'zod';
import type { Output } from '../runtime/worker.ts';
import type { CompleteAnswer } from './gateway-response.ts';

/** Status and headers of an answer. */
export type AnswerHead = Pick<CompleteAnswer, 'status' | 'headers'>;

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

/** Headers that API Gateway reserves. It renames those that a function sets. */
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
 * Parses the metadata at the start of a streamed answer.
 *
 * @throws Error if API Gateway would not accept it
 */
export const parseMetadata = (json: string): AnswerHead => headOf(head.parse(JSON.parse(json)));

/**
 * Parses a function's buffered answer to a proxy event. A base64 body stays encoded: API Gateway
 * decodes it only for binary media types, and the API has none.
 *
 * @throws Error if API Gateway would not accept it
 */
export const parseAnswer = (json: string): CompleteAnswer => {
  const answer = buffered.parse(JSON.parse(json));
  return { ...headOf(answer), body: Buffer.from(answer.body ?? '') };
};

/** Lambda's limit for a buffered answer, in bytes. */
const maxBufferedBytes = 6_291_556;

/**
 * Reads a complete answer as text.
 *
 * @throws Error if it exceeds Lambda's 6 MB
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
