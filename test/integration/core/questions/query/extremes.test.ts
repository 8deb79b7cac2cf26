import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { getBodySchema } from '../../../../../api/endpoint.ts';
import { callsStreamQuery } from '../../../../../api/queries.ts';
import { type Lookups, noLookups, queryCalls } from '../../../../../core/questions/query/index.ts';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import { createPrices, readCosts } from '../../../../../core/records/costs/index.ts';
import { maxExtremes } from '../../../../../core/records/extremes.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';
import { runs, seed } from '../../../../support/run/sampling.ts';
import { createStores, getStore } from '../../../../support/service/stores.ts';
import { makeEnd, makeStart, send } from '../../../../support/values/calls.ts';

let store: Store;
/** The same store, read as if nothing were known of days. */
let plain: Store;
let costs: Store;
let lookups: Lookups;
beforeAll(async () => {
  const stores = await createStores();
  plain = { ...getStore(stores, stores.callsTable), shards: [2] };
  store = { ...plain, bookkeeping: { client: stores.dynamodb, name: stores.rollupsTable } };
  costs = getStore(stores, stores.costsTable);
  lookups = { ...noLookups, costs: (projectId, budget) => readCosts(costs, projectId, budget) };
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

let projects = 0;
const newProject = () => `acme/extremes-${projects++}` as ProjectId;

/** So late that all marks are over. */
const waitForMarks = () => vi.setSystemTime(Date.now() + 900_000);

const hourMs = 3_600_000;
const begin = Date.UTC(2026, 9, 24);
const at = (ms: number): string => new Date(begin + ms).toISOString();

/** A call, by when it started, in ms, and how long it took; it runs if that is null. */
interface Shape {
  readonly ms: number;
  readonly took: number | null;
  readonly tokens?: unknown;
  readonly source?: string;
  readonly nested?: boolean;
}

const report = (project_id: string, id: string, { ms, took, tokens, source, nested }: Shape) => {
  const call = { project_id, id };
  const start = {
    ...call,
    trace_id: `trace of ${id}`,
    started_at: at(ms),
    ...(source && { attributes: { source } }),
    ...(nested && { parent_id: `above ${id}` }),
  };
  const usage = tokens === undefined ? {} : { summary: { usage: { 'gpt-4.1': { output_tokens: tokens } } } };
  const end = took === null ? [] : [makeEnd({ ...call, ended_at: at(ms + took), ...usage })];
  return [makeStart(start), ...end];
};

const reportAll = async (project: ProjectId, shapes: readonly Shape[], name = 'call'): Promise<void> => {
  const all = shapes.map((shape, i) => report(project, `${name}-${i}`, shape));
  for (let i = 0; i < all.length; i += 200) await send(store, all.slice(i, i + 200).flat());
};

/** So many calls, evenly over some hours, of few latencies each of which many have. */
const evenly = (count: number, hours: number): Shape[] =>
  Array.from({ length: count }, (_, i) => ({
    ms: Math.floor((i * hours * hourMs) / count),
    took: ((i * 7919) % 977) * 10,
    tokens: (i * 31) % 101,
    nested: i % 3 === 0,
  }));

const latency = 'summary.svc.latency_ms';
const tokens = 'summary.usage.gpt-4.1.output_tokens';
const cost = 'summary.svc.costs.gpt-4.1.completion_tokens_total_cost';
const by = (field: string, direction = 'desc') => ({ sort_by: [{ field, direction }] });

const bodySchema = getBodySchema(callsStreamQuery);

/** Asks, and tells what that took. */
const ask = async (project_id: string, body: object, of = store) => {
  const budget = requestBudget(60_000);
  const parsed = parseBody(
    bodySchema,
    JSON.stringify({ project_id, columns: [latency, 'summary.usage'], ...body }),
  );
  const answer = queryCalls(of, parsed, budget, lookups);
  const lines = (await Array.fromAsync(answer.json())).flat();
  const rows = lines.map((json) => JSON.parse(json) as JsonObject);
  const { readUnits, writeUnits } = budget.meter;
  return { ids: rows.map(({ id }) => id), rows, ...answer.counts, readUnits, writeUnits };
};

/** Asks both ways, compares the answers, and tells what it took to answer by what is known. */
const compare = async (project: string, body: object) => {
  const asked = await ask(project, body);
  const expected = await ask(project, body, plain);
  expect(asked.rows, JSON.stringify(body)).toEqual(expected.rows);
  return asked;
};

const since = (ms: number, until?: number) => {
  const bound = (operator: string, time: number) => ({
    [operator]: [{ $getField: 'started_at' }, { $literal: at(time) }],
  });
  const $and = [bound('$gte', ms), ...(until === undefined ? [] : [bound('$lt', until)])];
  return { query: { $expr: { $and } } };
};

describe('the first calls of an order', () => {
  it('are known of finished days once they were asked for, and no header is read then', async () => {
    const project = newProject();
    await reportAll(project, evenly(3000, 72));
    waitForMarks();
    const body = { ...by(latency), limit: 20 };
    const first = await compare(project, body);
    expect(first).toMatchObject({ days: 0, scanned: 3000 });
    expect(first.writeUnits).toBeLessThanOrEqual(3 * 4);
    const next = await compare(project, body);
    expect(next).toMatchObject({ days: 3, scanned: 0, writeUnits: 0 });
    expect(next.readUnits).toBeLessThan(20);
    expect(await compare(project, { ...body, offset: 80 })).toMatchObject({ days: 3, scanned: 0 });
  });

  it('are noted for each order, level and source by itself', async () => {
    const project = newProject();
    const shapes = evenly(3000, 48).map((shape, i) => (i % 2 ? shape : { ...shape, source: 'test' }));
    await reportAll(project, shapes);
    waitForMarks();
    const limit = 30;
    const roots = { trace_roots_only: true };
    const production = { trace_roots_only: true, sources: ['production'] };
    const bodies = [
      { ...by(latency), limit },
      { ...by(latency, 'asc'), limit },
      { ...by(latency), limit, filter: roots },
      { ...by(latency), limit, filter: production },
      { ...by(tokens), limit },
      { ...by(tokens, 'asc'), limit },
    ];
    for (const body of bodies) expect(await compare(project, body)).toMatchObject({ days: 0 });
    for (const body of bodies)
      expect(await compare(project, body), JSON.stringify(body)).toMatchObject({ scanned: 0 });
    const started = { $eq: [{ $getField: 'op_name' }, { $literal: 'op' }] };
    const asBefore = { ...by(latency), limit, query: { $expr: started } };
    expect(await compare(project, asBefore)).toMatchObject({ days: 0, scanned: 3000 });
    expect(await compare(project, { ...by(latency), limit: 101 })).toMatchObject({ days: 0, scanned: 3000 });
  });

  it('are read anew where a day has more of them than are known', async () => {
    const project = newProject();
    const slow = Array.from({ length: maxExtremes }, (_, i) => ({ ms: 30 * hourMs + i, took: 90_000 - i }));
    await reportAll(project, [...evenly(3000, 72), ...slow]);
    waitForMarks();
    const body = { ...by(latency), limit: 100 };
    await compare(project, body);
    expect(await compare(project, body)).toMatchObject({ scanned: 0 });
    // The second day's known calls all lie in one hour, which this range leaves out.
    const range = { ...body, ...since(31 * hourMs) };
    const read = await compare(project, range);
    expect(read.days).toBe(2);
    expect(read.scanned).toBeGreaterThan(600);
    expect(read.scanned).toBeLessThan(1100);
  });

  it('are read as before over a few hours, and in a project with few calls', async () => {
    const project = newProject();
    await reportAll(project, evenly(400, 48));
    waitForMarks();
    const body = { ...by(latency), limit: 5 };
    for (let i = 0; i < 2; i++)
      expect(await compare(project, body)).toMatchObject({ days: 0, scanned: 400, writeUnits: 0 });
    const { readUnits } = await ask(project, { ...body, ...since(0, 5 * hourMs) });
    expect(readUnits).toBe((await ask(project, { ...body, ...since(0, 5 * hourMs) }, plain)).readUnits);
  });

  it('are never what they were before a call ended otherwise, was deleted or came late', async () => {
    const project = newProject();
    await reportAll(project, [...evenly(2000, 48), { ms: 20 * hourMs, took: null }], 'call');
    waitForMarks();
    const body = { ...by(latency), limit: 10 };
    await ask(project, body);
    const [slowest] = (await ask(project, body)).ids;
    await deleteCalls(store, project, [String(slowest)], requestBudget(30_000));
    expect((await compare(project, body)).ids).not.toContain(slowest);
    await send(store, [makeEnd({ project_id: project, id: 'call-2000', ended_at: at(40 * hourMs) })]);
    expect((await compare(project, body)).ids[0]).toBe('call-2000');
    await send(store, report(project, 'late', { ms: 5 * hourMs, took: 30 * hourMs }));
    expect((await compare(project, body)).ids.slice(0, 2)).toEqual(['late', 'call-2000']);
    waitForMarks();
    await compare(project, body);
    expect((await compare(project, body)).days).toBe(2);
  });

  it('are all there when an hour was read again of a day with more calls than are known', async () => {
    const project = newProject();
    const busy = Array.from({ length: 1100 }, (_, i) => ({
      ms: 3 * hourMs + i * 1000,
      took: i < 60 ? 90_000 : 5 * i,
    }));
    await reportAll(project, [...busy, ...evenly(1500, 24)]);
    waitForMarks();
    const body = { ...by(latency), limit: 100 };
    await compare(project, body);
    const slowest = Array.from({ length: 60 }, (_, i) => `call-${i}`);
    await deleteCalls(store, project, slowest, requestBudget(30_000));
    waitForMarks();
    expect((await compare(project, body)).writeUnits).toBeGreaterThan(0);
    await compare(project, body);
  });

  it('go by the prices that are in force now', async () => {
    const project = newProject();
    const priced = (price: number, effective_date: string) =>
      createPrices(
        costs,
        {
          projectId: project,
          terms: [
            {
              model: 'gpt-4.1',
              promptTokenCost: 0,
              cacheReadTokenCost: undefined,
              cacheWriteTokenCost: undefined,
              completionTokenCost: price,
              promptTokenCostUnit: 'USD',
              completionTokenCostUnit: 'USD',
              effectiveDate: Date.parse(effective_date) * 1000,
              providerId: 'default',
            },
          ],
        },
        'ada',
        requestBudget(30_000),
      );
    await reportAll(project, evenly(3000, 48));
    await priced(1, at(0));
    waitForMarks();
    const body = { ...by(cost), limit: 10, include_costs: true };
    await compare(project, body);
    const before = await compare(project, body);
    expect(before).toMatchObject({ days: 2, scanned: 0 });
    await priced(5, at(30 * hourMs));
    const after = await compare(project, body);
    expect(after).toMatchObject({ days: 0, scanned: 3000 });
    expect(after.ids).not.toEqual(before.ids);
    expect(await compare(project, body)).toMatchObject({ days: 2, scanned: 0 });
  });

  it('are the same as those of a look at every call, whatever happened to calls', async () => {
    const value = fc.oneof(fc.nat({ max: 3 }), fc.constantFrom(0.5, -1, '7', null, 1e300, [1], true, -0));
    const shape = fc.record({
      ms: fc.nat({ max: 50 * 60 }).map((minutes) => minutes * 60_000),
      took: fc.option(fc.constantFrom(0, 10, 5_000_000, -1000, 9_000_000)),
      tokens: fc.option(value, { nil: undefined }),
      nested: fc.boolean(),
    });
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('report' as const),
        shapes: fc.array(shape, { minLength: 1, maxLength: 20 }),
      }),
      fc.record({ kind: fc.constant('end' as const), which: fc.nat(), ms: fc.nat({ max: 80 * hourMs }) }),
      fc.record({
        kind: fc.constant('delete' as const),
        which: fc.array(fc.nat(), { minLength: 1, maxLength: 9 }),
      }),
      fc.record({ kind: fc.constant('wait' as const) }),
    );
    const asked = fc.record({
      field: fc.constantFrom(latency, tokens),
      direction: fc.constantFrom('asc', 'desc'),
      limit: fc.constantFrom(1, 7, 40, 100),
      offset: fc.constantFrom(0, 0, 3, 60),
      from: fc.option(fc.nat({ max: 40 })),
      length: fc.option(fc.integer({ min: 7, max: 40 })),
      roots: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 400 }),
        fc.array(step, { minLength: 1, maxLength: 5 }),
        fc.array(asked, { minLength: 2, maxLength: 4 }),
        async (factor, steps, questions) => {
          const project = newProject();
          const base = evenly(1300, 48).map((each, i) => ({ ...each, took: ((i * factor) % 400) * 25 }));
          // One hour has more calls than are known of a day.
          await reportAll(project, [
            ...base,
            ...base.slice(0, 200).map((each, i) => ({ ...each, ms: 20 * hourMs + i })),
          ]);
          waitForMarks();
          const known = base.map((_, i) => `call-${i}`);
          const askAll = async () => {
            for (const { field, direction, limit, offset, from, length, roots } of questions) {
              const end = from === null || length === null ? undefined : (from + length) * hourMs + 1234;
              await compare(project, {
                ...by(field, direction),
                limit,
                offset,
                ...(from !== null && since(from * hourMs, end)),
                ...(roots && { filter: { trace_roots_only: true } }),
              });
            }
          };
          await askAll();
          for (const [i, each] of steps.entries()) {
            if (each.kind === 'wait') waitForMarks();
            else if (each.kind === 'report') {
              await reportAll(project, each.shapes, `step-${i}`);
              known.push(...each.shapes.map((_, n) => `step-${i}-${n}`));
            } else if (each.kind === 'end') {
              const id = known[each.which % known.length];
              await send(store, [makeEnd({ project_id: project, id, ended_at: at(each.ms) })]);
            } else {
              const ids = each.which.flatMap((which) => known[which % known.length] ?? []);
              await deleteCalls(store, project, [...new Set(ids)], requestBudget(30_000));
            }
            await askAll();
          }
        },
      ),
      { numRuns: runs(6), seed },
    );
  });
});
