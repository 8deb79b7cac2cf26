import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { Context } from 'aws-lambda';
import { beforeAll, describe, expect, it, type MockInstance, vi } from 'vitest';
import * as z from 'zod/mini';
import type { Endpoint } from '../../../../lambdas/http/endpoint.ts';
import type { ServiceRequest } from '../../../../lambdas/http/event.ts';

type Handler = (event: unknown, stream: PassThrough, context: Context) => Promise<void>;
type Streamer = (request: ServiceRequest<unknown>) => AsyncGenerator<string>;

/** Lambda's globals, as far as a handler needs them. */
const lambda = {
  streamifyResponse: (handler: Handler) => handler,
  HttpResponseStream: { from: (stream: PassThrough, head: object) => Object.assign(stream, { head }) },
};

let write: MockInstance<typeof process.stdout.write>;
/** The last line that the log got. */
const lastLine = () => JSON.parse(String(write.mock.lastCall?.[0]));

let make: (text: Streamer) => Handler;
beforeAll(async () => {
  vi.stubGlobal('awslambda', lambda);
  for (const [name, value] of Object.entries({
    SERVICE_NAME: 'svc',
    SHARDS: '4',
    CALLS_TABLE: 't',
    PAYLOADS_BUCKET: 'b',
  })) {
    vi.stubEnv(name, value);
  }
  vi.stubEnv('AWS_REGION', 'us-east-1');
  write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const { streamEndpoint } = await import('../../../../lambdas/http/stream.ts');
  // A body of its own, which no endpoint may have.
  const endpoint = {
    path: '/calls/stream_query',
    body: z.strictObject({}),
    projects: () => [],
  } as unknown as Endpoint<object>;
  make = (text) =>
    streamEndpoint(endpoint, ['application/jsonl'], (request) => ({
      text: text(request),
      logged: () => ({}),
    })) as never;
});

const event = (headers: object = {}) => ({
  headers,
  body: '{}',
  requestContext: { requestId: 'r', authorizer: { user: 'ada', keyId: 'k', grants: '*:read' } },
});
const context = { getRemainingTimeInMillis: () => 60_000 } as Context;

describe('a streamed answer', () => {
  it.each([
    ['gzip', createGunzip],
    ['zstd', createZstdDecompress],
  ] as const)('does not delay a line until the next one with %s', async (coding, decompress) => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const stream = new PassThrough();
    const lines = stream.pipe(decompress());
    const done = make(async function* () {
      yield 'first\n';
      await released;
      yield 'second\n';
    })(event({ 'Accept-Encoding': coding }), stream, context);
    const [first] = await once(lines, 'data');
    expect(String(first)).toBe('first\n');
    release();
    const [second] = await once(lines, 'data');
    expect(String(second)).toBe('second\n');
    await done;
    expect(stream).toMatchObject({
      head: { statusCode: 200, headers: { 'content-encoding': coding, 'x-request-id': 'r' } },
    });
  });

  it('ends its source and pending work if nobody reads it any more', async () => {
    const stream = new PassThrough();
    let signal: AbortSignal | undefined;
    let ended = false;
    const done = make(async function* ({ budget }) {
      signal = budget.signal;
      try {
        yield 'first\n';
        await once(budget.signal as AbortSignal, 'abort');
      } finally {
        ended = true;
      }
    })(event(), stream, context);
    await once(stream, 'data');
    stream.destroy();
    await expect(done).rejects.toThrow();
    await vi.waitFor(() => expect([signal?.aborted, ended]).toEqual([true, true]));
    await vi.waitFor(() =>
      expect(lastLine()).toMatchObject({ level: 'info', outcome: 'gone', bytes: 6, failed: 0 }),
    );
  });

  it('is an ordinary error if it fails before its first text', async () => {
    const stream = new PassThrough();
    stream.resume();
    // biome-ignore lint/correctness/useYield: it never gets so far.
    await make(async function* () {
      throw new Error('boom');
    })(event(), stream, context);
    expect(stream).toMatchObject({ head: { statusCode: 500 } });
    expect(lastLine()).toMatchObject({ level: 'error', outcome: 'failed', status: 500, bytes: 0 });
  });

  it('rejects if it fails later, which closes the connection', async () => {
    const stream = new PassThrough();
    stream.resume();
    const done = make(async function* () {
      yield 'first\n';
      throw new Error('boom');
    })(event(), stream, context);
    await expect(done).rejects.toThrow('boom');
    expect(lastLine()).toMatchObject({
      level: 'error',
      outcome: 'broken',
      status: 200,
      bytes: 6,
      error: { message: 'boom' },
    });
  });
});
