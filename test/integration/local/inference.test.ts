import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type SharedService,
  sharedService,
  startService,
  type TestService,
} from '../../support/service/service.ts';

let service: SharedService;
let client: OpenAI;
beforeAll(async () => {
  service = await sharedService();
  client = new OpenAI({ apiKey: service.key, baseURL: `${service.url}/inference/v1`, maxRetries: 0 });
});

const messages = [
  { role: 'system' as const, content: 'Be brief' },
  { role: 'user' as const, content: 'Hello there' },
];
const reply = 'This is the local echo model, no real one. You said: Hello there';

describe('without an upstream of its own the local service has a model that', () => {
  it('says that it is an echo, whatever model was requested', async () => {
    const answer = await client.chat.completions.create({ model: 'gpt-4o', messages });
    expect(answer.model).toBe('echo');
    expect(answer.choices[0]?.message.content).toBe(reply);
    expect(answer.usage).toEqual({ prompt_tokens: 2, completion_tokens: 13, total_tokens: 15 });
  });

  it('streams, with the usage if it is requested', async () => {
    const stream = await client.chat.completions.create({
      model: 'any',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(reply);
    expect(chunks.at(-1)?.usage?.total_tokens).toBe(15);
    expect(chunks.length).toBeGreaterThan(5);
  });

  it('answers text completions, responses and embeddings', async () => {
    const text = await client.completions.create({ model: 'any', prompt: 'Hi' });
    expect(text.choices[0]?.text).toContain('You said: Hi');
    expect((await client.responses.create({ model: 'any', input: 'Hi' })).output_text).toContain(
      'You said: Hi',
    );
    const streamed = client.responses.stream({ model: 'any', input: [{ role: 'user', content: 'Hi' }] });
    expect((await streamed.finalResponse()).output_text).toContain('You said: Hi');
    const { data } = await client.embeddings.create({ model: 'any', input: ['a', 'a', 'b'] });
    expect(data[0]?.embedding).toEqual(data[1]?.embedding);
    expect(data[0]?.embedding).not.toEqual(data[2]?.embedding);
  });
});

it('A record is written before the service ends', async () => {
  const options = { stackName: `recorded-${randomUUID().slice(0, 8)}` };
  const first = await startService(options);
  const recording = new OpenAI({
    apiKey: first.key,
    baseURL: `${first.url}/inference/v1`,
    project: 'acme/shop',
  });
  await recording.chat.completions.create({ model: 'any', messages });
  await first.stop();
  const second = await startService({ ...options, key: first.key });
  const response = await second.post('/calls/stream_query', { project_id: 'acme/shop' });
  expect(await response.json()).toMatchObject({ op_name: 'openai.chat.completions.create' });
  await second.stop();
});

describe('the settings of the stack', () => {
  const upstream = { name: 'own', baseUrl: 'https://models.example/v1', models: ['own-*'] };
  const settings = { inferenceRatePerMinute: 2, inferenceUpstreams: [upstream] };
  const send = (from: TestService) =>
    fetch(`${from.url}/inference/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${from.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages }),
    });

  it('limit the requests of a key', async () => {
    const limited = await startService({ settings });
    // Not across the end of a minute, where the count begins anew.
    const seconds = new Date().getSeconds();
    if (seconds > 50) await new Promise((resolve) => setTimeout(resolve, (60 - seconds) * 1000));
    const answers = await Promise.all([send(limited), send(limited), send(limited)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    await limited.stop();
  });

  it('make a deployment without upstreams say what to set, and one with some what it does not know', async () => {
    const bare = await startService({ inference: null });
    const answer = await send(bare);
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ detail: [{ type: 'no_upstream' }] });
    await bare.stop();

    const other = await startService({
      inference: null,
      settings,
    });
    const unknown = await send(other);
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({
      detail: [{ loc: ['body', 'model'], type: 'model_not_found' }],
    });
    await other.stop();
  });
});
