import type { BusEvent } from 'cdk-local-runner/streams';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventDetails } from '../../../../../api/openapi/events.ts';
import { type Grant, parseScope } from '../../../../../foundations/auth/index.ts';
import { localSigningKey } from '../../../../../local/environment.ts';
import { keyWith } from '../../../../support/service/keys.ts';
import { startService, type TestService } from '../../../../support/service/service.ts';
import { json, startUpstream, type TestUpstream } from '../../../../support/service/upstream.ts';
import { errorRate } from '../../../../support/values/alerts.ts';

const project_id = 'acme/told';

let receiver: TestUpstream;
let service: TestService;
const events: BusEvent[] = [];
beforeAll(async () => {
  events.length = 0;
  receiver = await startUpstream();
  service = await startService({
    settings: { alerts: true },
    webhooks: { ops: `${receiver.baseUrl}/ops-secret`, chat: `${receiver.baseUrl}/chat-secret` },
  });
  service.bus.subscribe((event) => events.push(event));
});
afterAll(async () => {
  await service.stop();
  await receiver[Symbol.asyncDispose]();
});

const create = async (object_id: string, val: object): Promise<void> => {
  const answer = await service.post('/obj/create', { obj: { project_id, object_id, val } });
  expect(answer.status).toBe(200);
};

const test = async (object_id: string) => {
  const answer = await service.post('/alerts/test', { project_id, object_id });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

describe('a test of an alert', () => {
  it('tells all targets, and says what became of each', async () => {
    await create(
      'errors',
      errorRate({
        tell: [
          { sns: true },
          { event_bus: true },
          { webhook: 'ops' },
          { webhook: 'chat', format: 'slack' },
          { webhook: 'gone' },
        ],
      }),
    );
    const { status, body } = await test('errors');
    expect(status).toBe(200);
    const delivered = { delivered: true, problem: null };
    expect(body.targets).toEqual([
      { target: 'sns', ...delivered },
      { target: 'event_bus', ...delivered },
      { target: 'webhook ops', ...delivered },
      { target: 'webhook chat', ...delivered },
      {
        target: 'webhook gone',
        delivered: false,
        problem: 'acme/told has no webhook gone: make it with npm run webhooks -- create',
      },
    ]);

    const message = {
      id: body.message_id,
      kind: 'test',
      project_id,
      state: 'alert',
      threshold: 0.5,
      alert: { object_id: 'errors', name: 'Too many errors', digest: expect.any(String) },
      link: expect.stringContaining(`${service.url}/ui/`),
    };
    expect(service.bus.notices).toEqual([
      expect.objectContaining({
        subject: 'Test: Too many errors (acme/told)',
        text: expect.stringContaining('somebody tries whether messages arrive'),
        message: expect.objectContaining(message),
        attributes: { project_id, state: 'alert', kind: 'test' },
      }),
    ]);
    for (const { detail } of events) eventDetails().AlertChanged.parse(detail);
    expect(events).toEqual([
      expect.objectContaining({
        'detail-type': 'AlertChanged',
        detail: expect.objectContaining({ ...message, event_id: body.message_id }),
      }),
    ]);
    const ops = receiver.requests.find(({ url }) => url.endsWith('/ops-secret'));
    expect(ops?.body).toMatchObject(message);
    const chat = receiver.requests.find(({ url }) => url.endsWith('/chat-secret'));
    expect(chat?.body).toMatchObject({ text: expect.stringContaining('Test: Too many errors in acme/told') });
  });

  it('is signed as Standard Webhooks has it, for whoever has the key', async () => {
    await create('signed', errorRate({ tell: [{ webhook: 'ops' }] }));
    const { body } = await test('signed');
    const { headers, text } = receiver.last();
    expect(headers['webhook-id']).toBe(body.message_id);
    const { webhooks } = new OpenAI({ apiKey: 'none' });
    const given = new Headers(headers as Record<string, string>);
    await webhooks.verifySignature(text, given, localSigningKey);
    await expect(webhooks.verifySignature(`${text} `, given, localSigningKey)).rejects.toThrow();
  });

  it('says what went wrong without the URL, neither in the answer nor in the log', async () => {
    receiver.behave(json({ error: 'ops-secret' }, 500));
    await create('failing', errorRate({ tell: [{ webhook: 'ops' }] }));
    const { body } = await test('failing');
    receiver.behave(json({ ok: true }));
    expect(body.targets).toEqual([{ target: 'webhook ops', delivered: false, problem: 'it answered 500' }]);
    expect(JSON.stringify(service.logged)).not.toContain('ops-secret');
    expect((await test('failing')).body.targets).toEqual([
      { target: 'webhook ops', delivered: true, problem: null },
    ]);
  });

  it('is a 404 where there is no such alert', async () => {
    await create('other', { some: 'value' });
    for (const name of ['nothing', 'other']) expect(await test(name)).toMatchObject({ status: 404 });
  });
});

describe('the webhooks of a project', () => {
  const told = parseScope(project_id) ?? '*';
  const query = async (grant: Grant, more: object = { include_webhooks: true }) => {
    const headers = { authorization: await keyWith(service, grant) };
    const answer = await service.post('/alerts/query', { project_id, ...more }, { headers });
    return { status: answer.status, text: await answer.text() };
  };

  it('are told by their names to whoever may read it, and by nothing else of them', async () => {
    const { status, text } = await query({ scope: told, role: 'read' });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ is_on: true, webhooks: ['chat', 'ops'] });
    expect(text).not.toMatch(/secret|whsec/);
    expect(JSON.stringify(service.logged)).not.toContain('chat-secret');
  });

  it('are told if somebody asks, and to nobody else', async () => {
    expect(JSON.parse((await query({ scope: told, role: 'read' }, {})).text)).not.toHaveProperty('webhooks');
    const others: Grant[] = [
      { scope: told, role: 'report' },
      { scope: parseScope('acme/other') ?? '*', role: 'read' },
    ];
    for (const grant of others) expect((await query(grant)).status).toBe(403);
  });
});
