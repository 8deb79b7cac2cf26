import { gzipSync, zstdCompressSync } from 'node:zlib';
import { type FixedEvent, toHead } from '../common/http/answer.ts';
import { type Coding, contentCoding } from '../common/http/negotiate.ts';

/** The document as JSON text, set by the bundler: it is made when the stack is. */
declare const OPENAPI_DOCUMENT: string;

/** The bundler puts the text wherever the constant stands, so it stands here alone. */
const text = OPENAPI_DOCUMENT;

const compress = { zstd: zstdCompressSync, gzip: gzipSync } as const satisfies Record<Coding, unknown>;

/** The document in each coding that was asked for, made once. */
const encodedDocuments = new Map<Coding | undefined, Uint8Array>();

const bytesAs = (coding: Coding | undefined): Uint8Array => {
  const bytes = encodedDocuments.get(coding) ?? (coding ? compress[coding](text) : Buffer.from(text));
  encodedDocuments.set(coding, bytes);
  return bytes;
};

/**
 * `GET /openapi.json`: the OpenAPI document of the service. It takes no credentials and changes
 * with a deployment alone. It is streamed, because the gateway would take the bytes of a buffered
 * answer for text.
 */
export const handler = awslambda.streamifyResponse(async (event: FixedEvent, stream) => {
  const coding = contentCoding(event);
  const { statusCode, headers } = toHead(event, 'public, max-age=300');
  const answer = awslambda.HttpResponseStream.from(stream, {
    statusCode,
    headers: { ...headers, vary: 'accept-encoding', ...(coding && { 'content-encoding': coding }) },
  });
  // The head goes out with the first write, not with the end.
  answer.write(bytesAs(coding));
  answer.end();
});
