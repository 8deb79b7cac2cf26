import { type FixedEvent, jsonText, toHead } from '../common/http/answer.ts';
import { type Coding, compress, compressedOnly, contentCoding } from '../common/http/negotiate.ts';

/** The document as JSON text, set by the bundler: it is made when the stack is. */
declare const OPENAPI_DOCUMENT: string;

/** The bundler puts the text wherever the constant stands, so it stands here alone. */
const text = OPENAPI_DOCUMENT;

/** The document in each coding that was asked for, made once. */
const encodedDocuments = new Map<Coding, Uint8Array>();

const bytesAs = (coding: Coding): Uint8Array => {
  const bytes = encodedDocuments.get(coding) ?? compress[coding](text);
  encodedDocuments.set(coding, bytes);
  return bytes;
};

/**
 * `GET /openapi.json`: the OpenAPI document of the service. It takes no credentials and changes
 * with a deployment alone. It is streamed, because the gateway would take the bytes of a buffered
 * answer for text, and it is long, so it goes out compressed alone.
 */
export const handler = awslambda.streamifyResponse(async (event: FixedEvent, stream) => {
  const coding = contentCoding(event);
  const { statusCode, headers } = toHead(event, coding ? 'public, max-age=300' : 'no-store');
  const answer = awslambda.HttpResponseStream.from(stream, {
    statusCode: coding ? statusCode : 406,
    headers: {
      ...headers,
      vary: 'accept-encoding',
      ...(coding && { 'content-encoding': coding }),
    },
  });
  // The head goes out with the first write, not with the end.
  answer.write(coding ? bytesAs(coding) : jsonText(compressedOnly(Object.keys(compress))));
  answer.end();
});
