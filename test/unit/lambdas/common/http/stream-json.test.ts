import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Context } from 'aws-lambda';
import { beforeAll, describe, expect, it, type MockInstance, vi } from 'vitest';
import * as z from 'zod/mini';
import { endpoint as describeEndpoint, oneAnswer } from '../../../../../api/endpoint.ts';
import { jsonList } from '../../../../../lambdas/common/http/answer.ts';
import type { Streamed } from '../../../../../lambdas/common/http/endpoint.ts';
import type { ServiceRequest } from '../../../../../lambdas/common/http/request.ts';

type Handler = (event: unknown, stream: PassThrough, context: Context) => Promise<void>;

type Answer = (request: ServiceRequest<unknown>) => object | Streamed | Promise<object>;

/** An endpoint with a body of its own, which no other may have. */
const description = describeEndpoint({
  path: '/obj/read',
  shape: oneAnswer,
  stores: {},
  tag: 'objects',
  operations: [],
  request: () => z.strictObject({}),
  projects: () => [],
  answer: () => z.looseObject({}),
});

let write: MockInstance<typeof process.stdout.write>;
let make: (answer: Answer) => Handler;
let streamJson: typeof import('../../../../../lambdas/common/http/endpoint.ts').streamJson;
beforeAll(async () => {
  vi.stubGlobal('awslambda', {
    streamifyResponse: (handler: Handler) => handler,
    HttpResponseStream: { from: (stream: PassThrough, head: object) => Object.assign(stream, { head }) },
  });
  vi.stubEnv('SHARDS', '4');
  vi.stubEnv('AWS_REGION', 'us-east-1');
  write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const http = await import('../../../../../lambdas/common/http/endpoint.ts');
  streamJson = http.streamJson;
  make = (answer) => http.endpoint(description, answer as never) as never;
});

/** What a client gets, and the line that the log gets. */
const answered = async (answer: Answer) => {
  const event = {
    headers: { accept: 'application/json' },
    body: '{}',
    requestContext: { requestId: 'r', authorizer: { user: 'ada', keyId: 'k', grants: '*:read' } },
  };
  const stream = new PassThrough();
  const body = text(stream);
  const context = { getRemainingTimeInMillis: () => 60_000 } as Context;
  await make(answer)(event, stream, context);
  return { body: await body, stream, line: JSON.parse(String(write.mock.lastCall?.[0])) };
};

describe('a streamed JSON value', () => {
  it('is written whole with a line end, and counts as one row', async () => {
    const { body, stream, line } = await answered(async () => ({ a: 1 }));
    expect(body).toBe('{"a":1}\n');
    expect(stream).toMatchObject({ head: { headers: { 'content-type': 'application/json' } } });
    expect(line).toMatchObject({ outcome: 'answered', status: 200, rows: 1, bytes: 8 });
  });

  it('is written in pieces as they come', async () => {
    const batches = (async function* () {
      yield ['1', '2'];
      yield ['3'];
    })();
    const { body, line } = await answered(() => streamJson(jsonList('list', batches)));
    expect(body).toBe('{"list":[1,2,3]}\n');
    expect(line).toMatchObject({ outcome: 'answered', bytes: 17 });
  });

  it('tells the log what it says at the end', async () => {
    let rows = 0;
    const { line } = await answered(async ({ describe }) => {
      describe(() => ({ rows }));
      rows = 7;
      return {};
    });
    expect(line).toMatchObject({ rows: 7 });
  });

  it('is an ordinary error if it fails, without rows', async () => {
    const { body, stream, line } = await answered(() => Promise.reject(new Error('boom')));
    expect(stream).toMatchObject({ head: { statusCode: 500 } });
    expect(JSON.parse(body)).toMatchObject({ detail: [{ type: 'internal_error' }] });
    expect(line).toMatchObject({ outcome: 'failed', status: 500, rows: 0, bytes: 0 });
  });
});
