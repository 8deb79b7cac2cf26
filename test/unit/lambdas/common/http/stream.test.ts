import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { Context } from 'aws-lambda';
import { beforeAll, describe, expect, it, type MockInstance, onTestFinished, vi } from 'vitest';
import * as z from 'zod/mini';
import { endpoint as describeEndpoint, longAnswer } from '../../../../../api/endpoint.ts';
import { invalid } from '../../../../../foundations/wire/index.ts';
import type { ServiceRequest } from '../../../../../lambdas/common/http/request.ts';
import type { Limits } from '../../../../../lambdas/common/http/stream.ts';

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

/** An endpoint with a body of its own, which no other may have. */
const description = describeEndpoint({
  path: '/calls/stream_query',
  shape: longAnswer,
  stores: {},
  tag: 'calls',
  operations: [],
  request: () => z.strictObject({}),
  projects: () => [],
  answer: () => z.object({}),
  form: 'records',
});

let make: (text: Streamer, own?: Partial<Limits>, rows?: () => number) => Handler;
beforeAll(async () => {
  vi.stubGlobal('awslambda', lambda);
  for (const [name, value] of Object.entries({
    SHARDS: '4',
    CALLS_TABLE: 't',
    PAYLOADS_BUCKET: 'b',
  })) {
    vi.stubEnv(name, value);
  }
  vi.stubEnv('AWS_REGION', 'us-east-1');
  write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const { limits } = await import('../../../../../lambdas/common/http/stream.ts');
  const { endpoint, Streamed } = await import('../../../../../lambdas/common/http/endpoint.ts');
  make = (text, own = {}, rows = () => 0) =>
    endpoint(
      description,
      (request) => {
        request.describe(() => ({ rows: rows() }));
        return new Streamed(() => text(request), 7);
      },
      { ...limits, ...own },
    ) as never;
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

  it('is one frame of zstd, however its pieces come: httpx reads no second one', async () => {
    const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
    for (const pieces of [1, 2, 5, 20]) {
      const stream = new PassThrough();
      const done = make(async function* () {
        for (let i = 0; i < pieces; i++) yield `${'x'.repeat(10)}${i}\n`;
      })(event({ 'Accept-Encoding': 'zstd' }), stream, context);
      const bytes = Buffer.concat(await stream.toArray());
      await done;
      expect([bytes.indexOf(magic), bytes.lastIndexOf(magic)]).toEqual([0, 0]);
    }
  });

  it('does not destroy the stream of Lambda when it breaks off: its runtime would end', async () => {
    const stream = new PassThrough();
    stream.resume();
    const broken = make(async function* () {
      yield 'first\n';
      throw new Error('no more');
    })(event(), stream, context);
    await expect(broken).rejects.toThrow('no more');
    expect(stream).toMatchObject({ destroyed: false, writableEnded: false });
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
    await expect.poll(() => [signal?.aborted, ended]).toEqual([true, true]);
    await expect.poll(lastLine).toMatchObject({ level: 'info', outcome: 'gone', bytes: 6, failed: 0 });
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

/** All that a stream gets, also if it ends in an error. */
const collectText = (stream: PassThrough): (() => string) => {
  const got: Buffer[] = [];
  stream.on('data', (data) => got.push(data));
  stream.on('error', () => {});
  return () => Buffer.concat(got).toString();
};

describe('an answer that is silent for long', () => {
  const silent = { silenceMs: 5 };
  const slowly = async function* () {
    await sleep(30);
    yield '{"a": 1}\n';
  };

  it.each([
    ['application/jsonl', /^\n+\{"a": 1\}\n$/],
    ['application/json', /^\n+\{"a": 1\}\n$/],
    ['text/csv', /^(\r\n)+\{"a": 1\}\n$/],
  ])('has empty lines before its text as %s', async (accept, expected) => {
    const stream = new PassThrough();
    const text = collectText(stream);
    await make(slowly, silent)(event({ accept }), stream, context);
    expect(stream).toMatchObject({ head: { statusCode: 200, headers: { 'content-type': accept } } });
    expect(text()).toMatch(expected);
    expect(lastLine()).toMatchObject({ outcome: 'answered', bytes: text().length });
  });

  it('sends them at once if it is compressed', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const stream = new PassThrough();
    const lines = stream.pipe(createGunzip());
    const done = make(async function* () {
      await released;
      yield 'first\n';
    }, silent)(event({ 'accept-encoding': 'gzip' }), stream, context);
    const [first] = await once(lines, 'data');
    expect(String(first)).toMatch(/^\n+$/);
    release();
    lines.resume();
    await done;
  });

  it('ends with the error that its status could not tell any more, and breaks off', async () => {
    const stream = new PassThrough();
    const text = collectText(stream);
    // biome-ignore lint/correctness/useYield: it never gets so far.
    const failing = async function* (): AsyncGenerator<string> {
      await sleep(30);
      throw invalid({ loc: ['body', 'sort_by'], msg: 'too many', type: 'value_error' });
    };
    await expect(make(failing, silent)(event(), stream, context)).rejects.toThrow('too many');
    expect(JSON.parse(text())).toEqual({
      detail: [{ loc: ['body', 'sort_by'], msg: 'too many', type: 'value_error' }],
    });
    expect(lastLine()).toMatchObject({ level: 'info', outcome: 'refused', status: 200, failed: 0 });
  });

  it('tells nothing of a failure of the service but that it breaks off', async () => {
    const stream = new PassThrough();
    const text = collectText(stream);
    // biome-ignore lint/correctness/useYield: it never gets so far.
    const failing = async function* (): AsyncGenerator<string> {
      await sleep(30);
      throw new Error('boom');
    };
    await expect(make(failing, silent)(event(), stream, context)).rejects.toThrow('boom');
    expect(text()).toMatch(/^\n+$/);
    expect(lastLine()).toMatchObject({ level: 'error', outcome: 'broken' });
  });
});

describe('an answer that is too long', () => {
  const line = `${'x'.repeat(99)}\n`;
  const lines = () => {
    let rows = 0;
    const text = async function* () {
      for (let i = 0; i < 100; i += 1) {
        rows += 1;
        yield line;
      }
    };
    return { text, rows: () => rows };
  };

  it.each(['identity', 'gzip'])('ends with an error that says where to go on: %s', async (encoding) => {
    const stream = new PassThrough();
    const plain = encoding === 'gzip' ? stream.pipe(createGunzip()) : stream;
    const text = collectText(plain as PassThrough);
    const { text: source, rows } = lines();
    const done = make(source, { answerBytes: 450 }, rows)(
      event({ 'accept-encoding': encoding }),
      stream,
      context,
    );
    await expect(done).rejects.toThrow('200 MB');
    const whole = text().split(line).length - 1;
    expect(whole).toBeGreaterThanOrEqual(4);
    if (encoding === 'identity') expect(whole).toBe(4);
    const [, last = ''] = text().split(line.repeat(whole));
    expect(JSON.parse(last)).toEqual({
      detail: [
        {
          loc: ['body', 'offset'],
          msg: expect.stringContaining(`the first ${whole} are above, continue with "offset": ${7 + whole}`),
          type: 'answer_too_long',
        },
      ],
    });
    expect(lastLine()).toMatchObject({ level: 'info', outcome: 'refused', rows: whole });
  });
});

describe('an answer that nobody takes', () => {
  it('ends its work after a while', async () => {
    const stream = new PassThrough({ highWaterMark: 1 });
    let signal: AbortSignal | undefined;
    let pieces = 0;
    const done = make(
      async function* ({ budget }) {
        signal = budget.signal;
        for (; ; pieces += 1) yield `${'x'.repeat(100_000)}\n`;
      },
      { stalledMs: 50 },
    )(event(), stream, context);
    await expect(done).rejects.toThrow('nobody takes the answer any more');
    expect(signal?.aborted).toBe(true);
    expect(pieces).toBeLessThan(10);
    await expect.poll(lastLine).toMatchObject({ level: 'info', outcome: 'gone', failed: 0 });
  });

  it.each(['gzip', 'identity'])(
    'fails no later request if its reader left before it began, with %s',
    async (coding) => {
      const uncaught = vi.fn();
      process.on('uncaughtExceptionMonitor', uncaught);
      onTestFinished(() => void process.off('uncaughtExceptionMonitor', uncaught));
      const stream = new PassThrough();
      const done = make(
        async function* () {
          stream.destroy();
          yield 'all\n';
        },
        { stalledMs: 20 },
      )(event({ 'Accept-Encoding': coding }), stream, context);
      await expect(done).rejects.toThrow('Premature close');
      await sleep(60);
      expect(uncaught).not.toHaveBeenCalled();
    },
  );

  it('ends its work if it begins when the time of its function is up', async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const stream = new PassThrough();
    stream.resume();
    await make(
      async function* () {
        try {
          await sleep(60);
          for (;;) yield `${'x'.repeat(1000)}\n`;
        } finally {
          end();
        }
      },
      { stalledMs: 60_000 },
    )(event(), stream, { getRemainingTimeInMillis: () => 20 } as Context);
    expect(stream).toMatchObject({ head: { statusCode: 503 } });
    await ended;
  });
});
