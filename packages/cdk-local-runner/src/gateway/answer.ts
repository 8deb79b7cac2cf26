import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { delimiterLength } from '../runtime/response-stream.ts';
import type { Output } from '../runtime/worker.ts';
import type { GatewayResponseSpec } from '../template/stack.ts';
import { type RefusalType, refusals } from './request.ts';

/** What a gateway response can show of its request. */
interface ResponseContext {
  readonly requestId: string;
  /** The media type of the request's body; empty if it says none. */
  readonly mediaType: string;
  /** The authorizer's context; empty before it was asked. */
  readonly authorizer: Readonly<Record<string, string>>;
}

/** An answer with its complete body. */
export interface CompleteAnswer {
  readonly status: number;
  /** Names and values in order. A name may occur several times. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

const contextVariable = /\$?context\.((?:\w+\.)*\w+)/;

/** Matches every `$context` variable of a body template. */
const contextVariables = /\$context\.((?:\w+\.)*\w+)|\$\{context\.((?:\w+\.)*\w+)\}/g;

const contextValue = (
  name: string,
  type: RefusalType,
  { requestId, authorizer }: ResponseContext,
): string => {
  const { message } = refusals[type];
  switch (name) {
    case 'requestId':
    case 'extendedRequestId':
      return requestId;
    case 'error.message':
      return message;
    case 'error.messageString':
      return JSON.stringify(message);
    case 'error.responseType':
      return type;
  }
  if (name.startsWith('authorizer.')) return authorizer[name.slice('authorizer.'.length)] ?? '';
  throw new Error(`$context.${name} is not supported locally in a gateway response`);
};

/** A header's value from its expression: a text in single quotes, or a context variable. */
const headerValue = (expression: string, type: RefusalType, context: ResponseContext): string => {
  const [, text] = /^'(.*)'$/s.exec(expression) ?? [];
  if (text !== undefined) return text;
  const [whole, name] = contextVariable.exec(expression) ?? [];
  if (whole !== expression || name === undefined)
    throw new Error(`the header expression ${expression} is not supported locally in a gateway response`);
  return contextValue(name, type, context);
};

const json = 'application/json';
const awsTemplate = '{"message":$context.error.messageString}';

/**
 * Renders the gateway's own answer. The template's response of this type goes first, then its
 * default for the status class, then API Gateway's. Of several media types the request's own
 * counts; AWS does not document how it chooses.
 *
 * @throws Error if the template has an expression that is not supported locally
 */
export const renderGatewayResponse = (
  responses: ReadonlyMap<string, GatewayResponseSpec>,
  type: RefusalType,
  context: ResponseContext,
): CompleteAnswer => {
  const { status } = refusals[type];
  const spec = responses.get(type) ?? responses.get(status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX');
  const templates = spec?.templates ?? {};
  const mediaType = Object.hasOwn(templates, context.mediaType) ? context.mediaType : json;
  const template = templates[mediaType] ?? awsTemplate;
  const body = template.replace(contextVariables, (_whole, plain?: string, braced?: string) =>
    contextValue(plain ?? braced ?? '', type, context),
  );
  const headers = Object.entries(spec?.headers ?? {}).map(
    ([name, expression]) => [name, headerValue(expression, type, context)] as const,
  );
  return {
    status: spec?.status ?? status,
    headers: [['content-type', mediaType], ...headers],
    body: Buffer.from(body),
  };
};

type AnswerHead = Pick<CompleteAnswer, 'status' | 'headers'>;

const headerText = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const head = z.object({
  statusCode: z.coerce.number().int().min(100).max(599),
  headers: z.record(z.string(), headerText).nullish(),
  multiValueHeaders: z.record(z.string(), z.array(headerText)).nullish(),
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

const toHead = ({ statusCode, headers, multiValueHeaders, cookies }: z.output<typeof head>): AnswerHead => {
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
export const parseMetadata = (json: string): AnswerHead => toHead(head.parse(JSON.parse(json)));

/**
 * Parses a function's buffered answer to a proxy event. A base64 body stays encoded: API Gateway
 * decodes it only for binary media types, and the API has none.
 *
 * @throws Error if API Gateway would not accept it
 */
export const parseAnswer = (json: string): CompleteAnswer => {
  const answer = buffered.parse(JSON.parse(json));
  return { ...toHead(answer), body: Buffer.from(answer.body ?? '') };
};

/** Reads a complete answer as text. The function's worker has checked its length. */
export const collect = (output: Output): Promise<string> => text(Readable.from(output));

const delimiter = Buffer.alloc(delimiterLength);

/** The longest metadata, in bytes. No client accepts longer headers. */
const maxMetadataBytes = 64 * 1024;

interface SplitOutput {
  /** The text before the delimiter. */
  readonly metadata: string;
  /** The bytes after it, as they come. */
  readonly body: Output;
}

async function* readBody(first: Uint8Array, rest: Output): Output {
  try {
    if (first.length > 0) yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return();
  }
}

/**
 * Splits a streamed answer at the eight NUL bytes after its metadata. The chunks may end anywhere.
 *
 * @throws Error if the answer ends before the delimiter or has none within 64 KB; the function's
 * error if it fails
 */
export const splitOutput = async (output: Output): Promise<SplitOutput> => {
  let head = Buffer.alloc(0);
  for (let next = await output.next(); !next.done; next = await output.next()) {
    // The delimiter may begin in an earlier chunk.
    const from = Math.max(0, head.length - delimiterLength + 1);
    head = Buffer.concat([head, next.value]);
    const at = head.indexOf(delimiter, from);
    if (at >= 0) {
      const metadata = head.toString('utf8', 0, at);
      return { metadata, body: readBody(head.subarray(at + delimiterLength), output) };
    }
    if (head.length > maxMetadataBytes) break;
  }
  await output.return();
  throw new Error('the function wrote no metadata: answer through awslambda.HttpResponseStream.from');
};
