import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { getBodySchema } from '../../../../../api/endpoint.ts';
import { sortFields, threadsStreamQuery } from '../../../../../api/threads.ts';
import { queryThreads } from '../../../../../core/questions/threads/index.ts';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import { compareText } from '../../../../../foundations/expression/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import {
  formatTime,
  type JsonObject,
  type ProjectId,
  parseTime,
} from '../../../../../foundations/wire/index.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';
import { deep, runs } from '../../../../support/run/sampling.ts';
import { createCallStore, makeEnd, makeStart, project, send } from '../../../../support/values/calls.ts';
import { anyReported, naiveThreads, type Reported, toRequests, type WireSortKey } from './reference.ts';

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

let projects = 0;
/** A project of its own for one case. */
const newProject = () => `acme/threads-${projects++}` as ProjectId;

const answer = (body: JsonObject, from = store, spent = requestBudget(60_000)) =>
  queryThreads(
    from,
    parseBody(getBodySchema(threadsStreamQuery), JSON.stringify({ project_id: project, ...body })),
    spent,
  );

/** Answers a query in full, parsed. */
const findThreads = async (body: JsonObject, from = store): Promise<JsonObject[]> => {
  const batches = await Array.fromAsync(answer(body, from).json());
  return batches.flat().map((text) => JSON.parse(text) as JsonObject);
};

const getIds = (threads: readonly JsonObject[]) => threads.map(({ thread_id }) => thread_id);

const report = async (calls: readonly Reported[], project_id: ProjectId, to = store) => {
  for (const batch of toRequests(calls, project_id)) await send(to, batch);
};

/**
 * So many turns, one a second, in threads that take turns; the i-th takes i + 1 ms.
 *
 * @param tail what each id ends with
 */
const turns = (count: number, threads: number, project_id: ProjectId, tail = '') =>
  Array.from({ length: count }, (_, i) => {
    const startedAt = (parseTime('2026-10-01T00:00:00Z') ?? 0) + i * 1_000_000;
    const id = `turn-${i}${tail}`;
    return [
      makeStart({
        project_id,
        id,
        turn_id: id,
        thread_id: `thread-${String(i % threads).padStart(4, '0')}`,
        started_at: formatTime(startedAt),
      }),
      makeEnd({ project_id, id, ended_at: formatTime(startedAt + (i + 1) * 1000) }),
    ] as const;
  });

/** Makes ids so long that few turns fill a page of the index. */
const longTail = '-'.repeat(240);
/** The turns of a thread that takes more than a page of its index. */
const [many, lastUpdated, p99] = deep
  ? [10_000, '2026-10-01T02:46:49.000000Z', 9900.01]
  : [4000, '2026-10-01T01:06:43.000000Z', 3960.01];

const sendAll = async (items: readonly object[], to = store) => {
  for (let i = 0; i < items.length; i += 1000) await send(to, items.slice(i, i + 1000));
};

describe('threads', () => {
  it('have the statistics of a scan of every call, in any way of reporting', async () => {
    const calls = fc.array(anyReported, { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(calls, async (reported) => {
        const project_id = newProject();
        await report(reported, project_id);
        expect(await findThreads({ project_id })).toEqual(naiveThreads(reported, { project_id }));
      }),
      { numRuns: runs(20, 120) },
    );
  });

  it('come back filtered, sorted and sliced as requested', async () => {
    const project_id = newProject();
    const reported = fc.sample(anyReported, { numRuns: 200, seed: 42 });
    await report(reported, project_id);
    const whole = naiveThreads(reported, { project_id });
    const time = fc.constantFrom(...whole.flatMap((t) => [String(t.start_time), String(t.last_updated)]));
    const id = fc.constantFrom(...getIds(whole).map(String), 'unknown', '\u0000', '');
    const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 2 });
    const sortKey = fc.record<WireSortKey>({
      field: fc.constantFrom(...sortFields),
      direction: fc.constantFrom('asc', 'desc'),
    });
    const query = fc.record({
      filter: nullable(
        fc.record({
          after_datetime: nullable(time),
          before_datetime: nullable(time),
          thread_ids: nullable(fc.array(id, { maxLength: 12 })),
        }),
      ),
      sort_by: nullable(fc.array(sortKey, { maxLength: 3 })),
      limit: nullable(fc.nat(10)),
      offset: nullable(fc.nat(6)),
    });
    await fc.assert(
      fc.asyncProperty(query, async (body) => {
        expect(await findThreads({ project_id, ...body } as JsonObject)).toEqual(
          naiveThreads(reported, { project_id, ...body }),
        );
      }),
      { numRuns: runs(50, 400) },
    );
  });

  it('belong to their own project', async () => {
    const mine = newProject();
    const other = newProject();
    await sendAll(turns(4, 2, mine).flat());
    await sendAll(turns(1, 1, other).flat());
    expect(await findThreads({ project_id: mine })).toMatchObject([{ turn_count: 2 }, { turn_count: 2 }]);
    expect(await findThreads({ project_id: other })).toMatchObject([{ turn_count: 1 }]);
    expect(await findThreads({ project_id: other, filter: { thread_ids: ['thread-0001'] } })).toEqual([]);
    expect(await findThreads({ project_id: newProject() })).toEqual([]);
  });

  it('lose deleted turns, and disappear with their last turn', async () => {
    const project_id = newProject();
    await sendAll(turns(3, 2, project_id).flat());
    const remove = (id: string) => deleteCalls(store, project_id, [id], requestBudget(30_000));
    await remove('turn-2');
    const [second, first] = await findThreads({ project_id });
    expect(first).toMatchObject({ turn_count: 1, last_turn_id: 'turn-0', p99_turn_duration_ms: 1 });
    expect(second).toMatchObject({ thread_id: 'thread-0001', turn_count: 1 });
    await remove('turn-0');
    expect(await findThreads({ project_id })).toEqual([second]);
  });

  it('are merged if they lie in two shards after an increase', async () => {
    const project_id = newProject();
    const before: Store = { ...store, shards: [1] };
    const now: Store = { ...store, shards: [1, 8] };
    const items = turns(60, 20, project_id);
    await sendAll(items.slice(0, 30).flat(), before);
    await sendAll(
      items.slice(30).map(([start]) => start),
      now,
    );
    await sendAll(
      items.slice(30).map(([, end]) => end),
      now,
    );
    const sort_by = [{ field: 'thread_id', direction: 'desc' }];
    const found = await findThreads({ project_id, sort_by }, now);
    expect(getIds(found)).toEqual(
      Array.from({ length: 20 }, (_, i) => `thread-${String(19 - i).padStart(4, '0')}`),
    );
    for (const { turn_count, thread_id } of found) {
      expect(turn_count).toBe(3);
      const one = await findThreads({ project_id, filter: { thread_ids: [thread_id ?? ''] } }, now);
      expect(one).toMatchObject([{ thread_id, turn_count: 3 }]);
    }
  });

  it('may have ids so long that the index stores digests', async () => {
    const project_id = newProject();
    const head = '日'.repeat(90);
    const threadIds = ['a', 'b', 'c', 'd', 'e'].map((tail) => head + tail.repeat(60));
    await send(
      store,
      [...threadIds, head, `${head}z`, 'short'].map((thread_id, i) =>
        makeStart({ project_id, id: `${i}`, turn_id: `${i}`, thread_id }),
      ),
    );
    const inOrder = [...threadIds, head, `${head}z`, 'short'].sort(compareText);
    for (const direction of ['asc', 'desc']) {
      const found = getIds(await findThreads({ project_id, sort_by: [{ field: 'thread_id', direction }] }));
      expect(found).toEqual(direction === 'asc' ? inOrder : inOrder.toReversed());
    }
    const [, second = ''] = threadIds;
    expect(getIds(await findThreads({ project_id, filter: { thread_ids: [second] } }))).toEqual([second]);
  });

  it(`of ${many} turns, more than a page, are computed exactly`, async () => {
    const project_id = newProject();
    await sendAll(turns(many, 1, project_id, longTail).flat());
    const spent = requestBudget(60_000);
    const found = (await Array.fromAsync(answer({ project_id }, store, spent).json())).flat();
    expect(found.map((text) => JSON.parse(text))).toEqual([
      {
        thread_id: 'thread-0000',
        turn_count: many,
        start_time: '2026-10-01T00:00:00.000000Z',
        last_updated: lastUpdated,
        first_turn_id: `turn-0${longTail}`,
        last_turn_id: `turn-${many - 1}${longTail}`,
        p50_turn_duration_ms: (many + 1) / 2,
        p99_turn_duration_ms: p99,
      },
    ]);
    // More than one for each shard: there are several pages.
    expect(spent.meter.requests).toBeGreaterThan(Math.max(...store.shards));
  });
});

describe('CSV', () => {
  it('has a header, unchanged fields, and nothing for null', async () => {
    const project_id = newProject();
    const csv = (body: JsonObject) => Array.fromAsync(answer({ project_id, ...body }).csv());
    const header =
      'thread_id,turn_count,start_time,last_updated,first_turn_id,last_turn_id,p50_turn_duration_ms,p99_turn_duration_ms';
    expect(await csv({})).toEqual([[header]]);
    await send(store, [makeStart({ project_id, id: 'a,"b"', turn_id: 'a,"b"', thread_id: 't' })]);
    const time = '2026-10-01T00:00:00.000000Z';
    expect(await csv({})).toEqual([[header, `t,1,${time},${time},"a,""b""","a,""b""",,`]]);
  });
});

describe('what a query over threads reads', () => {
  const project_id = 'acme/reading' as ProjectId;
  const nested = (turn: number) =>
    Array.from({ length: 5 }, (_, i) => {
      const id = `nested-${turn}-${i}`;
      const thread_id = `thread-${String(turn % 100).padStart(4, '0')}`;
      return [
        makeStart({ project_id, id, turn_id: `turn-${turn}`, thread_id, parent_id: `turn-${turn}` }),
        makeEnd({ project_id, id }),
      ];
    });
  beforeAll(async () => {
    const items = turns(1000, 100, project_id);
    await sendAll(items.flat());
    await sendAll([0, 1, 2, 200].flatMap(nested).flat());
  });

  const taken = async (body: JsonObject) => {
    const spent = requestBudget(60_000);
    const { counts, json } = answer({ project_id, ...body }, store, spent);
    await Array.fromAsync(json());
    return { ...counts, ...spent.meter };
  };

  it('is one row per turn that was reported completely', async () => {
    const all = await taken({});
    expect(all).toMatchObject({ rows: 1000, turns: 1000, threads: 100, sent: 100 });
    expect(all.turns / all.readUnits).toBeGreaterThan(15);
  });

  it('is only the threads that it names', async () => {
    const thread_ids = ['thread-0000', 'thread-0099', 'unknown'];
    const some = await taken({ filter: { thread_ids } });
    expect(some).toMatchObject({ rows: 20, turns: 20, threads: 2, sent: 2, requests: 3 });
    expect(some.readUnits).toBeLessThanOrEqual(3);
    expect(await taken({ filter: { thread_ids: [] } })).toMatchObject({ requests: 0, sent: 0 });
    expect(await taken({ limit: 0 })).toMatchObject({ requests: 0, sent: 0 });
    const many = Array.from({ length: 100 }, (_, i) => `thread-${String(i).padStart(4, '0')}`);
    expect(await taken({ filter: { thread_ids: many } })).toMatchObject({ rows: 1000, sent: 100 });
  });

  it('is half a unit more for a turn whose end came first', async () => {
    const early = 'acme/early' as ProjectId;
    const items = turns(200, 10, early);
    await sendAll(items.map(([, end]) => end));
    await sendAll(items.map(([start]) => start));
    const { rows, readUnits } = await taken({ project_id: early });
    expect(rows).toBe(200);
    expect(readUnits).toBeGreaterThanOrEqual(100);
    expect(readUnits).toBeLessThan(100 + 200 / 15);
  });

  it('is only as much as is used, in order of thread_id', async () => {
    const sort_by = [{ field: 'thread_id', direction: 'desc' }];
    const part = await taken({ sort_by, limit: 3 });
    expect(part).toMatchObject({ sent: 3 });
    expect(part.rows).toBeLessThan(500);

    const { counts, json } = answer({ project_id, sort_by });
    for await (const batch of json()) if (batch.length > 0) break;
    expect(counts.sent).toBeGreaterThan(0);
    expect(counts.rows).toBeLessThan(1000);
  });
});
