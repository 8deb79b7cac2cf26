import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findLine } from '../../../../support/service/log-lines.ts';
import { startService, type TestService } from '../../../../support/service/service.ts';
import {
  chunk,
  done,
  event,
  events,
  json,
  startUpstream,
  type TestUpstream,
} from '../../../../support/service/upstream.ts';

let upstream: TestUpstream;
let service: TestService;
beforeAll(async () => {
  upstream = await startUpstream();
  service = await startService({ inference: { baseUrl: upstream.baseUrl, key: 'sk-upstream' } });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

const post = (body: unknown, init: RequestInit & { path?: string } = {}): Promise<Response> => {
  const { path = '/chat/completions', headers, ...rest } = init;
  return fetch(`${service.url}/inference/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...rest,
  });
};

const model = 'gpt-test';

/** Sends a request over a connection of its own and gives the answer once its head is there. */
const begin = async (body: object): Promise<IncomingMessage> => {
  const req = httpRequest(`${service.url}/inference/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    agent: false,
  });
  req.on('error', () => {});
  req.end(JSON.stringify(body));
  const [response] = await once(req, 'response');
  return response;
};

describe('a request', () => {
  it.each(['/chat/completions', '/completions', '/embeddings', '/responses'])(
    'is forwarded to %s',
    async (path) => {
      upstream.behave(json({ path }));
      const response = await post({ model, anything: [1] }, { path });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ path });
      expect(upstream.last()).toMatchObject({
        method: 'POST',
        url: `/v1${path}`,
        body: { model, anything: [1] },
      });
    },
  );

  it('loses the service’s own fields but no digit of the rest', async () => {
    upstream.behave(json({}));
    const extra_headers = { 'X-Title': 'shop', TraceParent: '00-1-2-01' };
    await post(
      `{"model": "${model}", "timeout": 5, "api_version": "2026-01-01", "extra_headers": ${JSON.stringify(extra_headers)}, "big": 12345678901234567890, "f": 1.0}`,
    );
    const { text, url, headers } = upstream.last();
    expect(text).toBe(`{"model":"${model}","big":12345678901234567890,"f":1.0}`);
    expect(url).toBe('/v1/chat/completions?api-version=2026-01-01');
    expect(headers).toMatchObject({
      'x-title': 'shop',
      traceparent: '00-1-2-01',
      authorization: 'Bearer sk-upstream',
      'accept-encoding': 'identity',
    });
    expect(headers.host).toBe(new URL(upstream.baseUrl).host);
    expect(Number(headers['content-length'])).toBe(text.length);
  });

  it('carries no credentials, project or proxies of the client', async () => {
    upstream.behave(json({}));
    await post(
      { model },
      {
        headers: {
          'OpenAI-Project': 'acme/shop',
          Cookie: 'a=b',
          'X-Forwarded-For': '1.2.3.4',
          'OpenAI-Beta': 'x=v2',
        },
      },
    );
    const { headers } = upstream.last();
    expect(JSON.stringify(headers)).not.toContain(service.key);
    expect(Object.keys(headers).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'openai-beta',
      'user-agent',
    ]);
  });

  it.each([
    ['/models', 404],
    ['/chat', 404],
    ['/chat/completions/', 404],
    ['/chat//completions', 404],
    ['/..%2f..%2fadmin', 404],
    ['/chat%2fcompletions%3fx', 404],
    ['/chat/completions@evil.example', 404],
  ])('to %s is answered with %i and not forwarded', async (path, status) => {
    const before = upstream.requests.length;
    const response = await post({ model }, { path });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ detail: [{ loc: ['path'], type: 'not_found' }] });
    expect(upstream.requests).toHaveLength(before);
  });

  it.each([
    [{}, ['body', 'model'], 'missing'],
    [{ model: 7 }, ['body', 'model'], 'string_type'],
    [{ model, messages: 'hi' }, ['body', 'messages'], 'list_type'],
    [{ model, temperature: '1' }, ['body', 'temperature'], 'float_type'],
    [{ model, n: 1.5 }, ['body', 'n'], 'int_type'],
    [{ model, stream: 'yes' }, ['body', 'stream'], 'bool_type'],
    [{ model, logit_bias: [] }, ['body', 'logit_bias'], 'dict_type'],
    [{ model, timeout: -1 }, ['body', 'timeout'], 'greater_than'],
    [{ model, api_version: '1&x=y' }, ['body', 'api_version'], 'value_error'],
    [
      { model, extra_headers: { 'x-title': 'b\r\nHost: evil' } },
      ['body', 'extra_headers', 'x-title'],
      'value_error',
    ],
    [{ model, extra_headers: { 'x a': 'b' } }, ['body', 'extra_headers', 'x a'], 'value_error'],
    ['{"model":', ['body', '9'], 'json_invalid'],
  ])('with %j is answered with a 422 that names the position', async (body, loc, type) => {
    const before = upstream.requests.length;
    const response = await post(body);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ detail: [{ loc, type }] });
    expect(response.headers.get('x-request-id')).toBeTruthy();
    expect(upstream.requests).toHaveLength(before);
  });
});

describe('extra_headers', () => {
  it.each([
    'authorization',
    'Host',
    'connection',
    'content-length',
    'transfer-encoding',
    'Cookie',
    'api-key',
    'x-api-key',
    'OpenAI-Organization',
    'openai-project',
    'x-amzn-bedrock-guardrailIdentifier',
    'X-Amz-Security-Token',
    'x-forwarded-for',
    'x-title2',
    'to',
  ])('with %s are answered with a 422 that names it and those that may pass', async (name) => {
    const before = upstream.requests.length;
    const response = await post({ model, extra_headers: { 'x-title': 'a', [name]: 'b' } });
    expect(response.status).toBe(422);
    const { detail } = (await response.json()) as { detail: { loc: string[]; msg: string }[] };
    expect(detail.map(({ loc }) => loc)).toEqual([['body', 'extra_headers', name]]);
    expect(detail[0]?.msg).toContain('traceparent');
    expect(upstream.requests).toHaveLength(before);
  });
});

describe('an answer', () => {
  it('keeps its status, body and headers, except those about the upstream', async () => {
    upstream.behave(
      json({ error: { message: 'slow down', type: 'rate_limit_error' } }, 429, {
        'retry-after': '7',
        'x-ratelimit-remaining-requests': '0',
        'openai-processing-ms': '12',
        'x-request-id': 'req_upstream',
        'set-cookie': ['a=b', 'c=d'],
        connection: 'close, x-secret-hop',
        'x-secret-hop': '1',
        'strict-transport-security': 'max-age=1',
        'clear-site-data': '"*"',
        refresh: '0; url=https://evil.example',
        link: '<https://evil.example/x.js>; rel=preload',
        'x-content-type-options': 'sniff',
        'x-anything': '1',
      }),
    );
    const response = await post({ model });
    expect(response.status).toBe(429);
    expect(await response.text()).toBe('{"error":{"message":"slow down","type":"rate_limit_error"}}');
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'retry-after': '7',
      'x-ratelimit-remaining-requests': '0',
      'openai-processing-ms': '12',
      'x-upstream-request-id': 'req_upstream',
      'x-request-id': headers['x-amzn-requestid'],
      'x-content-type-options': 'nosniff',
    });
    for (const name of [
      'set-cookie',
      'x-secret-hop',
      'strict-transport-security',
      'authorization',
      'clear-site-data',
      'refresh',
      'link',
      'x-anything',
    ]) {
      expect(headers).not.toHaveProperty(name);
    }
  });

  it.each([400, 401, 403, 404, 500, 503])('of status %i is forwarded', async (status) => {
    upstream.behave(json({ error: { message: 'no', code: 'x' } }, status));
    const response = await post({ model });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: { message: 'no', code: 'x' } });
  });

  it('is forwarded unchanged if it is compressed against the service’s wish', async () => {
    upstream.behave((_request, res) =>
      res
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync('{"a":1}')),
    );
    expect(await (await post({ model })).json()).toEqual({ a: 1 });
  });

  it('is not followed if it is a redirect', async () => {
    upstream.behave((_request, res) => res.writeHead(307, { location: 'http://169.254.169.254/' }).end());
    const response = await post({ model });
    expect(response.status).toBe(502);
    expect(await response.text()).not.toContain('169.254');
  });

  it('is a 504 if it does not come in time, and the upstream sees it', async () => {
    upstream.behave(() => {});
    const response = await post({ model, timeout: 0.3 });
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ detail: [{ loc: ['upstream'], type: 'timeout' }] });
    await upstream.last().aborted;
    expect(await findLine(service, response)).toMatchObject({
      level: 'warn',
      outcome: 'timed_out',
      failed: 0,
    });
  });

  it('is a 502 if it never begins', async () => {
    upstream.behave((_request, res) => res.destroy());
    const response = await post({ model });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ detail: [{ type: 'upstream_unreachable' }] });
  });
});

describe('a stream', () => {
  const misbehaving = [
    event(chunk({ role: 'assistant', content: '' })),
    ': a comment\r\n\r\n',
    'data: {"garbage\n\n',
    event(chunk({ content: 'größer 😀' })),
    'data: {"a":\ndata: 1}\n\n',
    done,
    'trailing bytes after the end \u0000',
  ].join('');

  it('is forwarded byte for byte, wherever it is split', async () => {
    const bytes = Buffer.from(misbehaving);
    for (const size of [1, 7, 64]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      upstream.behave(events(pieces, 1));
      const response = await post({ model, stream: true });
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    }
  });

  it('does not delay an event until the next', async () => {
    const { promise: go, resolve: release } = Promise.withResolvers<void>();
    upstream.behave(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: first\n\n');
      await go;
      res.end(done);
    });
    const response = await begin({ model, stream: true });
    const [first] = await once(response, 'data');
    expect(String(first)).toBe('data: first\n\n');
    release();
    const [second] = await once(response, 'data');
    expect(String(second)).toBe(done);
  });

  it('passes each event on before the next one comes', async () => {
    const arrivals = Array.from({ length: 20 }, () => Promise.withResolvers<void>());
    upstream.behave(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const [i, { promise }] of arrivals.entries()) {
        res.write(event({ i }));
        await promise;
      }
      res.end(done);
    });
    const response = await begin({ model, stream: true });
    let arrived = 0;
    response.on('data', (data: Buffer) => {
      for (const _ of String(data).matchAll(/data: \{/g)) arrivals[arrived++]?.resolve();
    });
    await once(response, 'end');
    expect(arrived).toBe(arrivals.length);
  });

  it('breaks off for the client if it breaks off upstream', async () => {
    upstream.behave(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(event(chunk({ content: 'half' })));
      await new Promise((resolve) => setTimeout(resolve, 50));
      res.destroy();
    });
    const response = await post({ model, stream: true });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  it('breaks off if it takes longer than the request allows', async () => {
    upstream.behave(async ({ aborted }, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => res.write(event(chunk({ content: 'x' }))), 10);
      await aborted;
      clearInterval(timer);
    });
    const response = await post({ model, stream: true, timeout: 0.4 });
    await expect(response.text()).rejects.toThrow();
    await upstream.last().aborted;
    expect(await findLine(service, response)).toMatchObject({
      level: 'warn',
      outcome: 'timed_out',
      status: 200,
    });
  });

  it('ends upstream if its client disconnects, before its head and after', async () => {
    upstream.behave(() => {});
    const early = new AbortController();
    const refused = post({ model, stream: true }, { signal: early.signal }).catch(
      (error: Error) => error.name,
    );
    const before = upstream.requests.length;
    await expect.poll(() => upstream.requests.length).toBe(before + 1);
    early.abort();
    expect(await refused).toBe('AbortError');
    await upstream.last().aborted;

    upstream.behave(async ({ aborted }, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => res.write(event(chunk({ content: 'endless' }))), 5);
      await aborted;
      clearInterval(timer);
    });
    const response = await begin({ model, stream: true });
    await once(response, 'data');
    response.destroy();
    await upstream.last().aborted;
  });

  it('is not read faster than its client reads', async () => {
    let written = 0;
    upstream.behave(async ({ aborted }, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      let open = true;
      aborted.then(() => {
        open = false;
      });
      const piece = `data: ${'x'.repeat(64 * 1024)}\n\n`;
      while (open && written < 256 * 1024 * 1024) {
        written += piece.length;
        if (!res.write(piece)) await Promise.race([once(res, 'drain'), aborted]);
      }
    });
    const response = await begin({ model, stream: true });
    response.pause();
    await expect
      .poll(async () => {
        const before = written;
        await new Promise((resolve) => setTimeout(resolve, 200));
        return written - before;
      })
      .toBe(0);
    expect(written).toBeLessThan(64 * 1024 * 1024);
    response.destroy();
    await upstream.last().aborted;
  });
});
