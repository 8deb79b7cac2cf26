import type { BusEvent } from 'cdk-local-runner/streams';
import OpenAI, { RateLimitError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventDetails } from '../../../../../api/openapi/events.ts';
import type { Grant, SpendingLimits } from '../../../../../foundations/auth/index.ts';
import { parseProjectId } from '../../../../../foundations/wire/index.ts';
import { keyWith, limitedKey, newKey } from '../../../../support/service/keys.ts';
import { startService, type TestService } from '../../../../support/service/service.ts';
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
import { politeness } from '../../../../support/values/evaluators.ts';

const model = 'gpt-4o-mini';
/** What tokens of the model cost, in dollars. */
const promptUsd = 0.15e-6;
const answerUsd = 0.6e-6;
const messages = [{ role: 'user' as const, content: 'Weather in Graz?' }];

let upstream: TestUpstream;
let service: TestService;
beforeAll(async () => {
  upstream = await startUpstream();
  service = await startService({
    settings: { limits: true, evaluators: { concurrency: 2 }, events: true },
    inference: { baseUrl: upstream.baseUrl, key: 'sk-upstream' },
    maxWindowMs: 50,
  });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

interface Limit {
  readonly of: string;
  readonly period: string;
  readonly spent_usd: number;
  readonly left_usd: number;
}

/** A key with limits, an OpenAI client with it, and what `GET /me` says of them. */
const spender = async (limits: SpendingLimits, project?: string) => {
  const scope = parseProjectId(project ?? '') ?? ('*' as const);
  const roles = ['inference', 'write'] as const;
  const apiKey = await limitedKey(service, limits, ...roles.map((role) => ({ scope, role })));
  const client = new OpenAI({
    apiKey,
    baseURL: `${service.url}/inference/v1`,
    maxRetries: 0,
    ...(project && { project }),
  });
  const left = async (): Promise<Limit[]> => {
    const headers = { authorization: `Basic ${btoa(`api:${apiKey}`)}` };
    const answer = await fetch(`${service.url}/me`, { headers });
    return ((await answer.json()) as { limits: Limit[] }).limits;
  };
  /** Waits until what was spent is right: corrections come after the answers. */
  const hasSpent = async (usd: number) =>
    expect.poll(async () => (await left())[0]?.spent_usd).toBeCloseTo(usd, 9);
  return { client, left, hasSpent, apiKey };
};

const setLimits = async (project_id: string, limits: object): Promise<void> => {
  const obj = { project_id, object_id: 'limits', val: { _type: 'Limits', ...limits } };
  const answer = await service.post('/obj/create', { obj });
  expect(answer.status, await answer.text()).toBe(200);
};

const usage = (prompt: number, answer: number) => ({
  prompt_tokens: prompt,
  completion_tokens: answer,
  total_tokens: prompt + answer,
});
const costs = (prompt: number, answer: number) => prompt * promptUsd + answer * answerUsd;

/** Answers with as many tokens as a request allows, which is the worst that text can cost. */
const worst: Behaviour = (request, res) => {
  const { max_tokens: most } = request.body;
  const used = usage(Buffer.byteLength(request.text) - 20, Number(most));
  return json({ ...completion({ content: 'Sunny' }), model, usage: used })(request, res);
};

/** Streams an answer, and its usage if the request asks for it. */
const streaming: Behaviour = (request, res) => {
  const asked = (request.body.stream_options as { include_usage?: boolean } | undefined)?.include_usage;
  const last = { ...chunk({}), model, choices: [], usage: usage(1000, 100) };
  const texts = ['Sun', 'ny'].map((content) => event({ ...chunk({ content }), model, usage: null }));
  return events([...texts, ...(asked ? [event(last)] : []), done])(request, res);
};

describe('a limit', () => {
  it('of a project is told to keys for reading or inference, and not to one that may only report', async () => {
    const scope = 'acme/told' as const;
    await setLimits(scope, { usd_per_day: 5 });
    const projectId = parseProjectId(scope) ?? '*';
    for (const [role, told] of [
      ['read', ['project']],
      ['inference', ['project']],
      ['report', []],
    ] as const) {
      const key = await limitedKey(service, {}, { scope: projectId, role });
      const answer = await fetch(`${service.url}/me`, {
        headers: { authorization: `Basic ${btoa(`api:${key}`)}` },
      });
      const { limits } = (await answer.json()) as { limits: Limit[] };
      expect([role, limits.map(({ of }) => of)]).toEqual([role, told]);
    }
  });

  it('is never passed by requests at once that bound their answers', async () => {
    upstream.behave(worst);
    const { client, left } = await spender({ usdPerDay: 0.006 });
    const before = upstream.requests.length;
    const ask = () => client.chat.completions.create({ model, messages, max_tokens: 1000 });
    const all = await Promise.allSettled(Array.from({ length: 25 }, ask));
    const answered = all.filter(({ status }) => status === 'fulfilled').length;
    expect(answered).toBeGreaterThan(5);
    expect(upstream.requests.length - before).toBe(answered);
    const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused.every((error) => error instanceof RateLimitError)).toBe(true);
    const [{ spent_usd = 1, left_usd } = {}] = await left();
    expect(spent_usd).toBeLessThanOrEqual(0.006);
    expect(spent_usd).toBeGreaterThan(0.004);
    expect(left_usd).toBeCloseTo(0.006 - spent_usd, 9);
  });

  it('answers as OpenAI does when its quota is used up', async () => {
    upstream.behave(worst);
    const { client } = await spender({ usdPerMonth: 0.0001 });
    const error: unknown = await client.chat.completions.create({ model, messages }).catch((e: unknown) => e);
    if (!(error instanceof RateLimitError)) throw error;
    expect(error).toMatchObject({ status: 429, type: 'insufficient_quota', code: 'spending_limit' });
    expect(error.error).toMatchObject({ limit_usd: 0.0001, spent_usd: 0 });
    const { resets_at } = error.error as { resets_at: string };
    expect(resets_at).toMatch(/^\d{4}-\d\d-01T00:00:00.000000Z$/);
    const seconds = Number(error.headers?.get('retry-after'));
    expect(Math.abs(Date.now() + seconds * 1000 - Date.parse(resets_at))).toBeLessThan(60_000);
    expect(error.message).toContain("the key's limit of $0.0001 a month leaves $0.0001");
  });

  it('counts what answers cost in the end, and is not told of before four fifths', async () => {
    upstream.behave(json({ ...completion({ content: 'Sunny' }), model, usage: usage(1000, 100) }));
    const { client, hasSpent } = await spender({ usdPerDay: 1 });
    const { response } = await client.chat.completions.create({ model, messages }).withResponse();
    expect(response.headers.get('x-spending-warning')).toBeNull();
    await hasSpent(costs(1000, 100));
  });

  it('warns of itself once four fifths are spent', async () => {
    upstream.behave(json({ ...completion({ content: 'Sunny' }), model, usage: usage(1_000_000, 100_000) }));
    const { client, hasSpent } = await spender({ usdPerDay: 0.25 });
    const ask = () => client.chat.completions.create({ model, messages, max_tokens: 10 }).withResponse();
    await ask();
    await hasSpent(costs(1_000_000, 100_000));
    const { response } = await ask();
    expect(response.headers.get('x-spending-warning')).toBe(
      "84 % of the key's limit of $0.25 a day is spent",
    );
  });

  it('puts one event on the bus then, however many requests follow', async () => {
    const tokens = usage(1_000_000, 100_000);
    upstream.behave(json({ ...completion({ content: 'Sunny' }), model, usage: tokens }));
    const events: BusEvent[] = [];
    const unsubscribe = service.bus.subscribe((event) => {
      if (event['detail-type'] === 'LimitNearlyReached') events.push(event);
    });
    const { client, hasSpent, apiKey } = await spender({ usdPerDay: 0.7 });
    const ask = () => client.chat.completions.create({ model, messages, max_tokens: 10 });
    await ask();
    await hasSpent(costs(1_000_000, 100_000));
    expect(events).toEqual([]);
    await Promise.all([ask(), ask(), ask()]);
    await expect.poll(() => events.length).toBeGreaterThan(0);
    await hasSpent(4 * costs(1_000_000, 100_000));
    await expect(ask()).rejects.toMatchObject({ status: 429 });
    unsubscribe();
    expect(events.map(({ detail }) => eventDetails().LimitNearlyReached.parse(detail))).toEqual([
      expect.objectContaining({
        of: 'key',
        key_id: apiKey.split('_')[1],
        project_id: null,
        period: 'day',
        limit_usd: 0.7,
        event_id: expect.any(String),
      }),
    ]);
  });

  it.each([false, true])(
    'learns the usage of a stream, which a client sees if it asked: %s',
    async (streams) => {
      upstream.behave(streaming);
      const { client, hasSpent } = await spender({ usdPerDay: 1 });
      const stream = await client.chat.completions.create({
        model,
        messages,
        stream: true,
        ...(streams && { stream_options: { include_usage: true } }),
      });
      const chunks = await Array.fromAsync(stream);
      expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Sunny');
      expect(chunks.flatMap((one) => (one.usage ? [one.usage.total_tokens] : []))).toEqual(
        streams ? [1100] : [],
      );
      await hasSpent(costs(1000, 100));
    },
  );

  it('counts what the Responses API says, streamed or not', async () => {
    const response = { id: 'r', object: 'response', model, status: 'completed', output: [] };
    const used = { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 };
    const { client, hasSpent } = await spender({ usdPerDay: 1 });
    upstream.behave(json({ ...response, usage: used }));
    await client.responses.create({ model, input: 'Hello', max_output_tokens: 200 });
    await hasSpent(costs(1000, 100));
    const last = { type: 'response.completed', response: { ...response, usage: used } };
    upstream.behave(events([`event: response.completed\n${event(last)}`]));
    await Array.fromAsync(await client.responses.create({ model, input: 'Hello', stream: true }));
    await hasSpent(2 * costs(1000, 100));
    expect(upstream.last().body).not.toHaveProperty('stream_options');
  });

  it('counts an answer without usage as what was held, and errors as nothing', async () => {
    const { client, left, hasSpent } = await spender({ usdPerDay: 1 });
    upstream.behave(json({ error: { message: 'no' } }, 400));
    const ask = () => client.chat.completions.create({ model, messages, max_tokens: 1000 });
    await expect(ask()).rejects.toMatchObject({ status: 400 });
    await hasSpent(0);
    const { usage: _usage, ...answer } = completion({ content: 'Sunny' }) as Record<string, unknown>;
    upstream.behave(json(answer));
    await ask();
    const bytes = Buffer.byteLength(upstream.last().text);
    await hasSpent(costs(bytes, 1000));
    expect(await left()).toHaveLength(1);
  });

  it('refuses models without a price, and nothing where there is no limit', async () => {
    upstream.behave(json(completion({ content: 'Sunny' })));
    const own = { model: 'own/unpriced', messages };
    const { client } = await spender({ usdPerDay: 1 });
    await expect(client.chat.completions.create(own)).rejects.toMatchObject({
      status: 422,
      code: 'model_without_price',
      message: expect.stringContaining('own/unpriced has no price in dollars'),
    });
    const { client: free } = await spender({});
    expect((await free.chat.completions.create(own)).choices).toHaveLength(1);
  });
});

describe("a project's limits", () => {
  it('take a model as soon as it has the price that a refusal asks for', async () => {
    const project = 'acme/priced-late';
    await setLimits(project, { usd_per_day: 1 });
    upstream.behave(json(completion({ content: 'Sunny' })));
    const { client } = await spender({}, project);
    const ask = (own: string) => client.chat.completions.create({ model: own, messages, max_tokens: 10 });
    for (const own of ['own/first', 'own/second']) {
      await expect(ask(own)).rejects.toMatchObject({ status: 422, code: 'model_without_price' });
      const price = { prompt_token_cost: 1e-6, completion_token_cost: 1e-6 };
      const { status } = await service.post('/cost/create', { project_id: project, costs: { [own]: price } });
      expect(status).toBe(200);
      expect((await ask(own)).choices).toHaveLength(1);
    }
  });

  it('are those of its object, by its own prices, and take the role admin', async () => {
    const project = 'acme/limited';
    const writer = await keyWith(service, { scope: '*', role: 'write' });
    const obj = { project_id: project, object_id: 'limits', val: { _type: 'Limits', usd_per_day: 100 } };
    const refused = await service.post('/obj/create', { obj }, { headers: { authorization: writer } });
    expect(refused.status).toBe(403);
    await setLimits(project, { usd_per_day: 0.001, usd_per_month: 1 });
    // Something else in its place takes admin, and does not lift them.
    for (const val of [{ usd_per_day: 100 }, { _class_name: 'Limits', _type: 'Limits' }]) {
      const put = { obj: { ...obj, val } };
      const covered = await service.post('/obj/create', put, { headers: { authorization: writer } });
      expect(covered.status).toBe(403);
    }
    expect((await service.post('/obj/create', { obj: { ...obj, val: { a: 1 } } })).status).toBe(200);
    const price = { prompt_token_cost: 1e-6, completion_token_cost: 1e-6 };
    await service.post('/cost/create', { project_id: project, costs: { 'own/priced': price } });
    upstream.behave(
      json({ ...completion({ content: 'Sunny' }), model: 'own/priced', usage: usage(300, 400) }),
    );
    const { client, left, hasSpent } = await spender({}, project);
    const ask = (max_tokens: number) =>
      client.chat.completions.create({ model: 'own/priced', messages, max_tokens });
    await ask(500);
    await hasSpent(0.0007);
    expect((await left()).map(({ of, period }) => [of, period])).toEqual([
      ['project', 'day'],
      ['project', 'month'],
    ]);
    await expect(ask(500)).rejects.toMatchObject({ status: 429, code: 'spending_limit' });
    // Requests without a project count for the key alone.
    upstream.behave(json(completion({ content: 'Sunny' })));
    const { client: elsewhere } = await spender({});
    await elsewhere.chat.completions.create({ model, messages });
  });

  it('hold for a key of this project alone, also if its requests do not name it', async () => {
    const project = 'acme/unnamed';
    const scope = parseProjectId(project);
    if (!scope) throw new Error('no project');
    await setLimits(project, { usd_per_day: 0.0001 });
    const createKey = (...grants: Grant[]) => newKey(service, ...grants);
    const status = async (apiKey: string) => {
      const client = new OpenAI({ apiKey, baseURL: `${service.url}/inference/v1`, maxRetries: 0 });
      const asked = client.chat.completions.create({ model, messages });
      return asked.then(
        () => 200,
        (error: { status?: number }) => error.status,
      );
    };
    upstream.behave(json({ ...completion({ content: 'Sunny' }), model, usage: usage(10, 10) }));
    const other = parseProjectId('acme/other') ?? scope;
    const read = { scope: '*', role: 'read' } as const;
    expect(await status(await createKey({ scope, role: 'inference' }, read))).toBe(429);
    expect(await status(await createKey({ scope, role: 'admin' }, { scope, role: 'inference' }))).toBe(429);
    const both = [
      { scope, role: 'inference' },
      { scope: other, role: 'inference' },
    ] as const;
    expect(await status(await createKey(...both))).toBe(200);
    expect(await status(await createKey({ scope: 'acme/*', role: 'inference' }))).toBe(200);
  });

  it('count a model as listed, even if somebody who writes says that it is free', async () => {
    const project = 'acme/free';
    await setLimits(project, { usd_per_day: 1 });
    const free = { prompt_token_cost: 0, completion_token_cost: 0, effective_date: '2020-01-01T00:00:00Z' };
    const euros = { ...free, prompt_token_cost_unit: 'EUR', completion_token_cost_unit: 'EUR' };
    const prices = { [model]: free, 'gpt-4o-mini-2026-01-01': euros, 'acme-llm-7': free };
    await service.post('/cost/create', { project_id: project, costs: prices });
    const { client, hasSpent } = await spender({}, project);
    const answers = [model, 'gpt-4o-mini-2026-01-01', 'acme-llm-7'];
    for (const [i, named] of answers.entries()) {
      upstream.behave(
        json({ ...completion({ content: 'Sunny' }), model: named, usage: usage(100_000, 1000) }),
      );
      await client.chat.completions.create({ model, messages, max_tokens: 10 });
      await hasSpent((i + 1) * costs(100_000, 1000));
    }
    await setLimits(project, { usd_per_day: 0.0001 });
    await expect
      .poll(() => client.chat.completions.create({ model, messages }).catch(({ status }) => status as number))
      .toBe(429);
  });

  it('hold for each end user that requests name', async () => {
    const project = 'acme/for-users';
    await setLimits(project, { usd_per_day_per_user: 0.001 });
    upstream.behave(json({ ...completion({ content: 'Sunny' }), model, usage: usage(1000, 1000) }));
    const { client, left } = await spender({}, project);
    const ask = (more: object) =>
      client.chat.completions.create({ model, messages, max_tokens: 1000, ...more });
    await ask({ user: 'ada' });
    // What the first one cost is known once its answer has gone out.
    const refused = () =>
      ask({ user: 'ada' }).then(
        () => undefined,
        (error: unknown) => error,
      );
    await expect.poll(refused).toMatchObject({
      status: 429,
      code: 'spending_limit',
      message: expect.stringContaining("the end user's limit of $0.001 a day leaves"),
    });
    expect((await ask({ metadata: { user_id: 'ben' } })).choices).toHaveLength(1);
    for (let i = 0; i < 3; i++) expect((await ask({})).choices).toHaveLength(1);
    expect(await left()).toEqual([]);
  });

  it('have one name, and are dollars above 0', async () => {
    const place = async (object_id: string, val: object) => {
      const obj = { project_id: 'acme/named', object_id, val: { _type: 'Limits', ...val } };
      const answer = await service.post('/obj/create', { obj });
      const { detail } = (await answer.json()) as { detail: { loc: string[] }[] };
      return [answer.status, ...detail.map(({ loc }) => loc.join('.'))];
    };
    expect(await place('bounds', {})).toEqual([422, 'body.obj.object_id']);
    expect(await place('limits', { usd_per_day: 0 })).toEqual([422, 'body.obj.val.usd_per_day']);
    expect(await place('limits', { usd_per_day_per_user: 0 })).toEqual([
      422,
      'body.obj.val.usd_per_day_per_user',
    ]);
    expect(await place('limits', { usd_per_week: 1 })).toEqual([422, 'body.obj.val.usd_per_week']);
  });

  it('stop judges, whose verdict says so, and those of a trial by the limits of its key, too', async () => {
    const project_id = 'acme/judged';
    await setLimits(project_id, { usd_per_day: 0.0001 });
    const val = politeness();
    const saved = await service.post('/obj/create', { obj: { project_id, object_id: 'e', val } });
    expect(saved.status).toBe(200);
    const start = {
      project_id,
      id: 'a',
      trace_id: 't',
      op_name: 'chat',
      started_at: '2026-10-01T00:00:00Z',
    };
    const end = { project_id, id: 'a', ended_at: '2026-10-01T00:00:01Z', output: 'Hello', summary: {} };
    const batch = [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end } },
    ];
    await service.post('/call/upsert_batch', { batch });
    const verdicts = async () => {
      const answer = await service.post('/feedback/query', { project_id });
      return ((await answer.json()) as { result: { payload: object }[] }).result.map(
        ({ payload }) => payload,
      );
    };
    await expect.poll(verdicts).toEqual([
      {
        value: null,
        error: expect.stringContaining("the project's limit of $0.0001 a day leaves $0.0001"),
      },
    ]);
    await setLimits(project_id, { usd_per_day: 1 });
    const key = await limitedKey(service, { usdPerDay: 0.0001 }, { scope: '*', role: 'admin' });
    const authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
    const trial = { project_id, call_ids: ['a'], evaluator: val };
    const tried = async () => {
      const answer = await service.post('/calls/score', trial, { headers: { authorization } });
      return ((await answer.json()) as { verdicts: { error?: string }[] }).verdicts[0]?.error;
    };
    await expect.poll(tried).toContain("key's limit of $0.0001 a day");
  });
});
