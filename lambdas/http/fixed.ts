import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { type Coding, contentCoding } from './accept.ts';

/** The answer of an endpoint without credentials, the same for everybody. */
export interface FixedAnswer {
  /** JSON, with a line end. */
  readonly text: string;
  /** The `cache-control` header: how long a client or a cache may keep it. */
  readonly cacheControl: string;
}

type Event = Pick<APIGatewayProxyEvent, 'headers' | 'httpMethod' | 'requestContext'>;

const headOf = ({ requestContext }: Event, cacheControl: string) => ({
  statusCode: 200,
  headers: {
    'content-type': 'application/json',
    'x-request-id': requestContext.requestId,
    'cache-control': cacheControl,
  },
});

/**
 * Makes the handler of an endpoint that answers everybody the same short JSON text, and HEAD
 * with none. It reads the method and the request's id alone and logs nothing: the access log has
 * the request, and nothing here can fail.
 */
export const fixedEndpoint =
  ({ text, cacheControl }: FixedAnswer) =>
  async (event: Event): Promise<APIGatewayProxyResult> => ({
    ...headOf(event, cacheControl),
    body: event.httpMethod === 'HEAD' ? '' : text,
  });

const compress = { zstd: zstdCompressSync, gzip: gzipSync } as const satisfies Record<Coding, unknown>;

/**
 * The same for a longer text, which is compressed if the client likes. It is streamed, because the
 * gateway would take the bytes of a buffered answer for text. Each form is made once.
 */
export const fixedStream = ({ text, cacheControl }: FixedAnswer) => {
  const made = new Map<Coding | undefined, Uint8Array>();
  const bytesAs = (coding: Coding | undefined): Uint8Array => {
    const bytes = made.get(coding) ?? (coding ? compress[coding](text) : Buffer.from(text));
    made.set(coding, bytes);
    return bytes;
  };
  return awslambda.streamifyResponse(async (event: Event, stream) => {
    const coding = contentCoding(event);
    const { statusCode, headers } = headOf(event, cacheControl);
    const answer = awslambda.HttpResponseStream.from(stream, {
      statusCode,
      headers: { ...headers, vary: 'accept-encoding', ...(coding && { 'content-encoding': coding }) },
    });
    // The head goes out with the first write, not with the end.
    answer.write(bytesAs(coding));
    answer.end();
  });
};
