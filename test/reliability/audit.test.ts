import { beforeAll, describe, expect, it } from 'vitest';
import { type FaultPlan, faultPlan } from '../support/faults/faulty-client.ts';
import { type Answer, type InProcess, type Sent, startInProcess } from '../support/service/in-process.ts';

/*
 * What is audited has its entry, or is not done: here nothing can be put on the audit trail.
 */

let service: InProcess;
beforeAll(async () => {
  service = await startInProcess();
});

/** Nothing is inserted, for good. Only the audit trail is written so by these requests. */
const noInserts = (): FaultPlan =>
  faultPlan((_, operation) => (operation === 'BatchExecuteStatement' ? 'throttle' : 'none'));

const ok = async (sent: Sent): Promise<Answer> => {
  const answer = await service.send(sent);
  expect(answer, answer.text).toMatchObject({ status: 200, complete: true });
  return answer;
};

const member = (p: string, path: string, more: object = {}): Sent => ({
  path,
  body: { project_id: p, member: `${p}@example.com`, ...more },
});
const limits = (p: string, usd: number): Sent => ({
  path: '/obj/create',
  body: { obj: { project_id: p, object_id: 'limits', val: { _type: 'Limits', usd_per_day: usd } } },
});
const start = (p: string): Sent => ({
  path: '/call/start',
  body: { start: { project_id: p, id: 'c', op_name: 'op', started_at: '2026-10-01T00:00:00Z' } },
});
const price = (p: string): Sent => ({
  path: '/cost/create',
  body: { project_id: p, costs: { m: { prompt_token_cost: 1, completion_token_cost: 2 } } },
});
const note = (p: string): Sent => ({
  path: '/feedback/create',
  body: { project_id: p, id: 'f', svc_ref: `svc:///${p}/call/c`, feedback_type: 'note', payload: {} },
});
const byId = (id: string) => ({ $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } });

type Read = (path: string, body?: object) => (p: string) => Sent;
const about: Read =
  (path, body = {}) =>
  (p) => ({ path, body: { project_id: p, ...body } });

/** What is audited: what is there before, the request, what shows that it was done, and its action. */
const audited: readonly (readonly [
  action: string,
  before: (p: string) => readonly Sent[],
  request: (p: string, answers: readonly Answer[]) => Sent,
  view: (p: string) => Sent,
])[] = [
  ['member.set', () => [], (p) => member(p, '/members/set', { grants: ['read'] }), about('/members/query')],
  [
    'member.remove',
    (p) => [member(p, '/members/set', { grants: ['read'] })],
    (p) => member(p, '/members/remove'),
    about('/members/query'),
  ],
  [
    'key.create',
    () => [],
    (p) => ({ path: '/keys/create', body: { user: 'ci', grants: [`${p}:read`] } }),
    about('/keys/query'),
  ],
  [
    'key.revoke',
    (p) => [{ path: '/keys/create', body: { user: 'ci', grants: [`${p}:read`] } }],
    (_, [made]) => ({ path: '/keys/revoke', body: { key_id: JSON.parse(made?.text ?? '').key_id } }),
    about('/keys/query'),
  ],
  ['limits.set', (p) => [limits(p, 5)], (p) => limits(p, 500), about('/objs/query')],
  [
    'limits.delete',
    (p) => [limits(p, 5)],
    about('/obj/delete', { object_id: 'limits' }),
    about('/objs/query'),
  ],
  [
    'calls.delete',
    (p) => [start(p)],
    about('/calls/delete', { call_ids: ['c'] }),
    about('/calls/query_stats'),
  ],
  [
    'feedback.purge',
    (p) => [note(p)],
    about('/feedback/purge', { query: byId('f') }),
    about('/feedback/query'),
  ],
  [
    'costs.purge',
    (p) => [price(p)],
    (p, [made]) => about('/cost/purge', { query: byId(JSON.parse(made?.text ?? '').ids[0][1]) })(p),
    about('/cost/query'),
  ],
  ['project.export', (p) => [start(p)], about('/calls/stream_query'), about('/calls/query_stats')],
];

const trail = (p: string): Sent =>
  about('/audit/query', { start: '2020-01-01', end: '2100-01-01', limit: 1 })(p);

/** A function's time in which it gives up soon, in milliseconds. */
const shortMs = 1300;

describe('while nothing can be put on the audit trail', () => {
  it.each(audited)(
    '%s is a 503 and not done, and done when it is repeated',
    async (action, before, request, view) => {
      const project = `acme/${action}`;
      const answers: Answer[] = [];
      for (const sent of before(project)) answers.push(await ok(sent));
      const sent = request(project, answers);
      const untouched = (await ok(view(project))).text;
      const refused = await service.send(sent, { plan: noInserts(), timeMs: shortMs });
      expect(refused).toMatchObject({ status: 503, complete: true });
      expect((await ok(view(project))).text).toBe(untouched);

      await ok(sent);
      if (action !== 'project.export') expect((await ok(view(project))).text).not.toBe(untouched);
      const { records } = JSON.parse((await ok(trail(project))).text);
      expect(records).toMatchObject([{ action, project_id: project }]);
    },
  );
});

describe('a request that is not audited', () => {
  const object = (p: string): Sent => ({
    path: '/obj/create',
    body: { obj: { project_id: p, object_id: 'o', val: 1 } },
  });

  it.each([
    ['reads calls', about('/calls/stream_query', { limit: 10 })],
    ['deletes no calls', about('/calls/delete', { call_ids: [] })],
    ['makes an object', object],
  ] as const)('%s though nothing can be put on the trail', async (_, request) => {
    const answer = await service.send(request('acme/plain'), { plan: noInserts(), timeMs: shortMs });
    expect(answer).toMatchObject({ status: 200, complete: true });
  });
});
