import { expect, it } from 'vitest';
import type { AlertLevel } from '../../api/alerts.ts';
import { KnownAlerts, lookAtAlerts, type Watch } from '../../core/workers/alerts/look.ts';
import type { Message } from '../../core/workers/alerts/message.ts';
import { targetName } from '../../core/workers/alerts/message.ts';
import { queryAlerts } from '../../core/workers/alerts/query.ts';
import { readRegister, readStandings } from '../../core/workers/alerts/register.ts';
import { requestBudget } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { makeFaulty, type SdkClient } from '../support/faults/faulty-client.ts';
import { dieNow, invocation, makeMortal, mortalRequest } from '../support/faults/mortal.ts';
import { paced } from '../support/run/pace.ts';
import { deep, repeatWith, seed } from '../support/run/sampling.ts';
import { createStores, getStore } from '../support/service/stores.ts';
import { errorRate, makeAlertWorld, parseAlert, reportCalls, saveAlert } from '../support/values/alerts.ts';
import { random } from '../support/values/random.ts';

/*
 * Calls of three projects go well and badly in turns. A function looks each minute, sometimes two of them
 * at once, while requests to stores fail, functions die at any of their requests, and targets do not
 * answer, or break off after they were told.
 */

const numbers = random(seed);
const projects = ['acme/a', 'acme/b', 'acme/c'] as ProjectId[];
const targets = [{ sns: true }, { webhook: 'ops', format: 'json' }];
const minutes = deep ? 2000 : 80;
/** How long calls go well, and then badly: long enough for a state to be told. */
const phaseMinutes = 12;
/** What is not delivered then is tried again within an hour. */
const settlingMinutes = 70;

it(`each change is told to each target in its order, once but for its id (${repeatWith})`, {
  timeout: paced(900_000),
}, async () => {
  const stores = await createStores();
  const world = await makeAlertWorld(stores);
  for (const client of [stores.dynamodb, stores.s3]) {
    makeFaulty(client as SdkClient);
    makeMortal(client as SdkClient);
  }
  const objects = getStore(stores, stores.objectsTable);
  const sent: { readonly message: Message; readonly target: string }[] = [];
  let isQuiet = false;
  const watch: Watch = {
    ...world.watch,
    send: (message, target) =>
      mortalRequest(async () => {
        const fate = isQuiet ? 1 : numbers.next();
        if (fate < 0.1) throw new Error('nobody is there');
        sent.push({ message, target: targetName(target) });
        if (fate < 0.2) throw new Error('the answer was lost');
        if (fate < 0.4) dieNow();
      }),
  };
  for (const project of projects) {
    await saveAlert(
      world,
      project,
      errorRate({ warn: null, alert: 0.5, no_data: 'ok', tell: targets }),
      'rate',
    );
    await saveAlert(
      world,
      project,
      errorRate({ metric: { metric: 'error_count', aggregation: 'sum' }, warn: 1, alert: 3, tell: targets }),
      'count',
    );
  }

  let deaths = 0;
  let looks = 0;
  const look = async (): Promise<void> => {
    // A container of its own knows nothing yet.
    const known = numbers.chance(0.3)
      ? { alerts: new KnownAlerts(objects, parseAlert, () => world.now) }
      : {};
    const run = () => lookAtAlerts({ ...watch, ...known }, requestBudget(60_000));
    if (isQuiet) {
      looks += (await run()).looks;
      return;
    }
    const { result, died } = await invocation(numbers, run);
    if (died) deaths++;
    looks += result?.looks ?? 0;
  };
  const goOn = async (): Promise<void> => {
    world.now += 60_000;
    await Promise.all(numbers.chance(0.2) && !isQuiet ? [look(), look()] : [look()]);
  };
  for (let minute = 0; minute < minutes; minute++) {
    for (const [i, project] of projects.entries()) {
      const failed = Math.floor((minute + i * 7) / phaseMinutes) % 2 === 1;
      await reportCalls(world, project, [{ minutesAgo: 0, failed }]);
    }
    await goOn();
  }
  isQuiet = true;
  for (let minute = 0; minute < settlingMinutes; minute++) {
    if (minute < 15) for (const project of projects) await reportCalls(world, project, [{ minutesAgo: 0 }]);
    await goOn();
  }

  for (const project of projects) {
    const query = { projectId: project, objectIds: null, limit: 1000 };
    const { alerts, history } = await queryAlerts(
      objects,
      watch.table,
      query,
      parseAlert,
      requestBudget(60_000),
    );
    expect(alerts.map(({ state, problem }) => ({ state, problem }))).toEqual([
      { state: 'ok', problem: null },
      { state: 'ok', problem: null },
    ]);
    expect((await readStandings(watch.table, project, requestBudget(60_000))).undelivered).toEqual([]);
    for (const objectId of ['rate', 'count']) {
      const changes = history.filter(({ object_id }) => object_id === objectId).toReversed();
      // Each change goes on from the one before it.
      let state: AlertLevel | null = changes[0]?.previous ?? null;
      for (const change of changes) {
        expect(change.previous).toBe(state);
        expect(change.deliveries.map(({ status }) => status)).toEqual(['delivered', 'delivered']);
        state = change.state;
      }
      expect(changes.length).toBeGreaterThan(1);
      for (const target of targets.map((one) =>
        targetName({ sns: null, eventBus: null, webhook: null, ...one } as never),
      )) {
        const ids = sent
          .filter(
            ({ message: { project_id, alert }, target: to }) =>
              project_id === project && alert.object_id === objectId && to === target,
          )
          .map(({ message: { id } }) => id);
        expect([...new Set(ids)]).toEqual(changes.map(({ id }) => id));
      }
    }
  }
  const register = await readRegister(watch.table, requestBudget(60_000));
  expect(register.map(({ projectId, claimedUntil }) => [projectId, claimedUntil])).toEqual(
    projects.map((project) => [project, 0]),
  );
  expect(deaths).toBeGreaterThan(minutes / 10);
  expect(looks).toBeGreaterThan(minutes);
});
