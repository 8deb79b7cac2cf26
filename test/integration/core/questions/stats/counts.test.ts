import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { getBodySchema } from '../../../../../api/endpoint.ts';
import { callsQueryStats } from '../../../../../api/queries.ts';
import { sources } from '../../../../../api/shared/header-fields.ts';
import { countCalls } from '../../../../../core/questions/query/index.ts';
import { countSelection } from '../../../../../core/questions/stats/index.ts';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';
import { runs, seed } from '../../../../support/run/sampling.ts';
import { makeEnd, makeStart, send } from '../../../../support/values/calls.ts';
import { askStats, createStatsStore } from '../../../../support/values/stats.ts';

let store: Store;
beforeAll(async () => {
  store = await createStatsStore({ shards: [2] });
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

let projects = 0;
const newProject = () => `acme/counts-${projects++}` as ProjectId;

const waitForMarks = () => vi.setSystemTime(Date.now() + 900_000);

const hourMs = 3_600_000;
const begin = Date.UTC(2026, 9, 24);
const at = (ms: number): string => new Date(begin + ms).toISOString();

interface Shape {
  readonly ms: number;
  readonly op: string;
  readonly ends: 'well' | 'badly' | 'not';
  readonly source: string | null;
}

const report = (project_id: string, shapes: readonly Shape[], name = 'call') =>
  send(
    store,
    shapes.flatMap(({ ms, op, ends, source }, i) => {
      const call = { project_id, id: `${name}-${i}` };
      const exception = ends === 'badly' ? 'Error: no' : null;
      return [
        makeStart({ ...call, op_name: op, started_at: at(ms), ...(source && { attributes: { source } }) }),
        ...(ends === 'not' ? [] : [makeEnd({ ...call, ended_at: at(ms + 1000), exception })]),
      ];
    }),
  );

const field = (path: string) => ({ $getField: path });
const equal = (path: string, value: string) => ({ $eq: [field(path), { $literal: value }] });
const during = (from: number, to?: number) => [
  { $gte: [field('started_at'), { $literal: at(from) }] },
  ...(to === undefined ? [] : [{ $lt: [field('started_at'), { $literal: at(to) }] }]),
];

const schema = getBodySchema(callsQueryStats);

/** Counts both ways, compares, and tells what it took by rollups. */
const count = async (project_id: string, $and: readonly object[], filter: object = {}) => {
  const body = parseBody(schema, JSON.stringify({ project_id, filter, query: { $expr: { $and } } }));
  const { query, stats, rollups } = countSelection(store, body, requestBudget(60_000));
  const counted = await stats();
  const expected = await countCalls(store, body, requestBudget(60_000)).stats();
  expect(counted, JSON.stringify([$and, filter])).toEqual(expected);
  return { ...counted, scanned: query.counts.scanned, rollups: rollups() };
};

const makeRollups = (project_id: string) =>
  askStats(
    store,
    {
      project_id,
      start: at(0),
      end: at(72 * hourMs),
      granularity: 3600,
      call_metrics: [{ metric: 'call_count' }],
    },
    { now: Date.now },
  );

describe('counts', () => {
  it('are those of rollups where these tell which calls are meant', async () => {
    const project = newProject();
    const shapes = Array.from(
      { length: 144 },
      (_, i): Shape => ({
        ms: (i * hourMs) / 3,
        op: i % 3 ? 'answer' : 'search',
        ends: i % 7 ? 'well' : 'badly',
        source: null,
      }),
    );
    await report(project, shapes);
    waitForMarks();
    const searches = [...during(0, 48 * hourMs), equal('op_name', 'search')];
    expect(await count(project, searches)).toEqual({ count: 48, bytes: 0, scanned: 144, rollups: 0 });
    await makeRollups(project);
    expect(await count(project, searches)).toEqual({ count: 48, bytes: 0, scanned: 0, rollups: 48 });
    expect(await count(project, during(0))).toMatchObject({ count: 144, scanned: 0 });
    const cut = await count(project, [...during(hourMs / 2, 20.5 * hourMs), equal('op_name', 'search')]);
    expect(cut).toMatchObject({ rollups: 19, scanned: 3 });
    const failed = { $not: [equal('summary.svc.status', 'success')] };
    expect(await count(project, [...during(0), failed])).toMatchObject({ count: 21, scanned: 0 });
    const slow = { $gt: [field('summary.svc.latency_ms'), { $literal: 500 }] };
    expect(await count(project, [...during(0), slow])).toMatchObject({
      count: 144,
      scanned: 144,
      rollups: 0,
    });
    expect(await count(project, during(0), { trace_roots_only: true })).toMatchObject({ rollups: 0 });
  });

  it('are the same as without rollups, whatever happened to calls', async () => {
    const shape = fc.record({
      ms: fc.nat({ max: 70 * 60 }).map((minutes) => minutes * 60_000),
      op: fc.constantFrom('a', 'ab', 'svc:///acme/x/op/a:v1', 'ß'),
      ends: fc.constantFrom('well', 'badly', 'not'),
      source: fc.option(fc.constantFrom(...sources, 'other')),
    }) as fc.Arbitrary<Shape>;
    const condition = fc.constantFrom(
      equal('op_name', 'a'),
      { $contains: { input: field('op_name'), substr: { $literal: 'A' }, case_insensitive: true } },
      equal('summary.svc.status', 'running'),
      { $in: [field('summary.svc.status'), [{ $literal: 'error' }, { $literal: 'running' }]] },
      { $not: [{ $eq: [field('exception'), { $literal: null }] }] },
      { $or: [equal('svc_user_id', 'ada'), equal('op_name', 'ß')] },
      equal('attributes.source', 'other'),
      { $gt: [field('summary.svc.latency_ms'), { $literal: 10 }] },
    );
    const question = fc.record({
      from: fc.nat({ max: 40 }),
      length: fc.option(fc.integer({ min: 5, max: 60 })),
      minutes: fc.constantFrom(0, 0, 7),
      conditions: fc.array(condition, { maxLength: 2 }),
      filter: fc.constantFrom(
        {},
        { sources: ['production'] },
        { sources: ['judge', 'test'] },
        { op_names: ['svc:///acme/x/op/a:*'] },
        { svc_user_ids: ['ada'] },
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(shape, { minLength: 1, maxLength: 60 }),
        fc.array(shape, { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        fc.array(question, { minLength: 3, maxLength: 8 }),
        async (shapes, late, gone, questions) => {
          const project = newProject();
          const askAll = async () => {
            for (const { from, length, minutes, conditions, filter } of questions) {
              const start = from * hourMs + minutes * 60_000;
              const range = during(start, length === null ? undefined : start + length * hourMs);
              await count(project, [...range, ...conditions], filter);
            }
          };
          await report(project, shapes);
          waitForMarks();
          await makeRollups(project);
          await askAll();
          if (late.length > 0) await report(project, late, 'late');
          const ids = [...new Set(gone.map((which) => `call-${which % shapes.length}`))];
          if (ids.length > 0) await deleteCalls(store, project, ids, requestBudget(30_000));
          await askAll();
        },
      ),
      { numRuns: runs(12), seed },
    );
  });
});
