import { beforeAll, describe, expect, it } from 'vitest';
import { alert } from '../../../../../api/alerts.ts';
import { prices } from '../../../../../bin/cost/bill.ts';
import { measured } from '../../../../../bin/cost/load.ts';
import { createOneFeedback } from '../../../../../core/records/feedback/index.ts';
import { previewAlert } from '../../../../../core/workers/alerts/preview.ts';
import { callsPerUnit, unitPrices } from '../../../../../core/workers/alerts/price.ts';
import { queryAlerts } from '../../../../../core/workers/alerts/query.ts';
import { requestBudget } from '../../../../../foundations/storage/index.ts';
import { formatTime, type JsonObject, type ProjectId } from '../../../../../foundations/wire/index.ts';
import { getStore } from '../../../../support/service/stores.ts';
import {
  type AlertWorld,
  errorRate,
  lookAfter,
  makeAlertWorld,
  meanScore,
  reportCalls,
  saveAlert,
} from '../../../../support/values/alerts.ts';

let world: AlertWorld;
beforeAll(async () => {
  world = await makeAlertWorld();
});

let projects = 0;
const newProject = () => `acme/previews-${projects++}` as ProjectId;

const preview = (projectId: ProjectId, val: JsonObject, minutes: number) => {
  const end = world.now * 1000;
  const start = end - minutes * 60_000_000;
  const request = { projectId, alert: alert().parse(val), start, end, includeValues: true };
  return previewAlert(world.watch.sources, request, requestBudget(60_000));
};

describe('a preview', () => {
  it.each<[string, object]>([
    ['rates of errors', { warn: 0.2, no_data: 'ok' }],
    ['percentiles', { metric: { metric: 'latency_ms', percentile: 90 }, warn: 1500, alert: 3000 }],
    ['windows that are compared', { compare: 'day_before', warn: 10, alert: 60, no_data: 'ok' }],
    ['longer windows', { window_minutes: 90, warn: null, alert: 0.3 }],
  ])('of %s says what looks then have told', async (_, fields) => {
    const project = newProject();
    await saveAlert(world, project, errorRate(fields));
    const begin = world.now;
    // A bad quarter of an hour, a good one, a few that are in between, then nothing.
    const calls = Array.from({ length: 40 }, (_, i) => ({
      minutesAgo: -i,
      failed: i < 15 || (i > 30 && i % 3 === 0),
      ms: i < 15 ? 5000 : 1000,
    }));
    const dayBefore = calls.map((call) => ({ ...call, minutesAgo: call.minutesAgo + 1440, failed: false }));
    await reportCalls(world, project, [
      ...calls,
      ...dayBefore.map((call, i) => ({ ...call, failed: i % 2 === 0 })),
    ]);
    const minutes = 60;
    for (let i = 0; i < minutes; i++) await lookAfter(world, 1);
    const sent = world.sent
      .filter(({ message }) => message.project_id === project)
      .map(({ message: { state, previous, value, at } }) => ({
        state,
        previous,
        value,
        at: at.slice(0, 16),
      }));
    const found = await preview(project, errorRate(fields) as JsonObject, minutes - 1);
    const changes = found.changes
      .filter((change) => change.told)
      .map(({ state, previous, value, at }) => ({ state, previous, value, at: at.slice(0, 16) }));
    expect(changes).toEqual(sent);
    expect(sent.length).toBeGreaterThan(0);
    expect(world.now - begin).toBe(minutes * 60_000);
  });

  it('of feedback reads what was rated, and says what it costs', async () => {
    const project = newProject();
    const feedback = getStore(world.stores, world.stores.feedbackTable);
    for (const value of [1, 2, true]) {
      const draft = {
        projectId: project,
        id: null,
        ref: `svc:///${project}/call/c`,
        type: 'stars',
        payload: { value },
        creator: null,
        annotationRef: null,
        runnableRef: null,
        callRef: null,
        triggerRef: null,
      };
      await createOneFeedback(feedback, draft, 'ada', requestBudget(5000));
    }
    const day = 1440;
    const found = await preview(
      project,
      meanScore('stars', { window_minutes: day, alert: 3 }) as JsonObject,
      2 * day,
    );
    expect(found).toMatchObject({ reads: 'feedback', step_minutes: 120, looks: 25, value: 4 / 3 });
    expect(found.values).toContainEqual({ timestamp: expect.any(String), value: 4 / 3 });
    expect(found.estimated_usd_per_month).toBeLessThanOrEqual(0.01);
  });

  it('refuses what makes no look or too many', async () => {
    await expect(preview(newProject(), errorRate() as JsonObject, -10)).rejects.toThrow('before the end');
    await expect(preview(newProject(), errorRate() as JsonObject, 100_000)).rejects.toThrow('looks');
  });
});

describe('the states of alerts', () => {
  it('have their history, with what became of each message', async () => {
    const project = newProject();
    await saveAlert(world, project, errorRate({ tell: [{ webhook: 'ops' }], looks: 1 }));
    await saveAlert(world, project, errorRate({ enabled: false }), 'b');
    await reportCalls(world, project, [{ minutesAgo: 2, failed: true }]);
    await lookAfter(world, 0);
    const objects = getStore(world.stores, world.stores.objectsTable);
    const ask = (fields: object = {}) =>
      queryAlerts(
        objects,
        world.watch.table,
        { projectId: project, objectIds: null, limit: 100, ...fields },
        (value) => alert().parse(value),
        requestBudget(5000),
      );
    expect(await ask()).toMatchObject({
      alerts: [
        { object_id: 'a', state: 'alert', value: 1, problem: null },
        { object_id: 'b', state: 'paused', value: null },
      ],
      history: [
        {
          object_id: 'a',
          kind: 'changed',
          state: 'alert',
          previous: null,
          threshold: 0.5,
          // The window ended a minute before it was looked at.
          window: {
            start: formatTime((world.now - 6 * 60_000) * 1000),
            end: formatTime((world.now - 60_000) * 1000),
          },
          deliveries: [{ target: 'webhook ops', status: 'delivered', tries: 1, problem: null }],
        },
      ],
    });
    expect(await ask({ objectIds: ['b'] })).toMatchObject({ alerts: [{ object_id: 'b' }], history: [] });
  });
});

describe('estimates', () => {
  it('go by the prices of the command', () => {
    for (const [name, usd] of Object.entries(unitPrices)) {
      const price = prices[name as keyof typeof unitPrices];
      expect(usd).toBeCloseTo(price.usd / price.per, 12);
    }
    expect(Math.abs(callsPerUnit / measured().scannedPerUnit - 1)).toBeLessThan(0.05);
  });
});
