import type { BusEvent } from 'cdk-local-runner/streams';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventDetails } from '../../../../api/openapi/events.ts';
import { startService, type TestService } from '../../../support/service/service.ts';
import { startUpstream, type TestUpstream } from '../../../support/service/upstream.ts';
import { errorRate } from '../../../support/values/alerts.ts';

let receiver: TestUpstream;
let service: TestService;
const events: BusEvent[] = [];
beforeAll(async () => {
  events.length = 0;
  receiver = await startUpstream();
  service = await startService({
    settings: { alerts: true },
    webhooks: { ops: `${receiver.baseUrl}/ops` },
    maxScheduleMs: 100,
  });
  service.bus.subscribe((event) => events.push(event));
});
afterAll(async () => {
  await service.stop();
  await receiver[Symbol.asyncDispose]();
});

const project_id = 'acme/watched';
const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
  const answer = await service.post(path, { project_id, ...body });
  expect(answer.status, await answer.clone().text()).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
};

it('is told by the function that looks each minute, to all targets, and stands in its history', async () => {
  const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();
  const calls = ['a', 'b'].flatMap((id) => [
    { mode: 'start', req: { start: { project_id, id, op_name: 'pay', started_at: at(150) } } },
    { mode: 'end', req: { end: { project_id, id, ended_at: at(149), exception: 'no money' } } },
  ]);
  await service.post('/call/upsert_batch', { batch: calls });
  const stars = { feedback_type: 'stars', path: 'value', aggregation: 'count' };
  const feedback = { svc_ref: `svc:///${project_id}/call/a`, feedback_type: 'stars', payload: { value: 1 } };
  await post('/feedback/create', feedback);
  const targets = [{ sns: true }, { event_bus: true }, { webhook: 'ops' }];
  const values = {
    errors: errorRate({ looks: 1, tell: targets }),
    cost: errorRate({ metric: { metric: 'total_cost', aggregation: 'sum' }, window_minutes: 1440, looks: 1 }),
    stars: errorRate({ metric: stars, warn: null, alert: 5, looks: 1 }),
    paused: errorRate({ enabled: false }),
  };
  for (const [object_id, val] of Object.entries(values))
    expect((await service.post('/obj/create', { obj: { project_id, object_id, val } })).status).toBe(200);
  await expect
    .poll(async () => (await post('/alerts/query', {})).history, { interval: 100 })
    .toMatchObject([
      {
        object_id: 'errors',
        kind: 'changed',
        state: 'alert',
        value: 1,
        deliveries: ['sns', 'event_bus', 'webhook ops'].map((target) => ({ target, status: 'delivered' })),
      },
    ]);
  await expect
    .poll(async () => (await post('/alerts/query', {})).alerts, { interval: 100 })
    .toMatchObject([
      { object_id: 'cost', state: 'ok', value: 0, problem: null },
      { object_id: 'errors', state: 'alert', value: 1, problem: null },
      { object_id: 'paused', state: 'paused' },
      { object_id: 'stars', state: 'ok' },
    ]);
  expect(receiver.last().body).toMatchObject({
    project_id,
    state: 'alert',
    contributors: [{ label: 'pay' }],
  });
  expect(service.bus.notices).toHaveLength(1);
  expect(service.logged.filter((line) => line.startsWith('alerts') && line.includes('"failed":1'))).toEqual(
    [],
  );
});

it('puts new issues on the bus, for a project with an alert on them', async () => {
  const project_id = 'acme/issues';
  const save = async (alert: number) => {
    const metric = { metric: 'new_issues', aggregation: 'sum' };
    const val = errorRate({ metric, warn: null, alert, looks: 1, tell: [{ event_bus: true }] });
    const answer = await service.post('/obj/create', { obj: { project_id, object_id: 'new', val } });
    expect(answer.status).toBe(200);
  };
  const states = async () => (await post('/alerts/query', { project_id })).alerts;
  await save(5);
  await expect.poll(states, { interval: 100 }).toMatchObject([{ state: 'ok', value: 0, problem: null }]);
  const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();
  const batch = [
    { mode: 'start', req: { start: { project_id, id: 'c', op_name: 'pay', started_at: at(150) } } },
    { mode: 'end', req: { end: { project_id, id: 'c', ended_at: at(149), exception: 'E: no card 4711' } } },
  ];
  expect((await service.post('/call/upsert_batch', { batch })).status).toBe(200);
  // A new version is looked at at once.
  await save(0);
  await expect.poll(states, { interval: 100 }).toMatchObject([{ state: 'alert', value: 1, problem: null }]);
  const opened = events.filter((event) => event['detail-type'] === 'IssueOpened');
  expect(opened.map(({ detail }) => eventDetails().IssueOpened.parse(detail))).toEqual([
    expect.objectContaining({
      project_id,
      kind: 'error',
      title: 'E: no card <n>',
      op_name: 'pay',
      state: 'open',
      call_ref: `svc:///${project_id}/call/c`,
    }),
  ]);
  const changed = events.filter((event) => event['detail-type'] === 'AlertChanged');
  expect(changed.at(-1)?.detail).toMatchObject({
    project_id,
    contributors: [{ label: 'E: no card <n>', call_id: 'c' }],
  });
});
