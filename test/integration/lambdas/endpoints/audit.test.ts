import type { BusEvent } from 'cdk-local-runner/streams';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventDetails } from '../../../../api/openapi/events.ts';
import { startIssuer, type TestIssuer } from '../../../support/service/issuer.ts';
import { startService, type TestService } from '../../../support/service/service.ts';
import { signInSettings } from '../../../support/stack/every-setting.ts';
import { errorRate } from '../../../support/values/alerts.ts';
import { basic, bearer, type KeyMaker, keyMaker } from '../../security/credentials.ts';

/*
 * One of each kind of change that the audit trail has. people.test.ts and objects.test.ts have what each is like.
 */

let issuer: TestIssuer;
let service: TestService;
let keys: KeyMaker;
const told: BusEvent[] = [];

beforeAll(async () => {
  issuer = await startIssuer();
  service = await startService({
    settings: { signIn: signInSettings, events: true, limits: true, evaluators: true, alerts: true },
    signIn: issuer.settings,
  });
  keys = keyMaker(service);
  service.bus.subscribe((event) => told.push(event));
});
afterAll(async () => {
  keys[Symbol.dispose]();
  await service.stop();
  await issuer[Symbol.asyncDispose]();
});

const always = { start: '2020-01-01', end: '2100-01-01', limit: 1000 };

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly target: string;
  readonly actor: { readonly kind: string; readonly user: string; readonly key_id: string };
  readonly address: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Does something in the name of somebody. */
const asking = (authorization: string) => async (path: string, body: object) => {
  const answer = await service.post(path, body, { headers: { authorization } });
  const text = await answer.text();
  expect([path, answer.status, text]).toEqual([path, 200, text]);
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what came.
  return (text === '' ? undefined : JSON.parse(text.split('\n')[0] || 'null')) as any;
};

type Ask = ReturnType<typeof asking>;

/** Makes one change of each kind in a project. */
const changeEverything = async (ask: Ask, project_id: string): Promise<void> => {
  const save = (object_id: string, val: object) =>
    ask('/obj/create', { obj: { project_id, object_id, val } });
  const remove = (object_id: string) => ask('/obj/delete', { project_id, object_id });
  const byId = (id: string) => ({ $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } });
  const { key_id } = await ask('/keys/create', { user: 'ci', grants: [`${project_id}:read`] });
  await ask('/keys/revoke', { key_id });
  await ask('/members/set', { project_id, member: 'eve@example.com', grants: ['read'] });
  await ask('/members/remove', { project_id, member: 'eve@example.com' });
  await save('limits', { _type: 'Limits', usd_per_day: 5 });
  await save('limits', { _type: 'Limits', usd_per_day: 6 });
  await remove('limits');
  await save('retention', { _type: 'Retention', calls_days: 30 });
  await ask('/project/retention', { project_id });
  await save('errors', errorRate());
  await remove('errors');
  const check = { contains: 'yes' };
  await save('judge', {
    _type: 'Evaluator',
    name: 'Says yes',
    on: 'call',
    check,
    sample_rate: 1,
    enabled: true,
  });
  await remove('judge');
  const prompt = { project_id, name: 'support', text: 'Hello' };
  await ask('/prompt/create', { ...prompt, labels: ['production'] });
  await ask('/prompt/create', { ...prompt, text: 'Hello again', labels: ['production'] });
  await save('o', { text: 'anything' });
  await remove('o');
  const start = { project_id, id: 'c', op_name: 'op', started_at: '2026-10-01T00:00:00Z' };
  await ask('/call/start', { start });
  await ask('/calls/stream_query', { project_id });
  await ask('/calls/delete', { project_id, call_ids: ['c'] });
  await ask('/feedback/purge', { project_id, query: byId('f') });
  await ask('/cost/purge', { project_id, query: byId('01a0f4c2-c400-7128-b08d-6d80dcf805ba') });
  for (let done = false; !done; )
    ({ done } = await ask('/project/delete', { project_id, confirm: project_id }));
};

const something = expect.anything();

/** What the trail has of it then, in this order: the target, and what was before and after. */
const expected: readonly (readonly [action: string, target: unknown, before?: unknown, after?: unknown])[] = [
  ['key.create', something, undefined, { user: 'ci', grants: ['read'] }],
  ['key.revoke', something, { user: 'ci', grants: ['read'] }],
  ['member.set', 'eve@example.com', [], ['read']],
  ['member.remove', 'eve@example.com', ['read'], []],
  ['limits.set', 'limits', undefined, { usd_per_day: 5 }],
  ['limits.set', 'limits', { usd_per_day: 5 }, { usd_per_day: 6 }],
  ['limits.delete', 'limits', { usd_per_day: 6 }],
  ['retention.set', 'retention', undefined, { calls_days: 30 }],
  ['project.retain', something, undefined, { calls_days: 30 }],
  ['alert.set', 'errors', undefined, { _type: 'Alert' }],
  ['alert.delete', 'errors', { _type: 'Alert' }],
  ['evaluator.set', 'judge', undefined, { _type: 'Evaluator' }],
  ['evaluator.delete', 'judge', { _type: 'Evaluator' }],
  ['prompt.label', 'support:production', { version_index: null }, { version_index: 0 }],
  ['prompt.label', 'support:production', { version_index: 0 }, { version_index: 1 }],
  ['object.delete', 'o', { digests: [something] }],
  ['project.export', something, undefined, { limit: null }],
  ['calls.delete', 'c', { count: 1, ids: ['c'] }],
  ['feedback.purge', 'f', { count: 1 }],
  ['costs.purge', something, { count: 1 }],
  ['project.delete', something, undefined, { done: false }],
  ['project.delete', something, undefined, { done: true }],
];

describe.each([
  [
    'a person',
    'person',
    'root@example.com',
    async () => bearer(issuer.token({ claims: { email: 'root@example.com' } })),
  ],
  ['a key', 'key', 'bob', async () => basic(await keys.granted('*:admin'))],
] as const)('the audit trail, of what %s does,', (_, kind, user, authorize) => {
  const project = `audited/by-${kind}`;
  let records: Entry[] = [];
  let keyId = '';

  beforeAll(async () => {
    const authorization = await authorize();
    const ask = asking(authorization);
    await changeEverything(ask, project);
    records = (await ask('/audit/query', { project_id: project, ...always })).records.toReversed();
    const me = await fetch(`${service.url}/me`, { headers: { authorization } });
    keyId = ((await me.json()) as { key_id: string }).key_id;
  }, 60_000);

  it('has one of each kind, with what was there before and after', () => {
    expect(records.map(({ action }) => action)).toEqual(expected.map(([action]) => action));
    for (const [i, [action, target, before, after]] of expected.entries()) {
      const { action: has, ...entry } = records[i] ?? { action: 'nothing' };
      expect({ action: has, ...entry }).toMatchObject({
        action,
        target,
        ...(before !== undefined && { before }),
        ...(after !== undefined && { after }),
      });
      if (before === undefined)
        expect([action, entry]).toEqual([action, expect.not.objectContaining({ before: something })]);
    }
  });

  it('says of each who did it, by which key and from where', () => {
    for (const { actor, address } of records) {
      expect(actor).toEqual({ kind, user, key_id: keyId });
      expect(address).toBe('127.0.0.1');
    }
  });

  it('is told on the bus, entry by entry', async () => {
    const ofProject = () =>
      told.filter(
        ({ 'detail-type': type, detail }) => type === 'AuditRecorded' && detail.project_id === project,
      );
    await expect.poll(() => ofProject().length).toBe(records.length);
    const details = ofProject().map(({ detail }) => {
      eventDetails().AuditRecorded.parse(detail);
      const { event_id: eventId, ...record } = detail as Record<string, unknown>;
      expect(eventId).toMatch(/^[0-9a-f]{32}$/);
      return record;
    });
    const inOrder = (all: readonly object[]) => all.map((one) => JSON.stringify(one)).toSorted();
    expect(inOrder(details)).toEqual(inOrder(records));
  });
});

describe('the audit trail of the service', () => {
  it('has who signed in and who was refused, and tells the bus', async () => {
    const me = (email: string) =>
      fetch(`${service.url}/me`, {
        headers: { authorization: bearer(issuer.token({ claims: { email, sub: email } })) },
      });
    await me('root@example.com');
    await me('visitor@example.com');
    const { records } = (await asking(basic(service.key, 'api'))('/audit/query', always)) as {
      records: Entry[];
    };
    for (const [action, user, after] of [
      ['session.begin', 'root@example.com', { grants: ['*:admin'] }],
      ['session.refuse', 'visitor@example.com', { grants: [] }],
    ] as const) {
      const entry = records.find((one) => one.action === action && one.actor.user === user);
      expect(entry).toMatchObject({ target: user, address: '127.0.0.1', actor: { kind: 'person' }, after });
      await expect
        .poll(() => told.some(({ detail }) => detail.id === entry?.id && detail.action === action))
        .toBe(true);
    }
  });
});
