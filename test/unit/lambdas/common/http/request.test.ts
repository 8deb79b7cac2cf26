import middy from '@middy/core';
import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { type ProjectId, ServiceError } from '../../../../../foundations/wire/index.ts';
import { type BodySchema, projectId } from '../../../../../foundations/wire/schema.ts';
import {
  answerErrors,
  authorize,
  logRequest,
  readCaller,
  readRequest,
  type ServiceEvent,
} from '../../../../../lambdas/common/http/request.ts';

type Body = { project_id: ProjectId };
type Event = ServiceEvent<Body>;

const schema = z.strictObject({ project_id: projectId });

/** The middlewares of an endpoint, around a handler that answers what they found. */
const createHandler = (schema: BodySchema<Body>, tolerant = false) =>
  middy<Event, APIGatewayProxyResult>()
    .use([
      logRequest('/test'),
      answerErrors(),
      readCaller(),
      readRequest({ request: () => schema, tolerant }),
      authorize<Body>({
        role: 'write',
        projects: (body) => [{ projectId: body.project_id, loc: ['project_id'] }],
      }),
    ])
    .handler(async ({ service: { id, caller, body } }) => ({
      statusCode: 200,
      body: JSON.stringify({ id, user: caller.user, body }),
    }));

beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => vi.restoreAllMocks());

const own = createHandler(schema);

const call = async (changes: object = {}, authorizer: object = {}, handler = own) => {
  const event = {
    headers: {},
    body: '{"project_id":"acme/shop"}',
    isBase64Encoded: false,
    requestContext: {
      requestId: 'request-1',
      authorizer: { user: 'ada', keyId: 'key', grants: 'acme/*:write', ...authorizer },
    },
    ...changes,
  };
  const context = { getRemainingTimeInMillis: () => 10_000 } as Context;
  const answer = await handler(event as unknown as Event, context);
  return { ...answer, body: JSON.parse(answer.body) };
};

describe('a request', () => {
  it('reaches its handler with its caller and its body', async () => {
    expect(await call()).toMatchObject({
      statusCode: 200,
      body: { id: 'request-1', user: 'ada', body: { project_id: 'acme/shop' } },
    });
  });

  it('may have a body in base64', async () => {
    const body = Buffer.from('{"project_id":"acme/b64"}').toString('base64');
    expect(await call({ body, isBase64Encoded: true })).toMatchObject({
      body: { body: { project_id: 'acme/b64' } },
    });
  });

  it.each([
    ['in base64', { body: Buffer.from('{"a":"\xe9"}', 'latin1').toString('base64'), isBase64Encoded: true }],
    ['as text that the gateway mended', { headers: { 'Content-Length': '9' }, body: '{"a":"\ufffd"}' }],
  ])('has to be UTF-8: %s', async (_, sent) => {
    expect(await call(sent)).toMatchObject({
      statusCode: 422,
      body: { detail: [{ loc: ['body', '6'], type: 'json_invalid' }] },
    });
  });

  it('may hold the replacement character itself', async () => {
    const body = '{"project_id":"acme/shop","\ufffd":1}';
    const extra = { statusCode: 422, body: { detail: [{ type: 'extra_forbidden' }] } };
    for (const length of [Buffer.byteLength(body), undefined, 'nonsense'])
      expect(await call({ headers: { 'content-length': length }, body })).toMatchObject(extra);
  });

  it.each(['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.api+json'])(
    'may be %s',
    async (type) => {
      expect(await call({ headers: { 'Content-Type': type } })).toMatchObject({ statusCode: 200 });
    },
  );

  it.each([
    [{ 'content-type': 'text/plain' }, 415, 'content-type'],
    [{ 'Content-Type': 'application/x-www-form-urlencoded' }, 415, 'content-type'],
    [{ 'content-encoding': 'gzip' }, 415, 'content-encoding'],
  ])('with %j is a %i', async (headers, statusCode, header) => {
    expect(await call({ headers })).toMatchObject({
      statusCode,
      body: { detail: [{ loc: ['header', header], type: 'unsupported_media_type' }] },
    });
  });

  it('with a content type twice is a 415 that does not ask for what is there', async () => {
    const answer = await call({ headers: { 'content-type': 'application/json, application/json' } });
    expect(answer).toMatchObject({
      statusCode: 415,
      body: {
        detail: [{ msg: 'should be only application/json; it is "application/json, application/json"' }],
      },
    });
  });

  it('is a 401 once its key has expired, whatever the gateway has cached', async () => {
    const at = (offset: number) => ({ expiresAt: new Date(Date.now() + offset).toISOString() });
    expect(await call({}, at(60_000))).toMatchObject({ statusCode: 200 });
    expect(await call({}, at(-1))).toMatchObject({
      statusCode: 401,
      headers: { 'www-authenticate': expect.stringContaining('Basic realm="svc"') },
      body: { detail: [{ loc: ['header', 'authorization'], type: 'unauthorized' }] },
    });
  });

  it('is a 403 on a project that its key may not write', async () => {
    expect(await call({}, { grants: 'acme/shop:read other/*:write' })).toMatchObject({
      statusCode: 403,
      body: { detail: [{ loc: ['body', 'project_id'], type: 'forbidden' }] },
    });
  });
});

describe('a request that is taken with fields that nobody knows', () => {
  const withList = z.strictObject({
    project_id: projectId,
    batch: z.optional(z.array(z.strictObject({ id: z.string() }))),
  });
  const tolerant = createHandler(withList as BodySchema<Body>, true);

  it('may have unknown fields, which are passed over and said in the log', async () => {
    const lines: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    const batch = ['a', 'b'].map((id) => ({ id, started_by: 'x', __proto__: 1 }));
    const body = JSON.stringify({ project_id: 'acme/shop', batch, later: { than: 'this' } });
    expect(await call({ body }, {}, tolerant)).toMatchObject({
      statusCode: 200,
      body: { body: { project_id: 'acme/shop', batch: [{ id: 'a' }, { id: 'b' }] } },
    });
    const refused = JSON.stringify({ project_id: 'acme', later: 1 });
    expect(await call({ body: refused }, {}, tolerant)).toMatchObject({
      statusCode: 422,
      body: { detail: [{ loc: ['body', 'project_id'], type: 'value_error' }] },
    });
  });

  it('says its fields in the path, or as a GET in the query', async () => {
    const inPath = { resource: '/x/{project_id}', pathParameters: { project_id: 'acme/path' }, body: '{}' };
    expect(await call(inPath, {}, tolerant)).toMatchObject({ body: { body: { project_id: 'acme/path' } } });
    const inQuery = (project_id: string) => ({ httpMethod: 'GET', queryStringParameters: { project_id } });
    expect(await call(inQuery('acme/query'), {}, tolerant)).toMatchObject({
      body: { body: { project_id: 'acme/query' } },
    });
    expect(await call(inQuery('acme'), {}, tolerant)).toMatchObject({
      statusCode: 422,
      body: { detail: [{ loc: ['query', 'project_id'] }] },
    });
    const bad = { ...inPath, pathParameters: { project_id: 'acme' } };
    expect(await call(bad, {}, tolerant)).toMatchObject({
      body: { detail: [{ loc: ['path', 'project_id'] }] },
    });
  });
});

describe('an unforeseen error', () => {
  it('is a 500 without details, and a line in the log with all of them', async () => {
    const lines: string[] = [];
    const write = vi
      .spyOn(process.stdout, 'write')
      .mockImplementation((line) => lines.push(String(line)) > 0);
    const answer = await call({ requestContext: { requestId: 'request-2', authorizer: null } });
    write.mockRestore();
    expect(answer).toMatchObject({
      statusCode: 500,
      headers: { 'x-request-id': 'request-2' },
      body: { detail: [{ type: 'internal_error' }] },
    });
    expect(JSON.stringify(answer)).not.toContain('authorizer');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 'error',
        requestId: 'request-2',
        route: '/test',
        status: 500,
        error: { message: expect.stringContaining('authorizer') },
      },
    ]);
  });

  it('tells a client when to retry if it is temporary', async () => {
    const failing = middy<Event, APIGatewayProxyResult>()
      .use(answerErrors())
      .handler(async () => {
        throw new ServiceError(503, [], { retryAfterSeconds: 1 });
      });
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const answer = await failing({ requestContext: { requestId: 'r' } } as unknown as Event, {} as Context);
    write.mockRestore();
    expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1', 'x-request-id': 'r' } });
  });
});
