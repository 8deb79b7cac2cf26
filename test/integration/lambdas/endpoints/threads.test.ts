import { beforeAll, describe, expect, it } from 'vitest';
import { type SharedService, sharedService } from '../../../support/service/service.ts';
import { makeEnd, makeStart } from '../../../support/values/calls.ts';

const project_id = 'acme/threads';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
  const turn = (id: string, thread_id: string, second: number, ms?: number) => [
    makeStart({ project_id, id, turn_id: id, thread_id, started_at: `2026-10-01T00:00:0${second}Z` }),
    makeStart({ project_id, id: `${id}-nested`, turn_id: id, parent_id: id, thread_id }),
    ...(ms === undefined
      ? []
      : [
          makeEnd({
            project_id,
            id,
            ended_at: `2026-10-01T00:00:0${second}.${String(ms).padStart(3, '0')}Z`,
          }),
        ]),
  ];
  const batch = [...turn('a1', 'a', 1, 100), ...turn('b1', 'b', 2, 7), ...turn('a2', 'a', 3, 200)];
  const report = async (items: readonly object[]) => {
    const answer = await service.post('/call/upsert_batch', { batch: items });
    expect(answer.status).toBe(200);
  };
  await report(batch);
  await report(turn('c1', 'c', 9));
});

const query = (body: object = {}, headers: Record<string, string> = {}) =>
  service.post('/threads/stream_query', { project_id, ...body }, { headers });

const a = {
  thread_id: 'a',
  turn_count: 2,
  start_time: '2026-10-01T00:00:01.000000Z',
  last_updated: '2026-10-01T00:00:03.200000Z',
  first_turn_id: 'a1',
  last_turn_id: 'a2',
  p50_turn_duration_ms: 150,
  p99_turn_duration_ms: 199,
};
const b = {
  thread_id: 'b',
  turn_count: 1,
  start_time: '2026-10-01T00:00:02.000000Z',
  last_updated: '2026-10-01T00:00:02.007000Z',
  first_turn_id: 'b1',
  last_turn_id: 'b1',
  p50_turn_duration_ms: 7,
  p99_turn_duration_ms: 7,
};
const c = {
  thread_id: 'c',
  turn_count: 1,
  start_time: '2026-10-01T00:00:09.000000Z',
  last_updated: '2026-10-01T00:00:09.000000Z',
  first_turn_id: 'c1',
  last_turn_id: 'c1',
  p50_turn_duration_ms: null,
  p99_turn_duration_ms: null,
};
const toLines = (...threads: object[]) => threads.map((thread) => `${JSON.stringify(thread)}\n`).join('');

describe('POST /threads/stream_query', () => {
  it('answers threads as JSON Lines, the last updated first', async () => {
    const answer = await query();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/jsonl');
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await answer.text()).toBe(toLines(c, a, b));
  });

  it.each<[string, object, object[]]>([
    ['a sort', { sort_by: [{ field: 'p50_turn_duration_ms', direction: 'asc' }] }, [b, a, c]],
    ['a limit and an offset', { limit: 1, offset: 1 }, [a]],
    ['thread_ids', { filter: { thread_ids: ['b', 'a', 'x'] } }, [a, b]],
    ['after_datetime', { filter: { after_datetime: a.start_time } }, [c, b]],
    ['before_datetime', { filter: { before_datetime: c.last_updated } }, [a, b]],
  ])('takes %s', async (_name, body, threads) => {
    expect(await (await query(body)).text()).toBe(toLines(...threads));
  });

  it('writes the accepted type, compressed if accepted', async () => {
    const array = await query({ limit: 2 }, { accept: 'application/json' });
    expect(array.headers.get('content-type')).toBe('application/json');
    expect(await array.json()).toEqual([c, a]);

    const csv = await query({ limit: 1, offset: 2 }, { accept: 'text/csv' });
    const columns = Object.keys(b).join(',');
    expect(await csv.text()).toBe(`${columns}\r\n${Object.values(b).join(',')}\r\n`);

    const refused = await query({}, { accept: 'text/html' });
    expect(refused.status).toBe(406);

    const packed = await query({}, { 'accept-encoding': 'gzip' });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(await packed.text()).toBe(toLines(c, a, b));
  });

  it('logs its plan and what it read', async () => {
    await (await query({ filter: { thread_ids: ['a', 'b'] } })).text();
    await expect
      .poll(() => service.logged.filter((line) => line.includes('"source":"2 threads"')))
      .toHaveLength(1);
    const line = service.logged.find((text) => text.includes('"source":"2 threads"')) ?? '';
    expect(JSON.parse(line.slice(line.indexOf('{')))).toMatchObject({
      route: '/threads/stream_query',
      plan: { source: '2 threads', order: 'sort' },
      rows: 2,
      scanned: 3,
      readUnits: expect.any(Number),
    });
  });
});
