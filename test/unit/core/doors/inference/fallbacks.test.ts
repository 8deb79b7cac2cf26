import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { inferenceBody } from '../../../../../api/inference.ts';
import {
  forward,
  neverReached,
  parseUpstreams,
  Recording,
  SecretKeys,
  secretsClient,
} from '../../../../../core/doors/inference/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import {
  type Behaviour,
  chunk,
  completion,
  done,
  event,
  events,
  json,
  startUpstream,
  type TestUpstream,
} from '../../../../support/service/upstream.ts';

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup[Symbol.asyncDispose]();
  cleanup = new AsyncDisposableStack();
});

/** Upstreams that behave so, in order. */
const start = async (...behaviours: readonly Behaviour[]): Promise<TestUpstream[]> => {
  const upstreams = await Promise.all(behaviours.map((behaviour) => startUpstream(behaviour)));
  for (const upstream of upstreams) cleanup.use(upstream);
  return upstreams;
};

/** The base URL of a port that nobody listens on. */
const nobody = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/v1`;
};

const names = ['first', 'second', 'third'];

interface Setting {
  readonly baseUrl: string;
  readonly api?: string;
  readonly key?: string;
  readonly firstByteSeconds?: number;
}

interface Asked {
  readonly body?: object;
  readonly gone?: AbortSignal;
  readonly maxMs?: number;
  readonly path?: '/chat/completions' | '/messages';
}

/** Asks upstreams at these URLs in order, and gives what the recording has. */
const ask = (settings: readonly Setting[], asked: Asked = {}) => {
  const { path = '/chat/completions', maxMs = 20_000, gone = new AbortController().signal } = asked;
  const upstreams = parseUpstreams(
    JSON.stringify(
      settings.map(({ baseUrl, api, key, firstByteSeconds }, i) => ({
        name: names[i],
        models: ['*'],
        baseUrl,
        api,
        key,
        firstByteSeconds,
      })),
    ),
    '',
  );
  const body = { model: 'm', messages: [], ...asked.body };
  const recording = new Recording({ path, body, requestId: 'r' });
  const keys = new SecretKeys(secretsClient);
  const answer = forward(
    { upstreams, keys },
    { path, body: inferenceBody().parse(body), received: body, headers: {}, maxMs, gone, recording },
  );
  const summary = () => {
    const [, end] = recording.reports('acme/shop' as ProjectId);
    if (end?.kind !== 'end') throw new Error('there is no end');
    return { ...(end.end.summary.inference as JsonObject), exception: end.end.exception };
  };
  return { answer, summary, usage: () => recording.answer.usage };
};

const anyMs = expect.any(Number);
const hello = json(completion({ content: 'Hello' }));
const silent: Behaviour = () => {};
const headOnly: Behaviour = (_request, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.flushHeaders();
};
const breaking: Behaviour = (_request, res) => res.destroy();
const html: Behaviour = (_request, res) =>
  res.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');

describe('the next upstream is asked when one', () => {
  it.each<[string, Behaviour, object]>([
    ['has too many requests', json({ error: {} }, 429, { 'retry-after': '7' }), { status: 429 }],
    ['is overloaded', json({ error: {} }, 529), { status: 529 }],
    ['fails', json({ error: {} }, 500), { status: 500 }],
    ['answers with HTML of a proxy', html, { status: 502 }],
    ['breaks off before its answer', breaking, { error: expect.stringContaining('closed the connection') }],
    [
      'breaks off after its head',
      (_request, res) => {
        res.writeHead(200, { 'content-length': '10' }).flushHeaders();
        setImmediate(() => res.destroy());
      },
      { error: expect.stringContaining('closed the connection') },
    ],
    [
      'redirects',
      (_request, res) => res.writeHead(302, { location: '/' }).end(),
      { error: expect.stringContaining('redirect') },
    ],
  ])('%s', async (_name, behaviour, attempt) => {
    const upstreams = await start(behaviour, hello);
    const { answer, summary } = ask(upstreams);
    const { status, body, upstream, attempts } = await answer;
    expect(JSON.parse(await text(body))).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
    expect([status, upstream, attempts]).toEqual([200, 'second', 2]);
    expect(summary()).toMatchObject({
      exception: null,
      attempts: [
        { upstream: 'first', ...attempt, ms: anyMs },
        { upstream: 'second', status: 200, ms: anyMs },
      ],
    });
  });

  it('refuses the connection', async () => {
    const [second] = await start(hello);
    const { answer, summary } = ask([{ baseUrl: await nobody() }, { baseUrl: second?.baseUrl ?? '' }]);
    expect((await answer).upstream).toBe('second');
    expect(summary()).toMatchObject({ attempts: [{ upstream: 'first' }, { status: 200 }] });
  });

  it.each([
    ['no answer', silent],
    ['no byte of a stream', headOnly],
  ])('gives %s within its time', async (_name, behaviour) => {
    const [first, second] = await start(behaviour, events([event(chunk({ content: 'Hi' })), done]));
    const { answer, summary } = ask([
      { baseUrl: first?.baseUrl ?? '', firstByteSeconds: 0.2 },
      { baseUrl: second?.baseUrl ?? '' },
    ]);
    const { upstream, body } = await answer;
    expect([upstream, await text(body)]).toEqual(['second', expect.stringContaining('Hi')]);
    expect(summary()).toMatchObject({
      exception: null,
      attempts: [{ upstream: 'first', error: expect.stringContaining('no first byte within 0.2 s') }, {}],
    });
    expect(first?.requests).toHaveLength(1);
    await first?.last().aborted;
  });

  it('answers what cannot be translated', async () => {
    const notJson: Behaviour = (_request, res) => res.writeHead(200).end('<html>');
    const [first, second] = await start(notJson, hello);
    const { answer, summary } = ask([
      { baseUrl: first?.baseUrl ?? '', api: 'anthropic' },
      { baseUrl: second?.baseUrl ?? '' },
    ]);
    const { upstream, body } = await answer;
    expect([upstream, JSON.parse(await text(body)).object]).toEqual(['second', 'chat.completion']);
    expect(summary()).toMatchObject({
      exception: null,
      attempts: [{ error: expect.stringContaining('what is not JSON') }, { status: 200 }],
    });
  });
});

/** What Anthropic's API sends in a stream that has not begun, and what OpenRouter does. */
const overloaded =
  'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy"}}\n\n';
const failing = ': waiting\n\ndata: {"error":{"code":502,"message":"Provider failed"},"choices":[]}\n\n';
const stream = events([event(chunk({ content: 'Hi' })), done]);
const asked = { messages: [{ role: 'user', content: 'Hi' }], stream: true, max_tokens: 5 };

describe('a stream that begins with an error', () => {
  it.each([
    ['that is translated', 'anthropic', overloaded, 529],
    ['that is forwarded', 'openai', failing, 502],
  ])('%s gives way to the next upstream', async (_name, api, error, status) => {
    const [first, second] = await start(events([error]), stream);
    const { answer, summary } = ask(
      [{ baseUrl: first?.baseUrl ?? '', api }, { baseUrl: second?.baseUrl ?? '' }],
      { body: asked },
    );
    const { upstream, body } = await answer;
    expect([upstream, await text(body)]).toEqual(['second', expect.stringContaining('Hi')]);
    expect(summary()).toMatchObject({ exception: null, attempts: [{ status }, { status: 200 }] });
  });

  it('is that error if no other upstream is there and it is translated', async () => {
    const [first] = await start(events([overloaded]));
    const { answer, summary } = ask([{ baseUrl: first?.baseUrl ?? '', api: 'anthropic' }], { body: asked });
    const { status, headers, body } = await answer;
    expect([status, headers['content-type']]).toEqual([529, 'application/json']);
    expect(JSON.parse(await text(body))).toMatchObject({ error: { message: 'Busy' } });
    expect(summary()).toMatchObject({ exception: '529: Busy', status: 529 });
  });

  it('has every byte if it is about the request', async () => {
    const refused = event({ error: { code: 400, message: 'No' } });
    const upstreams = await start(events([refused, done], 20), stream);
    const { upstream, body } = await ask(upstreams, { body: asked }).answer;
    expect([upstream, await text(body)]).toEqual(['first', refused + done]);
  });

  it('loses no byte if it begins otherwise', async () => {
    const whole = event(chunk({ content: 'Schön' })) + done;
    const pieces = [...Buffer.from(whole)].map((byte) => Buffer.from([byte]));
    const upstreams = await start(events(pieces), stream);
    expect(await text((await ask(upstreams, { body: asked }).answer).body)).toBe(whole);
  });
});

it('an answer with a number of the provider in place of a status is a 500', async () => {
  const [first] = await start(json({ error: { code: 20_015, message: 'Odd' } }));
  const setting = { baseUrl: first?.baseUrl ?? '', api: 'anthropic' };
  await expect(ask([setting], { body: { ...asked, stream: false } }).answer).rejects.toMatchObject({
    status: 500,
    message: 'Odd',
  });
});

it('a compressed answer cannot be translated, and is said to be one', async () => {
  const [first] = await start((_request, res) =>
    res.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).end('zipped'),
  );
  const setting = { baseUrl: first?.baseUrl ?? '', api: 'anthropic' };
  await expect(ask([setting], { body: asked }).answer).rejects.toMatchObject({
    status: 502,
    message: expect.stringContaining('compressed (gzip)'),
  });
});

it('a recorded stream that is translated has its usage, which the client gets if it asks for it', async () => {
  const usage = { input_tokens: 9, output_tokens: 3 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage };
  const answered = [
    { type: 'message_start', message },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ].map((data) => `event: ${data.type}\n${event(data)}`);
  for (const include_usage of [false, true]) {
    const [first] = await start(events(answered));
    const stream_options = { include_usage };
    const { answer, usage: recorded } = ask([{ baseUrl: first?.baseUrl ?? '', api: 'anthropic' }], {
      body: { ...asked, stream_options },
    });
    const sent = await text((await answer).body);
    expect(sent.includes('"prompt_tokens":9')).toBe(include_usage);
    expect(recorded()).toMatchObject({ m: { prompt_tokens: 9, completion_tokens: 3 } });
  }
});

describe('no other upstream is asked', () => {
  it.each([400, 401, 403, 404, 408, 413, 422])('after a %i, which is about the request', async (status) => {
    const upstreams = await start(json({ error: { message: 'no' } }, status), hello);
    const answer = await ask(upstreams).answer;
    expect([answer.status, answer.attempts, JSON.parse(await text(answer.body))]).toEqual([
      status,
      1,
      { error: { message: 'no' } },
    ]);
    expect(upstreams[1]?.requests).toEqual([]);
  });

  it('once a byte has gone out', async () => {
    const broken: Behaviour = (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(event(chunk({ content: 'Hi' })));
      setTimeout(() => res.destroy(), 50);
    };
    const upstreams = await start(broken, hello);
    const { answer, summary } = ask(upstreams);
    await expect(text((await answer).body)).rejects.toThrow();
    expect(upstreams[1]?.requests).toEqual([]);
    expect(summary()).toMatchObject({
      exception: 'the upstream first broke its answer off',
      attempts: [{ upstream: 'first', status: 200 }],
    });
  });

  it('once the client has gone', async () => {
    const leaving = new AbortController();
    const upstreams = await start(() => leaving.abort(), hello);
    await expect(ask(upstreams, { gone: leaving.signal }).answer).rejects.toThrow();
    expect(upstreams[1]?.requests).toEqual([]);
  });

  it("once the client's own time is up, which is for all together", async () => {
    const upstreams = await start(json({}, 503), silent, hello);
    const { answer } = ask(
      upstreams.map(({ baseUrl }) => ({ baseUrl })),
      { body: { timeout: 0.3 } },
    );
    await expect(answer).rejects.toMatchObject({ status: 504, isCallersTimeout: true });
    expect(upstreams[2]?.requests).toEqual([]);
  });
});

describe('if all fail', () => {
  it('the client gets the answer of the last as it is', async () => {
    const upstreams = await start(
      json({ from: 'first' }, 500),
      json({ from: 'last' }, 429, { 'retry-after': '7' }),
    );
    const { status, headers, body } = await ask(upstreams).answer;
    expect([status, headers['retry-after'], await text(body)]).toEqual([429, '7', '{"from":"last"}']);
  });

  it('it is said why the last did', async () => {
    const upstreams = await start(json({}, 500), silent);
    const settings = upstreams.map(({ baseUrl }) => ({ baseUrl, firstByteSeconds: 0.2 }));
    const { answer, summary } = ask(settings);
    await expect(answer).rejects.toMatchObject({
      status: 504,
      message: 'the upstream second gave no first byte within 0.2 s',
    });
    expect(summary()).toMatchObject({ attempts: [{ status: 500 }, { upstream: 'second' }] });
  });

  it('nothing is owed, unless one of them may have worked', async () => {
    const [refusing, slow] = await start(json({}, 429), silent);
    const last = { baseUrl: await nobody() };
    const free = await ask([{ baseUrl: refusing?.baseUrl ?? '' }, last]).answer.catch((e: unknown) => e);
    expect(neverReached(free)).toBe(true);
    const dear = await ask([{ baseUrl: slow?.baseUrl ?? '', firstByteSeconds: 0.2 }, last]).answer.catch(
      (e: unknown) => e,
    );
    expect(neverReached(dear)).toBe(false);
  });
});

describe('an upstream that cannot take a request', () => {
  const body = { messages: [{ role: 'user', content: 'Hi' }], n: 2, max_tokens: 5 };

  it('is passed over', async () => {
    const [first, second] = await start(hello, hello);
    const { answer } = ask(
      [{ baseUrl: first?.baseUrl ?? '', api: 'anthropic' }, { baseUrl: second?.baseUrl ?? '' }],
      { body },
    );
    expect(await answer).toMatchObject({ upstream: 'second', attempts: 1 });
    expect(first?.requests).toEqual([]);
  });

  it('says why if there is no other', async () => {
    const [first] = await start(hello);
    const { answer, summary } = ask([{ baseUrl: first?.baseUrl ?? '', api: 'anthropic' }], { body });
    const refusal = await answer.catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 422, detail: [{ loc: ['body', 'n'] }] });
    expect(summary().exception).toMatch(/^n cannot be said in/);
    // What limits hold goes back.
    expect(neverReached(refusal)).toBe(true);
  });
});

describe("an upstream that speaks Anthropic's API", () => {
  it('gets its key and the version in headers of its own', async () => {
    const [first] = await start(json({ type: 'message', content: [] }));
    const setting = { baseUrl: first?.baseUrl ?? '', api: 'anthropic', key: 'sk-ant' };
    const body = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 };
    await ask([setting], { path: '/messages', body }).answer;
    const { url, headers, body: sent } = first?.last() ?? {};
    expect([url, sent]).toEqual(['/v1/messages', { model: 'm', ...body }]);
    expect(headers).toMatchObject({ 'x-api-key': 'sk-ant', 'anthropic-version': '2023-06-01' });
    expect(headers).not.toHaveProperty('authorization');
  });

  it('leaves at the last event of its stream count as a whole answer', async () => {
    const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
    const lingering: Behaviour = (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(stop);
    };
    const [first] = await start(lingering);
    const leaving = new AbortController();
    const { answer, summary } = ask([{ baseUrl: first?.baseUrl ?? '', api: 'anthropic' }], {
      path: '/messages',
      gone: leaving.signal,
    });
    const { body, isComplete } = await answer;
    for await (const bytes of body) {
      expect(String(bytes)).toBe(stop);
      break;
    }
    expect(isComplete()).toBe(true);
    leaving.abort();
    expect(summary().exception).toBeNull();
  });
});
