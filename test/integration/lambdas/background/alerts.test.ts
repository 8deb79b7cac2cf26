import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../../support/service/service.ts';
import { startUpstream, type TestUpstream } from '../../../support/service/upstream.ts';
import { errorRate } from '../../../support/values/alerts.ts';

let receiver: TestUpstream;
let service: TestService;
beforeAll(async () => {
  receiver = await startUpstream();
  service = await startService({
    settings: { alerts: true },
    webhooks: { ops: `${receiver.baseUrl}/ops` },
    maxScheduleMs: 100,
  });
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
