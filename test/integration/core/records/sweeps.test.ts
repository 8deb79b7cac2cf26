import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { fromItem, readSegmentId } from '../../../../core/records/calls/items.ts';
import { deleteProject } from '../../../../core/records/deletion.ts';
import { noteRetention, ProjectNotes, queryProjects } from '../../../../core/records/projects.ts';
import { applyRetention } from '../../../../core/records/retention.ts';
import type { ProjectStores } from '../../../../core/records/sweeps.ts';
import { textsRange } from '../../../../core/records/texts.ts';
import {
  asBytes,
  asText,
  type Item,
  queryPage,
  type RequestBudget,
  requestBudget,
  scanTable,
} from '../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../foundations/wire/index.ts';
import { forBucket, noise, calls as reportedCalls } from '../../../support/endpoints/scenario.ts';
import { runs, seed } from '../../../support/run/sampling.ts';
import { createStores, getStore } from '../../../support/service/stores.ts';
import { ask, makeEnd, makeStart, project, query, send } from '../../../support/values/calls.ts';
import { create } from '../../../support/values/feedback.ts';

const daySeconds = 86_400;
const other = 'acme/shop2' as ProjectId;
const now = Date.UTC(2026, 9, 31);

let stores: ProjectStores;
let notes: ProjectNotes;
let listBucket: () => Promise<string[]>;

/** The stores of one container. Its notes know nothing yet. */
const asContainer = (all: ProjectStores): ProjectStores => {
  notes = new ProjectNotes(all.bookkeeping);
  const noting = { noteProject: (id: ProjectId) => notes.note(id), projects: notes };
  return {
    ...all,
    calls: { ...all.calls, ...noting, bookkeeping: all.bookkeeping, projectDays: 'callsDays' },
    feedback: { ...all.feedback, ...noting, projectDays: 'feedbackDays' },
  };
};

beforeEach(async () => {
  const made = await createStores();
  stores = asContainer({
    calls: getStore(made, made.callsTable),
    feedback: getStore(made, made.feedbackTable),
    objects: getStore(made, made.objectsTable),
    costs: getStore(made, made.costsTable),
    bookkeeping: { client: made.dynamodb, name: made.rollupsTable },
  });
  listBucket = async () => {
    const { Contents = [] } = await made.s3.send(new ListObjectsV2Command({ Bucket: made.bucket }));
    return Contents.flatMap(({ Key = '' }) => Key);
  };
  vi.useFakeTimers({ toFake: ['Date'], now });
  return () => vi.useRealTimers();
});

const long = (): RequestBudget => requestBudget(600_000);

/** A budget of which something becomes at each request to a store. */
const onRequest = (act: () => void): RequestBudget => {
  const budget = long();
  let requests = 0;
  Object.defineProperty(budget.meter, 'requests', {
    get: () => requests,
    set: (count: number) => {
      requests = count;
      act();
    },
  });
  return budget;
};

const readAll = async (store: { readonly table: ProjectStores['bookkeeping'] }): Promise<Item[]> =>
  (await Array.fromAsync(scanTable(store.table))).flat();

/** The items of a table that name a project, as text. */
const itemsOf = async (store: Parameters<typeof readAll>[0], id: string): Promise<string[]> =>
  (await readAll(store))
    .map(
      ({ k, s }) =>
        `${Buffer.from(asBytes(k) ?? []).toString('latin1')} ${Buffer.from(asBytes(s) ?? []).toString('latin1')}`,
    )
    .filter((text) => text.includes(`${id}\0`) || text.endsWith(id));

/** In how many days the items of a table expire, by what they are. */
const expiries = async (store: Parameters<typeof readAll>[0]): Promise<Record<string, (number | null)[]>> => {
  const items = await readAll(store);
  const days = ({ x }: Item) => (typeof x === 'number' ? Math.round((x - now / 1000) / daySeconds) : null);
  return Object.fromEntries(
    [...Map.groupBy(items, ({ p }) => asText(p)?.[0] ?? '')].map(([part, some]) => [
      part,
      some.map(days).sort((a, b) => (a ?? 1e9) - (b ?? 1e9)),
    ]),
  );
};

const isOf = (id: ProjectId, k: Item[string] | undefined): boolean =>
  Buffer.from(asBytes(k) ?? [])
    .toString('latin1')
    .startsWith(`${id}\0`);

const onDay = (day: number): string => new Date(now + day * daySeconds * 1000).toISOString();

describe('deleting a project', () => {
  it('goes on where a request ran out of time, counts once, and leaves others alone', async () => {
    const batch = reportedCalls(project, 300).concat(reportedCalls(other, 40));
    await send(stores.calls, batch);
    await send(stores.calls, [makeEnd({ id: 'never started', output: noise(20_000) })]);
    const before = (await readAll(stores.calls)).length;
    const own = (await itemsOf(stores.calls, project)).length;
    const answers: Awaited<ReturnType<typeof deleteProject>>[] = [];
    do {
      // Each request to a store takes a second.
      const slow = onRequest(() => vi.setSystemTime(Date.now() + 1000));
      answers.push(await deleteProject(stores, project, { ...slow, deadline: Date.now() + 40_000 }));
    } while (!answers.at(-1)?.done && answers.length < 100);
    expect(answers.length).toBeGreaterThan(2);
    expect(answers.at(-1)).toMatchObject({ done: true, deleted: { calls: 300 } });
    expect(await itemsOf(stores.calls, project)).toEqual([]);
    expect((await readAll(stores.calls)).length).toBe(before - own);
    expect(await query(stores.calls, { projectId: other })).toHaveLength(40);
    expect(await itemsOf({ table: stores.bookkeeping }, project)).toEqual([]);
  });

  it('can be repeated after a failure at any request, and keeps the note until the end', async () => {
    await send(stores.calls, reportedCalls(project, 30));
    const listed = async () =>
      (
        await queryProjects(
          stores.bookkeeping,
          [{ scope: '*', role: 'read' }],
          { limit: null, offset: 0 },
          long(),
        )
      ).map(({ project_id: id }) => id);
    await vi.waitFor(async () => expect(await listed()).toEqual([project]));
    for (let most = 1; ; most++) {
      let left = most;
      const failing = onRequest(() => {
        if (left-- <= 0) throw new Error('killed');
      });
      const done = await deleteProject(stores, project, failing).catch((error: Error) => {
        expect(error.message).toBe('killed');
        return undefined;
      });
      if (done) {
        expect(done.done).toBe(true);
        break;
      }
      if ((await itemsOf(stores.calls, project)).length > 0) expect(await listed()).toEqual([project]);
    }
    expect(await itemsOf(stores.calls, project)).toEqual([]);
    expect(await listed()).toEqual([]);
  });

  it('begins anew where somebody left it unfinished an hour ago, and says so', async () => {
    await send(stores.calls, reportedCalls(project, 3));
    const said: boolean[] = [];
    const announce = async (end: object | null) => {
      said.push(end !== null);
      // The trail does not take the end of the first deletion.
      if (said.length === 2) throw new Error('no trail');
    };
    await expect(deleteProject(stores, project, long(), announce)).rejects.toThrow('no trail');
    vi.setSystemTime(now + 3_600_000);
    await send(stores.calls, reportedCalls(project, 20));
    const answer = await deleteProject(stores, project, long(), announce);
    expect(answer).toMatchObject({ done: true, deleted: { calls: 20 } });
    expect(said).toEqual([false, true, false, true]);
    expect(await itemsOf(stores.calls, project)).toEqual([]);
  });

  it('takes four write units and a half for a call in a thread, and little to read in small tables', async () => {
    await send(stores.calls, reportedCalls(project, 1000));
    const budget = long();
    await deleteProject(stores, project, budget);
    const { readUnits, writeUnits } = budget.meter;
    // A unit for the item and for each of three indexes, and for each KB of payloads.
    expect(writeUnits).toBeGreaterThan(4000);
    expect(writeUnits).toBeLessThan(4600);
    expect(readUnits).toBeLessThan(250);
  });
});

describe('applying a retention', () => {
  const retain = (callsDays?: number, feedbackDays?: number, version = 1) =>
    noteRetention(stores.bookkeeping, project, { callsDays, feedbackDays }, version, long());
  const apply = (lag = 0) => applyRetention(stores, project, long(), lag);

  it('deletes what is known of texts, as the deletion of a project does', async () => {
    const range = { partition: textsRange(project).partition };
    const known = async () => (await queryPage(stores.bookkeeping, range, long())).items.length;
    const $contains = { input: { $getField: 'output' }, substr: { $literal: 'xylophone' } };
    const search = () => ask(stores.calls, { project_id: project, query: { $expr: { $contains } } });
    await send(stores.calls, [
      makeStart({ id: 'a', trace_id: 'a', started_at: onDay(-2) }),
      makeEnd({ id: 'a', ended_at: onDay(-2), output: 'a zebra' }),
    ]);
    vi.setSystemTime(now + 1_200_000);
    expect(await search()).toEqual([]);
    expect(await known()).toBe(1);
    await retain(30);
    await apply();
    expect(await known()).toBe(0);
    await search();
    expect(await known()).toBe(1);
    expect(await deleteProject(stores, project, long())).toMatchObject({ done: true });
    expect(await known()).toBe(0);
  });

  it('has what was stored before expire by its start, and what is older at once', async () => {
    const large = (id: string, day: number) => [
      makeStart({ id, trace_id: id, started_at: onDay(day), inputs: { q: noise(20_000, id) } }),
      makeEnd({ id, ended_at: onDay(day) }),
    ];
    await send(stores.calls, [...large('old', -40), ...large('older', -300)]);
    await send(stores.calls, large('kept', -10));
    await send(stores.calls, [
      makeStart({ id: 'kept', trace_id: 'kept', started_at: onDay(-10), inputs: {} }),
    ]);
    // Both a call that is due and one that is kept have this payload.
    await send(stores.calls, [...large('with old', -1), ...large('with new', -31)]);
    expect(await expiries(stores.calls)).toEqual({
      S: Array(5).fill(null),
      P: Array(3).fill(null),
      V: Array(2).fill(null),
      N: [null],
    });
    await retain(30);
    expect(await apply()).toEqual({
      done: true,
      applied: { calls: 5, calls_due: 3, feedback: 0, feedback_due: 0, bucket_objects: 0 },
    });
    expect(await expiries(stores.calls)).toEqual({
      S: [0, 0, 0, 20, 29],
      P: [3, 33, 33],
      V: [3, 33],
      N: [23],
    });
    const second = await apply();
    expect(second.applied.calls).toBe(5);
    expect(await expiries(stores.calls)).toEqual({
      S: [0, 0, 0, 20, 29],
      P: [3, 33, 33],
      V: [3, 33],
      N: [23],
    });
  });

  it('never makes anything expire later, and leaves other projects alone', async () => {
    await send({ ...stores.calls, retentionDays: 5 }, [makeStart({ id: 'sooner', started_at: onDay(0) })]);
    await send(stores.calls, [makeStart({ id: 'c', project_id: other, started_at: onDay(-100) })]);
    await retain(30);
    expect((await apply()).applied).toMatchObject({ calls: 0 });
    expect(await expiries(stores.calls)).toEqual({ S: [5, null] });
  });

  it('gives feedback its own days, and large payloads a tag that their rules delete by', async () => {
    vi.setSystemTime(now - 20 * daySeconds * 1000);
    await create(stores.feedback, { id: 'old' });
    vi.setSystemTime(now);
    await create(stores.feedback, { id: 'new', payload: { text: noise(460_000) } });
    await send(stores.calls, [makeStart({ id: 'a', started_at: onDay(0), inputs: { q: noise(forBucket) } })]);
    await retain(undefined, 10);
    const { applied } = await apply();
    expect(applied).toMatchObject({ calls: 0, feedback: 2, feedback_due: 1, bucket_objects: 1 });
    expect(await expiries(stores.feedback)).toEqual({ '': [0, 10] });
    expect(await expiries(stores.calls)).toMatchObject({ S: [null] });
  });

  it('goes on until those who did not know it yet are past', async () => {
    await retain(30);
    expect(await apply(90_000)).toMatchObject({ done: false });
    // Somebody stores a call who knew no retention.
    const ignorant = { ...stores.calls, projects: undefined };
    await send(ignorant, [makeStart({ id: 'late', started_at: onDay(0) })]);
    expect(await apply(90_000)).toMatchObject({ done: false, applied: { calls: 1 } });
    vi.setSystemTime(now + 91_000);
    expect(await apply(90_000)).toMatchObject({ done: true, applied: { calls: 1 } });
    expect(await expiries(stores.calls)).toEqual({ S: [30] });
  });

  it('looks again if it began before they were past, though it ended afterwards', async () => {
    const inputs = { q: noise(forBucket) };
    await send(stores.calls, [makeStart({ id: 'a', started_at: onDay(0), inputs })]);
    await retain(30);
    const applyFor = (ms: number) =>
      applyRetention(stores, project, long(), 90_000, async () => void vi.setSystemTime(now + ms));
    expect(await applyFor(91_000)).toMatchObject({ done: false, applied: { calls: 1, bucket_objects: 1 } });
    expect(await applyFor(91_000)).toMatchObject({ done: true, applied: { calls: 1, bucket_objects: 1 } });
  });
});

describe('a retention, whatever calls share a payload and however often it is applied,', () => {
  /** The days on which the calls of each request start, before and after today. */
  const requests = fc.array(fc.array(fc.integer({ min: -60, max: 20 }), { minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 4,
  });
  let projects = 0;

  it('has each call expire in time, and never before its payload', async () => {
    await fc.assert(
      fc.asyncProperty(
        requests,
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 3 }),
        async (batches, changes) => {
          const id = `acme/any-${projects++}` as ProjectId;
          for (const [n, days] of batches.entries())
            await send(
              stores.calls,
              days.map((day, i) =>
                makeStart({
                  project_id: id,
                  id: `${n}-${i}`,
                  parent_id: i % 2 ? 'parent' : null,
                  started_at: onDay(day),
                  inputs: { q: noise(2000, `${n} ${i}`) },
                }),
              ),
            );
          for (const [version, callsDays] of changes.entries()) {
            await noteRetention(stores.bookkeeping, id, { callsDays }, version, long());
            expect(await applyRetention(stores, id, long(), 0)).toMatchObject({ done: true });
          }
          const items = (await readAll(stores.calls)).filter(({ k }) => isOf(id, k));
          const segmentExpiry = new Map(
            items.flatMap(({ k, p, x }) =>
              p === 'P' ? [[readSegmentId(id, asBytes(k) ?? Buffer.of()), Number(x)]] : [],
            ),
          );
          const least = Math.min(...changes);
          for (const item of items.filter(({ p }) => p === 'S')) {
            const { start } = fromItem(id, item);
            // What keeps the place of an unknown parent holds nothing.
            if (!start) continue;
            const expiry = Number(item.x);
            const startedAt = Math.min(start.startedAt / 1e6, now / 1000);
            expect(expiry).toBe(Math.max(now / 1000, startedAt + least * daySeconds));
            const { segment } = start.payload;
            if (segment !== null)
              expect(segmentExpiry.get(segment)).toBeGreaterThanOrEqual(expiry + 3 * daySeconds);
          }
        },
      ),
      { numRuns: runs(12), seed },
    );
  });
});

describe('what is stored under a retention', () => {
  it('expires by the shorter of that of the project and of all, in the bucket with the next rule', async () => {
    await noteRetention(stores.bookkeeping, project, { callsDays: 40, feedbackDays: 3 }, 1, long());
    await send(stores.calls, [makeStart({ id: 'a', inputs: { q: noise(20_000) } })]);
    await send(stores.calls, [makeStart({ id: 'b', inputs: { q: noise(forBucket) } })]);
    await send({ ...stores.calls, retentionDays: 7 }, [makeStart({ id: 'c' })]);
    await send(stores.calls, [makeStart({ id: 'd', project_id: other })]);
    expect(await expiries(stores.calls)).toEqual({ S: [7, 40, 40, null], P: [43], V: [43] });
    expect(await listBucket()).toEqual([expect.stringMatching(/^segments\/expiring-45\/acme\/shop\//)]);
    await create(stores.feedback, { id: 'f', payload: { text: noise(460_000) } });
    expect(await expiries(stores.feedback)).toEqual({ '': [3] });
    expect(await listBucket()).toContainEqual(expect.stringMatching(/^feedback\/expiring-3\/acme\/shop\//));
  });

  it('is known a minute after it changed, and a later change stays', async () => {
    const storeOne = async (id: string) => {
      await send(stores.calls, [makeStart({ id })]);
      const expiry = (await readAll(stores.calls)).find(({ k }) =>
        Buffer.from(asBytes(k) ?? []).includes(id),
      );
      return typeof expiry?.x === 'number' ? Math.round((expiry.x - Date.now() / 1000) / daySeconds) : null;
    };
    expect(await storeOne('first')).toBeNull();
    await noteRetention(stores.bookkeeping, project, { callsDays: 9 }, 2, long());
    await noteRetention(stores.bookkeeping, project, { callsDays: 90 }, 1, long());
    expect(await storeOne('soon')).toBeNull();
    vi.setSystemTime(now + 61_000);
    expect(await storeOne('later')).toBe(9);
  });
});
