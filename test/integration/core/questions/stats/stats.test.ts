import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import type { Price } from '../../../../../core/records/costs/index.ts';
import { noteRetention } from '../../../../../core/records/projects.ts';
import { rollupRange } from '../../../../../core/records/rollups.ts';
import {
  decodeMessagePack,
  encodeMessagePack,
  pack,
  unpack,
} from '../../../../../foundations/encoding/index.ts';
import { putItems, readRange, requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { runs, seed } from '../../../../support/run/sampling.ts';
import { makeEnd, makeStart, query, send } from '../../../../support/values/calls.ts';
import { exactPercentile, naiveStats, toPeriod } from '../../../../support/values/naive-stats.ts';
import { askStats, createStatsStore } from '../../../../support/values/stats.ts';

let store: Store;
beforeAll(async () => {
  store = await createStatsStore();
});
afterEach(() => vi.useRealTimers());

let projects = 0;
const newProject = () => `acme/stats-${projects++}` as ProjectId;

/** Two days around the end of daylight saving in Berlin, 2026-10-25T01:00:00Z. */
const begin = Date.UTC(2026, 9, 24, 20);
const spanHours = 36;
const at = (minutes: number): string => new Date(begin + minutes * 60_000).toISOString();
const span = { start: at(0), end: at(spanHours * 60) };

const minutes = fc.nat({ max: spanHours * 60 - 1 });
const id = fc.nat({ max: 11 }).map(String);
/** What happens to calls: reported whole or in part, again with another time, or deleted. */
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('whole' as const), id, minutes, ms: fc.nat({ max: 90_000 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('start' as const), id, minutes, ms: fc.nat({ max: 9 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('end' as const), id, minutes, ms: fc.nat({ max: 9000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), id, minutes, ms: fc.nat({ max: 9 }) }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/** Attributes as headers hold them, and as they do not. */
const attributes = [
  { user: { id: 'ada' }, environment: 'production' },
  { 'user.id': 'ada', environment: 'eu' },
  { user: { id: 'u'.repeat(200) }, environment: { name: 'eu' } },
  { user: 'ada', environment: null },
  { user: { id: 7 }, environment: '7' },
  {},
];

const act = async (project_id: ProjectId, { kind, id, minutes: minute, ms }: Action): Promise<void> => {
  const started_at = at(minute);
  const model = ms % 3 === 0 ? 'm' : 'n';
  const start = makeStart({
    project_id,
    id,
    trace_id: 't',
    op_name: `op${ms % 2}`,
    started_at,
    attributes: attributes[ms % 6],
  });
  const end = makeEnd({
    project_id,
    id,
    ended_at: new Date(begin + minute * 60_000 + ms).toISOString(),
    ...(ms % 5 === 0 && { exception: 'failed' }),
    summary: { usage: { [model]: { prompt_tokens: ms % 100, completion_tokens: 1 } } },
  });
  if (kind === 'whole') await send(store, [start, end]);
  if (kind === 'start') await send(store, [start]);
  if (kind === 'end') await send(store, [end]);
  if (kind === 'delete') await deleteCalls(store, project_id, [id], requestBudget(30_000));
};

const price = (projectId: ProjectId, effectiveDate: number, cost: number): Price => ({
  model: 'm',
  promptTokenCost: cost,
  completionTokenCost: 2 * cost,
  effectiveDate: effectiveDate * 1000,
  promptTokenCostUnit: 'USD',
  completionTokenCostUnit: 'USD',
  providerId: 'p',
  id: `${projectId} ${effectiveDate}`,
  createdAt: 0,
  createdBy: 'ada',
});

const questions = [
  { granularity: 3600, timezone: 'UTC', groupBy: 'op_name' },
  { granularity: 86_400, timezone: 'Europe/Berlin', groupBy: undefined },
  { granularity: 86_400, timezone: 'UTC', groupBy: 'status' },
  { granularity: 3600, timezone: 'UTC', groupBy: 'attributes.user.id' },
  { granularity: 86_400, timezone: 'UTC', groupBy: 'attributes.environment' },
] as const;

/** Compares an answer with what a naive reader makes of all calls. */
const check = async (project_id: ProjectId, prices: readonly Price[]): Promise<void> => {
  const calls = await query(store, { projectId: project_id });
  for (const { granularity, timezone, groupBy } of questions) {
    const answer = await askStats(
      store,
      {
        project_id,
        ...span,
        granularity,
        timezone,
        ...(groupBy && { group_by: [groupBy] }),
        call_metrics: [
          { metric: 'call_count' },
          { metric: 'error_count', aggregations: ['sum', 'avg'] },
          { metric: 'latency_ms', aggregations: ['sum', 'min', 'max', 'count'], percentiles: [0, 50, 95] },
        ],
        usage_metrics: [
          { metric: 'input_tokens', aggregations: ['sum', 'max', 'count'] },
          { metric: 'total_cost' },
        ],
      },
      { prices },
    );
    const naive = naiveStats(calls, { granularity, timezone, groupBy }, project_id, prices);
    const toKey = (row: Readonly<Record<string, unknown>>) =>
      `${toPeriod(String(row.timestamp), granularity, timezone)} ${groupBy ? JSON.stringify(row[groupBy]) : ''}`;
    expect(answer.call_buckets.map(toKey).sort()).toEqual([...naive.keys()].sort());
    for (const row of answer.call_buckets) {
      const expected = naive.get(toKey(row));
      const latencies = expected?.latencies ?? [];
      expect(row).toMatchObject({
        sum_call_count: expected?.calls,
        sum_error_count: expected?.errors,
        count_latency_ms: latencies.length,
        sum_latency_ms: latencies.reduce((a, b) => a + b, 0),
        min_latency_ms: latencies.length > 0 ? Math.min(...latencies) : null,
      });
      for (const percentile of [0, 50, 95]) {
        const value = row[`p${percentile}_latency_ms`];
        if (latencies.length === 0) expect(value).toBeNull();
        else {
          const exact = exactPercentile(latencies, percentile);
          expect(Math.abs(Number(value) - exact)).toBeLessThanOrEqual(0.01 * Math.abs(exact) + 1e-9);
        }
      }
    }
    for (const row of answer.usage_buckets) {
      const expected = naive.get(toKey(row));
      const tokens = expected?.tokens.get(String(row.model)) ?? [];
      expect(row).toMatchObject({ count_input_tokens: tokens.length, max_input_tokens: Math.max(...tokens) });
      expect(row.sum_input_tokens).toBe(tokens.reduce((a, b) => a + b, 0));
      expect(row.sum_total_cost).toBeCloseTo(expected?.costs.get(String(row.model)) ?? 0, 6);
    }
    const models = [...naive.values()].reduce((sum, { tokens }) => sum + tokens.size, 0);
    expect(answer.usage_buckets).toHaveLength(models);
  }
};

describe('statistics', () => {
  it('say what a naive reader of all calls says, whatever has happened to them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 10 }), async (actions) => {
        const project = newProject();
        const prices = [price(project, 0, 1), price(project, begin + 10.5 * 3_600_000, 3)];
        for (const [i, action] of actions.entries()) {
          await act(project, action);
          // Rollups are stored on the way, so that later writes make them stale.
          if (i % 3 === 0) await check(project, prices);
        }
        await check(project, prices);
      }),
      { numRuns: runs(6, 48), seed },
    );
  });
});

describe('errors and latencies of models', () => {
  it('are those of the calls that used them, and of failed ones that were to', async () => {
    const project_id = newProject();
    const call = (callId: string, ms: number, end: object, inputs = {}) => [
      makeStart({ project_id, id: callId, trace_id: 't', started_at: at(0), inputs }),
      makeEnd({ project_id, id: callId, ended_at: new Date(begin + ms).toISOString(), ...end }),
    ];
    const usage = { m: { total_tokens: 7 }, n: {} };
    await send(store, [
      ...call('both', 100, { summary: { usage } }),
      ...call('used', 300, { summary: { usage: { m: usage.m } }, exception: 'late' }),
      ...call('refused', 500, { exception: 'overloaded' }, { model: 'm' }),
      ...call('tool', 900, { exception: 'of no model' }, { model: 3 }),
    ]);
    const { usage_buckets } = await askStats(store, {
      project_id,
      ...span,
      granularity: 86_400,
      usage_metrics: [
        { metric: 'error_count', aggregations: ['sum', 'count'] },
        { metric: 'latency_ms', aggregations: ['max'], percentiles: [0] },
        { metric: 'total_tokens' },
      ],
    });
    const timestamp = expect.any(String);
    expect(usage_buckets).toEqual([
      {
        timestamp,
        model: 'm',
        sum_error_count: 2,
        count_error_count: 3,
        sum_total_tokens: 14,
        max_latency_ms: 500,
        p0_latency_ms: 100,
      },
      {
        timestamp,
        model: 'n',
        sum_error_count: 0,
        count_error_count: 1,
        sum_total_tokens: 0,
        max_latency_ms: 100,
        p0_latency_ms: 100,
      },
    ]);
  });
});

describe('where money goes', () => {
  it('is told by kind of token, from calls and from rollups alike', async () => {
    const project_id = newProject();
    const prices = [
      {
        ...price(project_id, 0, 0.01),
        completionTokenCost: 0.05,
        cacheReadTokenCost: 0.001,
        cacheWriteTokenCost: 0.02,
      },
    ];
    const used = {
      prompt_tokens: 1000,
      prompt_tokens_details: { cached_tokens: 600 },
      cache_creation_input_tokens: 100,
      completion_tokens: 50,
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    const calls = Array.from({ length: 4 }, (_, i) => ({ project_id, id: `m${i}`, trace_id: 't', i }));
    await send(
      store,
      calls.flatMap(({ i, ...call }) => [
        makeStart({ ...call, started_at: at(i * 61) }),
        makeEnd({ project_id, id: call.id, ended_at: at(i * 61 + 1), summary: { usage: { m: used } } }),
      ]),
    );
    const metrics = [
      ['input_tokens', 4000],
      ['cache_read_input_tokens', 2400],
      ['cache_creation_input_tokens', 400],
      ['output_tokens', 200],
      ['reasoning_tokens', 80],
      ['input_cost', 4 * (3 + 0.6 + 2)],
      ['cache_read_input_cost', 2.4],
      ['cache_creation_input_cost', 8],
      ['output_cost', 10],
      ['reasoning_cost', 4],
      ['total_cost', 4 * 5.6 + 10],
    ] as const;
    const ask = async () => {
      const usage_metrics = metrics.map(([metric]) => ({ metric }));
      const asked = { project_id, ...span, granularity: 7 * 86_400, usage_metrics };
      const { usage_buckets, scanned } = await askStats(store, asked, { prices });
      const sums = metrics.map(([metric]) =>
        usage_buckets.reduce((sum, row) => sum + Number(row[`sum_${metric}`]), 0),
      );
      return { scanned, sums };
    };
    const first = await ask();
    const second = await ask();
    expect([first.scanned, second.scanned < 3]).toEqual([4, true]);
    for (const { sums } of [first, second])
      for (const [i, [metric, expected]] of metrics.entries())
        expect(sums[i], metric).toBeCloseTo(expected, 9);
  });
});

const month = { start: '2026-10-24T20:00:00Z', end: '2026-10-26T08:00:00Z', granularity: 3600 };
const counting = { call_metrics: [{ metric: 'call_count' }] };
const sumCalls = ({ call_buckets }: { call_buckets: readonly Readonly<Record<string, unknown>>[] }) =>
  call_buckets.reduce((sum, row) => sum + Number(row.sum_call_count), 0);

/** Makes stored rollups what a release wrote that did not tell sources apart. */
const forgetSources = async (projectId: ProjectId): Promise<void> => {
  const { bookkeeping } = store;
  if (!bookkeeping) throw new Error('the store has no rollups');
  for (const kind of ['pages', 'days'] as const) {
    const range = rollupRange(kind, projectId, -(2 ** 30), 2 ** 30);
    const pages = await Array.fromAsync(
      readRange(bookkeeping, range, { toRow: (item) => item }, requestBudget(30_000)),
    );
    const items = await Promise.all(
      pages.flat().map(async (item) => {
        const [version, names, rollups] = decodeMessagePack(unpack(item.h as Uint8Array)) as [
          number,
          string[],
          [number, number, unknown[][]][],
        ];
        const old = rollups.map(([number, mark, groups]) => [
          number,
          mark,
          groups.map((group) => group.slice(0, 7)),
        ]);
        return { ...item, h: await pack(encodeMessagePack([version, names, old])) };
      }),
    );
    await putItems(bookkeeping, items, requestBudget(30_000));
  }
};

describe('rollups', () => {
  const whole = (project_id: ProjectId, ids: readonly string[]) =>
    ids.flatMap((callId, i) => [
      makeStart({ project_id, id: callId, trace_id: callId, op_name: `op${i % 2}`, started_at: at(i * 61) }),
      makeEnd({ project_id, id: callId, ended_at: at(i * 61 + 1) }),
    ]);
  const ids = Array.from({ length: 20 }, (_, i) => `c${i}`);

  it('are stored by the first request and read by the next, also with filters that they know', async () => {
    const project_id = newProject();
    await send(store, whole(project_id, ids));
    const first = await askStats(store, { project_id, ...month, ...counting });
    expect([first.scanned, sumCalls(first)]).toEqual([20, 20]);
    const second = await askStats(store, { project_id, ...month, ...counting });
    expect([second.scanned, sumCalls(second), second.rollups > 15]).toEqual([0, 20, true]);
    const filter = { op_names: ['op1'] };
    const filtered = await askStats(store, { project_id, ...month, ...counting, filter });
    expect([filtered.scanned, sumCalls(filtered)]).toEqual([0, 10]);
    const success = { $expr: { $eq: [{ $getField: 'summary.svc.status' }, { $literal: 'success' }] } };
    const queried = await askStats(store, { project_id, ...month, ...counting, query: success });
    expect([queried.scanned, sumCalls(queried)]).toEqual([0, 20]);
  });

  it('know who made the calls', async () => {
    const project_id = newProject();
    const sources = ['test', undefined, 'web', 'judge'];
    const started = ids.map((callId, i) =>
      makeStart({
        project_id,
        id: callId,
        trace_id: callId,
        started_at: at(i * 61),
        ...(sources[i % 4] && { attributes: { source: sources[i % 4] } }),
      }),
    );
    await send(store, started);
    const bySource = { project_id, ...month, ...counting, granularity: 7 * 86_400, group_by: ['source'] };
    const counts = async (asked: object = {}) => {
      const answer = await askStats(store, { ...bySource, ...asked });
      const sums = new Map<unknown, number>();
      for (const { source, sum_call_count: count } of answer.call_buckets)
        sums.set(source, (sums.get(source) ?? 0) + Number(count));
      return [answer.scanned, Object.fromEntries(sums)];
    };
    const all = { judge: 5, production: 10, test: 5 };
    expect(await counts()).toEqual([20, all]);
    // The hours at both ends are not whole.
    const [scanned] = await counts();
    expect(scanned).toBeLessThan(3);
    expect(await counts()).toEqual([scanned, all]);
    expect(await counts({ filter: { sources: ['production', 'trial'] } })).toEqual([
      scanned,
      { production: 10 },
    ]);
    await forgetSources(project_id);
    expect(await counts()).toEqual([20, all]);
  });

  it.each([
    ['a filter by trace', { filter: { trace_ids: ['c1'] } }, 1],
    ['groups by thread', { group_by: ['thread_id'] }, 20],
    [
      'a query on a payload',
      { query: { $expr: { $eq: [{ $getField: 'inputs.x' }, { $literal: null }] } } },
      20,
    ],
    ['buckets of minutes', { granularity: 900 }, 20],
    ['errors by model', { usage_metrics: [{ metric: 'error_count' }] }, 20],
    ['percentiles of tokens', { usage_metrics: [{ metric: 'input_tokens', percentiles: [50] }] }, 20],
  ])('are not used for %s', async (_, asked, expected) => {
    const project_id = newProject();
    await send(store, whole(project_id, ids));
    const answer = await askStats(store, { project_id, ...month, ...counting, ...asked });
    expect([answer.source, sumCalls(answer)]).toEqual(['scan', expected]);
  });

  it('are made of one hour again after a write to that hour', async () => {
    const project_id = newProject();
    await send(store, whole(project_id, ids));
    await askStats(store, { project_id, ...month, ...counting });
    await send(store, [makeStart({ project_id, id: 'late', trace_id: 'c1', started_at: at(62) })]);
    const answer = await askStats(store, { project_id, ...month, ...counting });
    expect([answer.scanned, sumCalls(answer)]).toEqual([2, 21]);
    expect((await askStats(store, { project_id, ...month, ...counting })).scanned).toBe(0);
  });

  it('are of whole days where buckets are', async () => {
    const project_id = newProject();
    await send(store, whole(project_id, ids));
    const days = { start: '2026-10-24T00:00:00Z', end: '2026-10-27T00:00:00Z', granularity: 86_400 };
    await askStats(store, { project_id, ...days, ...counting });
    await askStats(store, { project_id, ...days, ...counting });
    const answer = await askStats(store, { project_id, ...days, ...counting });
    expect([answer.scanned, sumCalls(answer)]).toEqual([0, 20]);
  });

  it('of calls that expire are not used once these may have expired', async () => {
    const brief = { ...store, retentionDays: 40 };
    const project_id = newProject();
    const onDay = (days: number) =>
      vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 9, 26) + days * 86_400_000 });
    onDay(1);
    await send(brief, whole(project_id, ids));
    const scanned = async (days: number) => {
      onDay(days);
      return (await askStats(brief, { project_id, ...month, ...counting })).scanned;
    };
    expect([await scanned(30), await scanned(30), await scanned(40)]).toEqual([20, 0, 20]);
  });

  it('are not used once calls may have expired by the retention of the project, or by a shorter one before', async () => {
    const project_id = newProject();
    const { bookkeeping: table } = store;
    if (!table) throw new Error('the store keeps no rollups');
    const onDay = (days: number) =>
      vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 9, 26) + days * 86_400_000 });
    const retain = (callsDays: number, version: number) =>
      noteRetention(table, project_id, { callsDays }, version, requestBudget(10_000));
    onDay(1);
    await send(store, whole(project_id, ids));
    await retain(40, 1);
    const scanned = async (days: number) => {
      onDay(days);
      return (await askStats(store, { project_id, ...month, ...counting })).scanned;
    };
    expect([await scanned(30), await scanned(30), await scanned(40)]).toEqual([20, 0, 20]);
    await retain(400, 2);
    expect([await scanned(42), await scanned(42)]).toEqual([20, 20]);
  });

  it('are neither made nor read of hours that can still change without a mark', async () => {
    const project_id = newProject();
    await send(store, whole(project_id, ids));
    const soon = () => begin + 2 * 3_600_000;
    await askStats(store, { project_id, ...month, ...counting }, { now: soon });
    expect((await askStats(store, { project_id, ...month, ...counting }, { now: soon })).scanned).toBe(20);
  });
});
