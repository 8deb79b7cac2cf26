import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { limitedKey, newKey } from '../../../../support/service/keys.ts';
import { startService, type TestService } from '../../../../support/service/service.ts';
import { completion, json, startUpstream, type TestUpstream } from '../../../../support/service/upstream.ts';

let upstream: TestUpstream;
let service: TestService;
beforeAll(async () => {
  upstream = await startUpstream();
  service = await startService({
    settings: { limits: true },
    inference: { baseUrl: upstream.baseUrl, key: 'sk-upstream' },
  });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

const project = 'acme/completions' as ProjectId;
const model = 'gpt-4o-mini';
const messages = [{ role: 'user', content: 'Hi {name}' }];
const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
const answer = { ...completion({ content: 'Hello' }), model, usage };

const ask = async (body: object, key?: string) => {
  const headers = key === undefined ? {} : { authorization: `Basic ${btoa(`api:${key}`)}` };
  const response = await service.post(
    '/weave/completions/create',
    { project_id: project, ...body },
    { headers },
  );
  return { status: response.status, body: (await response.json()) as JsonObject };
};

/** A call by its id. */
const readCall = async (id: unknown): Promise<JsonObject> => {
  const response = await service.post('/weave/call/read', { project_id: project, id });
  return ((await response.json()) as { call: JsonObject }).call;
};

describe('a completion', () => {
  it('is what the upstream answers, and becomes a call', async () => {
    upstream.behave(json(answer));
    const nulls = {
      logit_bias: null,
      response_format: null,
      stream: null,
      prompt: null,
      template_vars: null,
    };
    const inputs = { model, messages, temperature: 0.5, ...nulls };
    const { status, body } = await ask({ inputs, inference_route: null });
    expect([status, body.response]).toEqual([200, answer]);
    expect(upstream.requests.at(-1)?.body).toEqual({ model, messages, temperature: 0.5 });
    expect(await readCall(body.weave_call_id)).toMatchObject({
      op_name: 'weave.completions_create',
      inputs: { model, messages, temperature: 0.5 },
      output: answer,
      summary: { usage: { [model]: { requests: 1, prompt_tokens: 1000 } } },
    });
  });

  it('lies below the call that asks for it, or is not recorded', async () => {
    upstream.behave(json(answer));
    const inputs = { model, messages };
    const { body } = await ask({ inputs, trace_id: 'trace-1', parent_id: 'asking' });
    expect(body.trace_id).toBe('trace-1');
    expect(await readCall(body.span_id)).toMatchObject({ trace_id: 'trace-1', parent_id: 'asking' });
    expect((await ask({ inputs, parent_id: 'asking' })).status).toBe(422);
    expect((await ask({ inputs, track_llm_call: false })).body).toMatchObject({
      response: answer,
      weave_call_id: null,
      trace_id: null,
    });
  });

  it('begins with the messages of a prompt, whose placeholders are filled in', async () => {
    upstream.behave(json(answer));
    const val = {
      _type: 'MessagesPrompt',
      messages: [{ role: 'system', content: 'Be {mood}: {"a": {mood}}' }],
    };
    const made = await service.post('/weave/obj/create', {
      obj: { project_id: project, object_id: 'mood', val },
    });
    expect(made.status).toBe(200);
    const prompt = (owner: string) => `weave:///${owner}/object/mood:latest`;
    const inputs = { model, messages, template_vars: { mood: 'kind', name: 'Ada' } };
    await ask({ inputs: { ...inputs, prompt: prompt(project) } });
    expect(upstream.requests.at(-1)?.body.messages).toEqual([
      { role: 'system', content: 'Be kind: {"a": kind}' },
      { role: 'user', content: 'Hi Ada' },
    ]);
    expect((await ask({ inputs: { ...inputs, prompt: prompt('acme/other') } })).body).toMatchObject({
      detail: [{ loc: ['body', 'inputs', 'prompt'], msg: 'should lead into the project acme/completions' }],
    });
  });

  it('says in its response what the upstream refuses, and is recorded as failed', async () => {
    upstream.behave(json({ error: { message: 'Overloaded' } }, 503));
    const { status, body } = await ask({ inputs: { model, messages } });
    expect([status, body.response]).toEqual([200, { error: '503: Overloaded' }]);
    expect(await readCall(body.weave_call_id)).toMatchObject({ exception: '503: Overloaded' });
    upstream.behave(json('no object'));
    expect((await ask({ inputs: { model, messages } })).body.response).toHaveProperty('error');
  });

  it('takes inference, write to be recorded, and read for a prompt', async () => {
    upstream.behave(json(answer));
    const bare = await newKey(service, { scope: project, role: 'inference' });
    const inputs = { model, messages };
    const refused = async (body: object) => (await ask(body, bare)).status;
    expect(await refused({ inputs })).toBe(403);
    expect(await refused({ inputs, track_llm_call: false })).toBe(200);
    const prompt = `weave:///${project}/object/mood:latest`;
    expect(await refused({ inputs: { ...inputs, prompt }, track_llm_call: false })).toBe(403);
    const writer = await newKey(service, { scope: project, role: 'write' });
    expect((await ask({ inputs }, writer)).status).toBe(403);
  });

  it('is paid from the limits of the key', async () => {
    upstream.behave(json(answer));
    const roles = (['inference', 'write'] as const).map((role) => ({ scope: '*' as const, role }));
    const key = await limitedKey(service, { usdPerDay: 0.0005 }, ...roles);
    const inputs = { model, messages, max_tokens: 100 };
    expect((await ask({ inputs }, key)).status).toBe(200);
    const left = async () => {
      const headers = { authorization: `Basic ${btoa(`api:${key}`)}` };
      return ((await (await fetch(`${service.url}/me`, { headers })).json()) as { limits: JsonObject[] })
        .limits;
    };
    expect(await left()).toMatchObject([{ spent_usd: expect.closeTo(1000 * 0.15e-6 + 100 * 0.6e-6, 9) }]);
    const before = upstream.requests.length;
    const { status, body } = await ask({ inputs: { ...inputs, max_tokens: 1000 } }, key);
    expect([status, body]).toMatchObject([429, { detail: [{ type: 'spending_limit' }] }]);
    expect(upstream.requests.length).toBe(before);
  });
});
