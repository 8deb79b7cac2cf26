import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { EventStreamCodec } from '@smithy/core/event-streams';
import { serve } from './upstream.ts';

/**
 * What requests have to be signed with. In tests each function has an access key of its own, and all have
 * one secret.
 */
export interface BedrockCredentials {
  readonly secretAccessKey: string;
}

/** A request whose signature was right. */
export interface BedrockRequest {
  /** The path with its query. */
  readonly url: string;
  /** The service and the region that it was signed for. */
  readonly signedFor: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. */
  readonly body: Record<string, unknown>;
}

export type BedrockBehaviour = (request: BedrockRequest, res: ServerResponse) => unknown;

/** A Bedrock of the tests' own: both of its endpoints at one origin. */
export interface FakeBedrock extends AsyncDisposable {
  readonly origin: string;
  /** Every request so far whose signature was right. */
  readonly requests: readonly BedrockRequest[];
  readonly last: () => BedrockRequest;
  /** How many requests were refused for their signature. */
  readonly refused: () => number;
  /** Sets how it answers from now on. */
  readonly behave: (behaviour: BedrockBehaviour) => void;
}

/** SHA-256 in hex, and HMAC-SHA-256, as signatures have them. */
export const hashed = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
export const keyed = (key: string | Uint8Array, data: string): Buffer =>
  createHmac('sha256', key).update(data).digest();

/** RFC 3986, which has fewer unreserved characters than encodeURIComponent leaves. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

interface Signed {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/**
 * Calculates the signature of a request anew, as AWS documents Signature Version 4: the path is encoded
 * twice, and the scope names day, region and service.
 *
 * @returns what it was signed for; undefined if the signature is not right
 */
export const verifySignature = (
  { method, url, headers, body }: Signed,
  { secretAccessKey }: BedrockCredentials,
): string | undefined => {
  const form =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/((\d{8})\/([^/]+)\/([^/]+)\/aws4_request), ?SignedHeaders=([^,]+), ?Signature=(\w{64})$/;
  const found = form.exec(headers.authorization ?? '');
  if (!found) return undefined;
  const [, scope = '', day = '', region = '', service = '', names = '', signature] = found;
  const [path = '', query = ''] = url.split('?');
  const canonicalQuery = [...new URLSearchParams(query)]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&');
  const lines = names.split(';').map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`);
  const required = ['host', 'x-amz-date'].every((name) => names.split(';').includes(name));
  const canonical = [
    method,
    path.split('/').map(encoded).join('/'),
    canonicalQuery,
    lines.join(''),
    names,
    hashed(body),
  ].join('\n');
  const time = String(headers['x-amz-date'] ?? '');
  const toSign = ['AWS4-HMAC-SHA256', time, scope, hashed(canonical)].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<Uint8Array | string>(
    keyed,
    `AWS4${secretAccessKey}`,
  );
  const expected = keyed(key, toSign).toString('hex');
  return required && time.startsWith(day) && expected === signature ? `${service} ${region}` : undefined;
};

/** Answers with an error as AWS's services do. */
export const awsError =
  (status: number, type: string, message: string): BedrockBehaviour =>
  (_request, res) =>
    res
      .writeHead(status, {
        'content-type': 'application/json',
        'x-amzn-errortype': `${type}:http://internal`,
      })
      .end(JSON.stringify({ message }));

/** Starts it. Requests that are not signed with the credentials, or not rightly, get a 403. */
export const startBedrock = async (credentials: () => BedrockCredentials): Promise<FakeBedrock> => {
  const requests: BedrockRequest[] = [];
  let behaviour: BedrockBehaviour = awsError(500, 'InternalServerException', 'nothing was set');
  let refused = 0;
  const server = await serve(async (req, res) => {
    const body = await buffer(req);
    const { method = '', url = '', headers } = req;
    const signedFor = verifySignature({ method, url, headers, body }, credentials());
    const text = body.toString('utf8');
    res.setHeader('x-amzn-requestid', `aws-${requests.length}`);
    if (signedFor === undefined) {
      refused += 1;
      const message = 'The request signature we calculated does not match the signature you provided.';
      const request = { url, signedFor: '', headers, text, body: {} };
      return awsError(403, 'InvalidSignatureException', message)(request, res);
    }
    const request = { url, signedFor, headers, text, body: JSON.parse(text) };
    requests.push(request);
    await behaviour(request, res);
  });
  return {
    ...server,
    requests,
    last: () => {
      const request = requests.at(-1);
      if (!request) throw new Error('Bedrock has had no request');
      return request;
    },
    refused: () => refused,
    behave: (next) => {
      behaviour = next;
    },
  };
};

const codec = new EventStreamCodec(
  (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8'),
  (text: string) => Buffer.from(text, 'utf8'),
);

const header = (value: string) => ({ type: 'string' as const, value });

/** A frame of a stream of AWS's, with an event as its payload. */
export const frame = (type: string, payload: object): Uint8Array =>
  codec.encode({
    headers: {
      ':event-type': header(type),
      ':content-type': header('application/json'),
      ':message-type': header('event'),
    },
    body: Buffer.from(JSON.stringify(payload)),
  });

/** A frame with an exception that the API describes, which ends a stream. */
export const exceptionFrame = (type: string, message: string): Uint8Array =>
  codec.encode({
    headers: {
      ':exception-type': header(type),
      ':content-type': header('application/json'),
      ':message-type': header('exception'),
    },
    body: Buffer.from(JSON.stringify({ message })),
  });

/** Answers with frames, and pieces of them, written one by one. */
export const frames =
  (
    pieces: readonly Uint8Array[],
    end: (res: ServerResponse) => void = (res) => res.end(),
  ): BedrockBehaviour =>
  async (_request, res) => {
    res.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    for (const piece of pieces) {
      res.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    end(res);
  };

const usage = { inputTokens: 9, outputTokens: 3, totalTokens: 12 };

/** An answer of Converse. */
export const converseAnswer = (content: readonly object[], stopReason = 'end_turn', more: object = {}) => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage,
  metrics: { latencyMs: 5 },
  ...more,
});

/** The frames of a streamed answer of Converse: texts of one block. */
export const textFrames = (texts: readonly string[], stopReason = 'end_turn'): Uint8Array[] => [
  frame('messageStart', { role: 'assistant' }),
  ...texts.map((text) => frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })),
  frame('contentBlockStop', { contentBlockIndex: 0 }),
  frame('messageStop', { stopReason }),
  frame('metadata', { usage, metrics: { latencyMs: 5 } }),
];
