import { beforeEach, describe, expect, it } from 'vitest';
import { alert } from '../../../../../api/alerts.ts';
import { registerKey } from '../../../../../core/records/alerts.ts';
import { updateIssue } from '../../../../../core/records/issues.ts';
import { noKnownIssues, readKnown } from '../../../../../core/workers/alerts/new-issues.ts';
import { previewAlert } from '../../../../../core/workers/alerts/preview.ts';
import { raiseNumber, requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import {
  type AlertWorld,
  errorRate,
  lookAfter,
  makeAlertWorld,
  reportCalls,
  saveAlert,
} from '../../../../support/values/alerts.ts';

let world: AlertWorld;
beforeEach(async () => {
  world = await makeAlertWorld();
});

let projects = 0;
const newProject = () => `acme/new-issues-${projects++}` as ProjectId;

const newIssues = (fields: object = {}): JsonObject =>
  errorRate({
    name: 'Something new',
    metric: { metric: 'new_issues', aggregation: 'sum' },
    warn: null,
    alert: 0,
    looks: 1,
    ...fields,
  });

const fail = (project: ProjectId, op_name: string, minutesAgo: number) =>
  reportCalls(world, project, [{ minutesAgo, failed: true, op_name }]);

const messagesOf = (project: ProjectId) =>
  world.sent.filter(({ message }) => message.project_id === project).map(({ message }) => message);

const eventsOf = (project: ProjectId) =>
  world.issues.filter(({ detail }) => detail.project_id === project).map(({ detail }) => detail);

const resolve = async (project: ProjectId, issueId: string, minutesAgo: number): Promise<void> => {
  const change = { state: 'resolved', assignee: undefined, note: undefined } as const;
  const now = () => world.now - minutesAgo * 60_000;
  const { objects } = world.watch.sources;
  await updateIssue(objects, { projectId: project, issueId, change }, 'ada', requestBudget(5000), {}, now);
};

describe('an alert on new issues', () => {
  it('tells what nobody knew, once, and again when it comes back after it was resolved', async () => {
    const project = newProject();
    await fail(project, 'pay', 90);
    await saveAlert(world, project, newIssues());
    await lookAfter(world, 0);
    expect(messagesOf(project)).toEqual([]);
    // What was there before anybody looked is known, and no event.
    await fail(project, 'pay', 2);
    await lookAfter(world, 1);
    expect(messagesOf(project)).toEqual([]);
    expect(eventsOf(project)).toEqual([]);

    await fail(project, 'ship', 1);
    await lookAfter(world, 1);
    expect(messagesOf(project)).toMatchObject([
      {
        state: 'alert',
        previous: 'ok',
        metric: 'New issues',
        value: 1,
        contributors: [{ label: 'it failed', value: 1, link: expect.stringContaining('/ui/call?') }],
      },
    ]);
    const [event] = eventsOf(project);
    expect(event).toMatchObject({ op_name: 'ship', state: 'open', title: 'it failed', kind: 'error' });
    await lookAfter(world, 6);
    expect(messagesOf(project)).toMatchObject([{ state: 'alert' }, { state: 'ok', value: 0 }]);

    await resolve(project, String(event?.issue_id), 0);
    await lookAfter(world, 5);
    await fail(project, 'ship', 2);
    await lookAfter(world, 1);
    expect(messagesOf(project).at(-1)).toMatchObject({ state: 'alert', value: 1 });
    await lookAfter(world, 1);
    const [, back, ...others] = eventsOf(project);
    expect(others).toEqual([]);
    expect(back).toMatchObject({ issue_id: event?.issue_id, state: 'regressed' });
    expect(back?.event_id).not.toBe(event?.event_id);
  });

  it('finds what is reported late, and tells by the same id what a look could not tell or keep', async () => {
    const project = newProject();
    await saveAlert(world, project, newIssues());
    await lookAfter(world, 0);
    await fail(project, 'pay', 20);
    world.fails = 'the bus is full';
    expect(await lookAfter(world, 1)).toMatchObject({
      undelivered: 2,
      problems: [new Error('the bus is full')],
    });
    world.fails = undefined;
    await lookAfter(world, 1);
    const [event, ...others] = eventsOf(project);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ op_name: 'pay' });

    // Somebody else claims the project after a look has told, before it has stored.
    await fail(project, 'ship', 1);
    const { table, tellIssue } = world.watch;
    const overtaken: typeof tellIssue = async (told, budget) => {
      await tellIssue(told, budget);
      const claim = { key: registerKey(project), attribute: 'c', value: world.now + 200_000 };
      await raiseNumber(table, claim, budget);
    };
    world.now += 60_000;
    await lookAfter({ ...world, watch: { ...world.watch, tellIssue: overtaken } }, 0);
    await lookAfter(world, 4);
    const ids = eventsOf(project).map(({ op_name, event_id }) => [op_name, event_id]);
    expect(ids).toEqual([ids[0], ids[1], ids[1]]);
  });

  it('keeps what it knows in one small item, and reads no more of calls while nothing is new', async () => {
    const project = newProject();
    await saveAlert(world, project, newIssues());
    await lookAfter(world, 0);
    for (const op of ['a', 'b', 'c']) await fail(project, op, 2);
    await lookAfter(world, 1);
    const before = await readKnown(world.watch.table, project, requestBudget(5000));
    expect(before.issues.size).toBe(3);
    await lookAfter(world, 1);
    const { budget } = await lookAfter(world, 1);
    expect(await readKnown(world.watch.table, project, requestBudget(5000))).toEqual(before);
    // In the first hours of a day, what is read lies in two days.
    expect(budget.meter.readUnits).toBeLessThan(16);
  });

  it('reads nothing of issues for other alerts', async () => {
    const project = newProject();
    await saveAlert(world, project, errorRate({ looks: 1 }));
    await fail(project, 'pay', 2);
    const unread = new Proxy({} as Store, {
      get: () => {
        throw new Error('this is for issues alone');
      },
    });
    const sources = { ...world.watch.sources, feedback: unread, objects: unread };
    const looked = await lookAfter({ ...world, watch: { ...world.watch, sources } }, 1);
    expect(looked).toMatchObject({ looks: 1, problems: [] });
    expect(messagesOf(project)).toMatchObject([{ state: 'alert' }]);
    expect(await readKnown(world.watch.table, project, requestBudget(5000))).toEqual(noKnownIssues);
  });

  it('is previewed as it would have looked', async () => {
    const project = newProject();
    await fail(project, 'known', 60);
    await saveAlert(world, project, newIssues());
    await lookAfter(world, 0);
    for (let at = 0; at < 20; at++) {
      if (at % 4 === 0) await fail(project, 'known', 0);
      if (at === 5 || at === 6) await fail(project, `op ${at}`, 0);
      await lookAfter(world, 1);
    }
    const request = {
      projectId: project,
      alert: alert().parse(newIssues()),
      start: (world.now - 19 * 60_000) * 1000,
      end: world.now * 1000,
      includeValues: true,
    };
    const found = await previewAlert(world.watch.sources, request, requestBudget(60_000));
    expect(found).toMatchObject({ reads: 'rollups', looks: 20, value: 0 });
    const told = (list: readonly { at: string; state: string; value: number | null }[]) =>
      list.map(({ at, state, value }) => [at.slice(0, 16), state, value]);
    expect(told(found.changes.filter((change) => change.told))).toEqual(told(messagesOf(project)));
    expect(messagesOf(project)).toHaveLength(2);
    expect(Math.max(...(found.values ?? []).map(({ value }) => value ?? 0))).toBe(2);
    expect(found.estimated_usd_per_month).toBeGreaterThan(0);
  });
});

describe('its value', () => {
  it.each([
    [{ metric: { metric: 'new_issues', aggregation: 'avg' } }, 'sum'],
    [{ metric: { metric: 'new_issues', percentile: 95 } }, 'sum'],
    [{ filter: { op_names: ['pay'] } }, 'metrics of calls'],
  ])('says what is wrong with %j', (fields, words) => {
    const { error } = alert().safeParse(newIssues(fields));
    expect(JSON.stringify(error?.issues)).toContain(words);
  });
});
