import { type BusEvent, type EventBus, startEventBus } from 'cdk-local-runner/streams';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Target } from '../../../../../../api/alerts.ts';
import {
  type FindWebhook,
  makeSend,
  makeSigningKey,
  parameterName,
  webhookNamesIn,
} from '../../../../../../core/workers/alerts/tell/index.ts';
import { signatureHeaders } from '../../../../../../core/workers/alerts/tell/sign.ts';
import { askJson } from '../../../../../../foundations/aws/index.ts';
import { requestBudget } from '../../../../../../foundations/storage/index.ts';
import { type ProjectId, parseProjectId } from '../../../../../../foundations/wire/index.ts';
import { type SystemsManager, startSystemsManager } from '../../../../../support/service/systems-manager.ts';
import { startUpstream, type TestUpstream } from '../../../../../support/service/upstream.ts';
import { alertMessage } from '../../../../../support/values/alert-message.ts';

const key = makeSigningKey();

let bus: EventBus;
let receiver: TestUpstream;
let fate: 'taken' | 'ThrottlingException' = 'taken';
beforeAll(async () => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  bus = await startEventBus(() => fate);
  vi.stubEnv('AWS_ENDPOINT_URL_EVENTBRIDGE', bus.endpoint);
  receiver = await startUpstream();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await bus.stop();
  await receiver[Symbol.asyncDispose]();
});

const target = (fields: Partial<Target>): Target => ({
  sns: null,
  eventBus: null,
  webhook: null,
  format: null,
  ...fields,
});

const tellWith = (webhooks: FindWebhook, message = alertMessage(), to = target({ webhook: 'ops' })) =>
  makeSend({
    topic: {
      service: { service: 'sns', region: 'us-east-1', endpoint: bus.endpoint },
      arn: 'arn:aws:sns:us-east-1:1:topic',
    },
    bus: 'agents',
    webhooks,
    outside: { loopback: true },
  })(message, to, requestBudget(5000));

const none: FindWebhook = async () => undefined;

describe('a webhook', () => {
  it('is looked for in the project of the message', async () => {
    const asked: string[] = [];
    const find: FindWebhook = async (projectId, name) => {
      asked.push(`${projectId} ${name}`);
      return { url: receiver.baseUrl, key };
    };
    await tellWith(find);
    expect(asked).toEqual(['acme/shop ops']);
    await expect(tellWith(none)).rejects.toThrow('acme/shop has no webhook ops: make it');
  });

  it('gets the message with its id and a signature of this try, which its key verifies', async () => {
    await tellWith(async () => ({ url: receiver.baseUrl, key }));
    const { headers, text, body } = receiver.last();
    expect(body).toEqual(alertMessage());
    expect(headers['webhook-id']).toBe(alertMessage().id);
    const { webhooks } = new OpenAI({ apiKey: 'none' });
    const given = new Headers(headers as Record<string, string>);
    await webhooks.verifySignature(text, given, key);
    await expect(webhooks.verifySignature(text, given, makeSigningKey())).rejects.toThrow();
  });

  it('is signed as the example of the specification', () => {
    // https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries/javascript/src/index.test.ts
    const headers = signatureHeaders(
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      '{"test": 2432232314}',
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      1_614_265_330_000,
    );
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('has a parameter of its own project, whatever it is called', () => {
    const project = parseProjectId('acme/shop');
    expect(project && parameterName('/p/webhooks', project, 'ops')).toBe('/p/webhooks/acme/shop/ops');
    for (const name of ['../other/ops', 'a/b', '', '.', 'a b'])
      expect(() => project && parameterName('/p/webhooks', project, name)).toThrow('should be 1 to 64');
  });
});

describe('the topic', () => {
  it('gets a subject that a mail can have, a text for people and the message for programs', async () => {
    const name = `Größe 📈 ${'x'.repeat(200)}`;
    const message = alertMessage({ alert: { object_id: 'o', digest: 'd', name } });
    await tellWith(none, message, target({ sns: true }));
    const notice = bus.notices.at(-1);
    expect(notice).toMatchObject({ message, attributes: { project_id: 'acme/shop', state: 'alert' } });
    expect(notice?.subject).toMatch(/^Alert: Groe {2}x{80,}$/);
    expect(notice?.subject).toHaveLength(100);
    expect(notice?.text).toContain(name);
  });
});

describe('the event bus', () => {
  it('gets the message as AlertChanged, with its id as the id of the event', async () => {
    const events: BusEvent[] = [];
    const unsubscribe = bus.subscribe((event) => events.push(event));
    await tellWith(none, alertMessage(), target({ eventBus: true }));
    unsubscribe();
    expect(events).toEqual([
      expect.objectContaining({
        bus: 'agents',
        source: 'pennytrace',
        'detail-type': 'AlertChanged',
        time: '2026-11-22T09:31:02Z',
        detail: { ...alertMessage(), event_id: alertMessage().id },
      }),
    ]);
  });

  it('that does not take an event is not told', async () => {
    fate = 'ThrottlingException';
    await expect(tellWith(none, alertMessage(), target({ eventBus: true }))).rejects.toThrow(
      'the event bus agents did not take the event: ThrottlingException',
    );
    fate = 'taken';
  });
});

describe('names of webhooks', () => {
  const prefix = '/pennytrace/Stack/webhooks';
  const list = (manager: SystemsManager, project: ProjectId, region = 'us-east-1') =>
    webhookNamesIn({ service: 'ssm', region, endpoint: manager.endpoint }, prefix)(
      project,
      requestBudget(5000),
    );
  const keep = (manager: SystemsManager, place: string) =>
    askJson(
      { service: 'ssm', region: 'us-east-1', endpoint: manager.endpoint },
      'AmazonSSM.PutParameter',
      { Name: `${prefix}/${place}`, Type: 'SecureString', Value: '{"url": "https://secret.example"}' },
      requestBudget(5000),
    );

  it('are those of one project, of all pages, and nothing is decrypted', async () => {
    await using manager = await startSystemsManager();
    for (const place of ['ops', 'chat', 'mail', 'deep/er'].map((name) => `acme/shop/${name}`))
      await keep(manager, place);
    for (const place of ['acme/shop2/other', 'acme/sho/other', 'umbrella/shop/other'])
      await keep(manager, place);
    expect(await list(manager, 'acme/shop' as ProjectId)).toEqual(['chat', 'mail', 'ops']);
    expect(await list(manager, 'acme/none' as ProjectId)).toEqual([]);
    expect(new Set(manager.asked.slice(7))).toEqual(new Set(['GetParametersByPath']));
  });

  it('are a hundred at most', async () => {
    await using manager = await startSystemsManager();
    for (let i = 0; i < 105; i++) await keep(manager, `acme/shop/hook-${i}`);
    expect(await list(manager, 'acme/shop' as ProjectId)).toHaveLength(100);
  });
});
