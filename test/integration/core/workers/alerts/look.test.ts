import { beforeAll, describe, expect, it } from 'vitest';
import { deleteVersions } from '../../../../../core/records/objects/index.ts';
import { readHistory, readRegister, readStandings } from '../../../../../core/workers/alerts/register.ts';
import { requestBudget } from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { getStore } from '../../../../support/service/stores.ts';
import {
  type AlertWorld,
  errorRate,
  lookAfter,
  makeAlertWorld,
  reportCalls,
  saveAlert,
} from '../../../../support/values/alerts.ts';

let world: AlertWorld;
beforeAll(async () => {
  world = await makeAlertWorld();
});

let projects = 0;
const newProject = () => `acme/alerts-${projects++}` as ProjectId;

/** Calls of which all failed, a minute apart, the latest two minutes ago. */
const failing = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ minutesAgo: 2 + i, failed: true, op_name: 'pay' }));

const toldIn = (project: ProjectId) =>
  world.sent
    .filter(({ message }) => message.project_id === project)
    .map(({ message, target }) => `${target}: ${message.kind} ${message.previous} ${message.state}`);

describe('looking at alerts', () => {
  it('tells a change of state once, when two looks agree, with what contributed most', async () => {
    const project = newProject();
    await saveAlert(world, project, errorRate({ tell: [{ sns: true }, { webhook: 'ops' }] }));
    await reportCalls(world, project, failing(3));
    expect(await lookAfter(world, 0)).toMatchObject({ looks: 1, problems: [] });
    expect(toldIn(project)).toEqual([]);
    await lookAfter(world, 1);
    expect(toldIn(project)).toEqual(['sns: changed null alert', 'webhook ops: changed null alert']);
    const [{ message } = { message: undefined }] = world.sent.filter(
      ({ message }) => message.project_id === project,
    );
    const end = new Date(world.now - 60_000).toISOString().replace('000Z', '000000Z');
    expect(message).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      metric: 'Error rate',
      value: 1,
      threshold: 0.5,
      alert: { object_id: 'a', name: 'Too many errors' },
      window: { end },
      contributors: [{ label: 'pay', value: 3, call_id: null, link: expect.stringContaining('/ui/traces?') }],
      link: expect.stringContaining(new URLSearchParams({ to: end }).toString()),
    });
    await lookAfter(world, 1);
    await lookAfter(world, 1);
    expect(toldIn(project)).toHaveLength(2);
    // The calls leave the window: without any there is no share.
    await lookAfter(world, 5);
    await lookAfter(world, 1);
    expect(toldIn(project).at(-1)).toBe('webhook ops: changed alert no_data');
  });

  it('tries again what could not be delivered, in order, and says so', async () => {
    const project = newProject();
    await saveAlert(world, project, errorRate({ looks: 1 }));
    await reportCalls(world, project, failing(1));
    world.fails = 'the webhook answered 500';
    expect(await lookAfter(world, 0)).toMatchObject({ undelivered: 1 });
    await lookAfter(world, 4);
    await lookAfter(world, 1);
    expect(toldIn(project)).toEqual([]);
    const history: unknown[] = [];
    const take = ({ notifications }: { notifications: readonly { sendings: readonly unknown[] }[] }) =>
      history.push(...notifications.flatMap(({ sendings }) => sendings)) > 0;
    await readHistory(world.watch.table, project, take, requestBudget(5000));
    expect(history).toMatchObject([
      { status: 'waiting', tries: 0 },
      { status: 'waiting', problem: 'the webhook answered 500' },
    ]);
    world.fails = undefined;
    await lookAfter(world, 60);
    expect(toldIn(project)).toEqual(['sns: changed null alert', 'sns: changed alert no_data']);
    expect((await readStandings(world.watch.table, project, requestBudget(5000))).undelivered).toEqual([]);
  });

  it('gives a message up after a day', async () => {
    const project = newProject();
    await saveAlert(world, project, errorRate({ looks: 1, no_data: 'keep' }));
    await reportCalls(world, project, failing(1));
    world.fails = 'nobody is there';
    for (let hours = 0; hours < 26; hours++) await lookAfter(world, 60);
    world.fails = undefined;
    await lookAfter(world, 60);
    expect(toldIn(project)).toEqual([]);
    expect((await readStandings(world.watch.table, project, requestBudget(5000))).undelivered).toEqual([]);
  });

  it('asks for the register alone while nothing is due', async () => {
    const project = newProject();
    await saveAlert(world, project, errorRate({ window_minutes: 60 }));
    await lookAfter(world, 2);
    await lookAfter(world, 2);
    const { looks, budget } = await lookAfter(world, 0);
    expect({ looks, requests: budget.meter.requests }).toEqual({ looks: 0, requests: 1 });
  });

  it('looks at a new version at once, and tells nothing of a deleted alert', async () => {
    const project = newProject();
    await saveAlert(world, project, errorRate({ window_minutes: 1440, alert: 2, warn: 1.5, looks: 1 }));
    await reportCalls(world, project, [{ minutesAgo: 200, failed: true }]);
    await lookAfter(world, 0);
    expect(toldIn(project)).toEqual([]);
    await saveAlert(world, project, errorRate({ window_minutes: 1440, looks: 1 }));
    await lookAfter(world, 1);
    expect(toldIn(project)).toEqual(['sns: changed ok alert']);
    const objects = getStore(world.stores, world.stores.objectsTable);
    await deleteVersions(objects, { projectId: project, objectId: 'a' }, null, requestBudget(5000));
    await lookAfter(world, 2880);
    await lookAfter(world, 61);
    expect(toldIn(project)).toHaveLength(1);
    const registered = await readRegister(world.watch.table, requestBudget(5000));
    expect(registered.map(({ projectId }) => projectId)).not.toContain(project);
  });

  it('goes on with other projects when one fails', async () => {
    const broken = newProject();
    const whole = newProject();
    await saveAlert(world, broken, errorRate({ looks: 1 }));
    await saveAlert(world, whole, errorRate({ looks: 1 }));
    await reportCalls(world, whole, failing(1));
    const alerts = Object.create(world.watch.alerts) as typeof world.watch.alerts;
    alerts.getAlerts = (project, ...rest) => {
      if (project === broken) throw new Error('broken');
      return world.watch.alerts.getAlerts(project, ...rest);
    };
    const watch = { ...world.watch, alerts };
    const { problems } = await lookAfter({ ...world, watch }, 0);
    expect(problems.map(String)).toEqual(['Error: broken']);
    expect(toldIn(whole)).toHaveLength(1);
  });

  it('goes on with other alerts when one cannot be measured, and says so', async () => {
    const project = newProject();
    const cost = { metric: { metric: 'total_cost', aggregation: 'sum' }, looks: 1 };
    await saveAlert(world, project, errorRate({ looks: 1 }));
    await saveAlert(world, project, errorRate(cost), 'cost');
    await reportCalls(world, project, failing(1));
    const costs = () => Promise.reject(new Error('the prices are damaged'));
    const lookups = { ...world.watch.sources.lookups, costs };
    const watch = { ...world.watch, sources: { ...world.watch.sources, lookups } };
    const { problems } = await lookAfter({ ...world, watch }, 0);
    expect(problems.map(String)).toEqual(['Error: the prices are damaged']);
    expect(toldIn(project)).toEqual(['sns: changed null alert']);
    const { alerts } = await readStandings(world.watch.table, project, requestBudget(5000));
    expect(alerts.get('cost')).toMatchObject({ state: null, problem: expect.stringContaining('log') });
    await lookAfter(world, 1);
    const after = await readStandings(world.watch.table, project, requestBudget(5000));
    expect(after.alerts.get('cost')).toMatchObject({ state: 'ok', problem: null });
  });

  it('lets one of two that look at once tell', async () => {
    const project = newProject();
    await saveAlert(world, project, errorRate({ looks: 1 }));
    await reportCalls(world, project, failing(1));
    await Promise.all(Array.from({ length: 4 }, () => lookAfter(world, 0)));
    expect(toldIn(project)).toHaveLength(1);
  });

  it('reads what alerts share once', async () => {
    const units = async (count: number): Promise<number> => {
      const project = newProject();
      const metrics = [
        { metric: 'error_count', aggregation: 'avg' },
        { metric: 'latency_ms', percentile: 95 },
        { metric: 'total_tokens', aggregation: 'sum' },
      ];
      for (let i = 0; i < count; i++) {
        const filter = i % 2 === 0 ? {} : { thread_ids: [`t${i}`] };
        const fields = {
          metric: metrics[i % 3],
          window_minutes: 5 + (i % 55),
          filter,
          alert: 1e9,
          warn: null,
        };
        await saveAlert(world, project, errorRate({ ...fields, no_data: 'ok' }), `a${i}`);
      }
      await reportCalls(world, project, failing(50));
      await lookAfter(world, 1);
      await lookAfter(world, 1);
      const { looks, budget } = await lookAfter(world, 30);
      expect(looks).toBeGreaterThanOrEqual(count);
      return budget.meter.readUnits;
    };
    const one = await units(1);
    const many = await units(20);
    expect(many - one).toBeLessThan(10);
  });
});
