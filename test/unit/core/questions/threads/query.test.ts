import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortFields, type ThreadRow, type ThreadSortKey } from '../../../../../api/threads.ts';
import { orderLongIds, sortThreads } from '../../../../../core/questions/threads/query.ts';
import { compareText } from '../../../../../foundations/expression/index.ts';
import { formatTime } from '../../../../../foundations/wire/index.ts';
import { batchesFrom } from '../../../foundations/listing/support.ts';

const thread = (id: string, changes: Partial<ThreadRow> = {}): ThreadRow => ({
  thread_id: id,
  turn_count: 1,
  start_time: formatTime(0),
  last_updated: formatTime(0),
  first_turn_id: 'first',
  last_turn_id: 'last',
  p50_turn_duration_ms: null,
  p99_turn_duration_ms: null,
  ...changes,
});

const all = { offset: 0, limit: null };
const getIds = (threads: readonly ThreadRow[]) => threads.map(({ thread_id }) => thread_id);
const sortedIds = async (sort: readonly ThreadSortKey[], threads: readonly ThreadRow[]) =>
  getIds(await sortThreads(sort, all, batchesFrom(threads, [3])));

describe('sortThreads', () => {
  const time = fc.nat(2).map(formatTime);
  const numbered = fc.record({
    turn_count: fc.nat(2),
    start_time: time,
    last_updated: time,
    p50_turn_duration_ms: fc.option(fc.nat(2)),
    p99_turn_duration_ms: fc.option(fc.nat(2)),
  });

  it('sorts by each key in turn, with nulls last and ties by id', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(numbered, { maxLength: 30 }),
        fc.array(fc.record({ field: fc.constantFrom(...sortFields), descending: fc.boolean() }), {
          maxLength: 3,
        }),
        fc.nat(10),
        fc.option(fc.nat(10)),
        async (list, sort, offset, limit) => {
          const threads = list.map((fields, i) => thread(`t${i}`, fields));
          const found = await sortThreads(sort, { offset, limit }, batchesFrom(threads, [3]));
          const wanted = threads.toSorted((a, b) => {
            for (const { field, descending } of sort) {
              const x = a[field];
              const y = b[field];
              if (x === y) continue;
              if (x === null || y === null) return x === null ? 1 : -1;
              return (x < y ? -1 : 1) * (descending ? -1 : 1);
            }
            return a.thread_id < b.thread_id ? -1 : 1;
          });
          expect(found).toEqual(wanted.slice(offset, limit === null ? undefined : offset + limit));
        },
      ),
    );
  });

  it('puts threads without a finished turn last in both directions', async () => {
    const threads = [
      thread('running'),
      thread('slow', { p50_turn_duration_ms: 9 }),
      thread('fast', { p50_turn_duration_ms: 0 }),
    ];
    const by = (descending: boolean) => [{ field: 'p50_turn_duration_ms', descending }] as const;
    expect(await sortedIds(by(false), threads)).toEqual(['fast', 'slow', 'running']);
    expect(await sortedIds(by(true), threads)).toEqual(['slow', 'fast', 'running']);
  });

  it('puts ties in order of code points, whatever the direction', async () => {
    const threads = ['😀', '\uffff', 'b', 'a'].map((id) => thread(id));
    for (const descending of [true, false])
      expect(await sortedIds([{ field: 'turn_count', descending }], threads)).toEqual([
        'a',
        'b',
        '\uffff',
        '😀',
      ]);
  });

  it('refuses to hold more than the memory, unless a limit bounds the number', async () => {
    const long = 'x'.repeat(100_000);
    const threads = async function* (count: number) {
      for (let i = 0; i < count; i++) yield [thread(long, { turn_count: i })];
    };
    const sort = [{ field: 'turn_count', descending: true }] as const;
    await expect(sortThreads(sort, all, threads(Number.POSITIVE_INFINITY))).rejects.toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'sort_by'], type: 'too_long' }],
    });
    expect(await sortThreads(sort, { offset: 1, limit: 2 }, threads(5000))).toMatchObject([
      { turn_count: 4998 },
      { turn_count: 4997 },
    ]);
  });
});

describe('orderLongIds', () => {
  it('sorts ids that an index knows by a digest among others that are in order', async () => {
    const head = '日'.repeat(90);
    const long = ['a', 'b', 'c'].map((tail) => head + tail.repeat(60));
    const ids = ['a', 'b', ...long, `${head}z`, '日本'.repeat(60), '😀'].sort(compareText);
    // As the index might have them.
    const scrambled = [...ids.slice(0, 2), long[1], long[2], `${head}z`, long[0], ...ids.slice(6)];
    for (const descending of [false, true]) {
      const coming = (descending ? scrambled.toReversed() : scrambled).map((id) => thread(id ?? ''));
      const found = await Array.fromAsync(orderLongIds(descending, batchesFrom(coming, [2])));
      expect(getIds(found.flat())).toEqual(descending ? ids.toReversed() : ids);
    }
  });
});
