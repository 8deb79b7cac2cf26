import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { getBodySchema } from '../../../../../api/endpoint.ts';
import { callsQueryStats, callsStreamQuery, type TraceTotals } from '../../../../../api/queries.ts';
import { readTokens } from '../../../../../api/shared/usage.ts';
import { countCalls, noLookups, queryCalls } from '../../../../../core/questions/query/index.ts';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import { createPrices, readCosts } from '../../../../../core/records/costs/index.ts';
import { type RequestBudget, requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import {
  formatTime,
  isJsonObject,
  type JsonObject,
  type ProjectId,
  parseTime,
} from '../../../../../foundations/wire/index.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';
import {
  canonical,
  type KnownCall,
  knownCall,
  referenceAnswer,
} from '../../../../support/reference/index.ts';
import { runs } from '../../../../support/run/sampling.ts';
import { createStores, getStore } from '../../../../support/service/stores.ts';
import { send } from '../../../../support/values/calls.ts';
import { makeTerms, micros } from '../../../../support/values/costs.ts';

const minute = 60_000_000;
const day = 1440 * minute;
const begin = micros('2026-10-05');
/** The range that is asked for, in days from its begin. */
const range = [0, 3] as const;

/** What one model costs: twice as much from the second day on. */
const prices = [
  makeTerms({
    model: 'priced',
    promptTokenCost: 1,
    completionTokenCost: 4,
    effectiveDate: micros('2026-01-01'),
  }),
  makeTerms({ model: 'priced', promptTokenCost: 2, completionTokenCost: 8, effectiveDate: begin + day }),
];
const computeCost = (model: string, prompt: number, completion: number, at: number): number =>
  model === 'priced' ? (prompt + 4 * completion) * (at >= begin + day ? 2 : 1) : 0;

/** Usage that no header holds. */
const large = Object.fromEntries(
  Array.from({ length: 12 }, (_, i) => [`model number ${i}`, { requests: 1 }]),
);

const callShape = fc.record({
  trace: fc.nat(5),
  isRoot: fc.boolean(),
  /** From two days before the range to two days after its end. */
  minutes: fc.integer({ min: -2 * 1440, max: 5 * 1440 }),
  end: fc.constantFrom('none', 'success', 'error', 'counted'),
  usage: fc.constantFrom('none', 'small', 'large', 'odd'),
  tokens: fc.nat(1000),
  isApart: fc.boolean(),
  waits: fc.constantFrom(0, 1200, true as const),
});
type CallShape = typeof callShape extends fc.Arbitrary<infer T> ? T : never;

const toUsage = ({ usage, tokens }: CallShape) => {
  const used = { prompt_tokens: tokens, completion_tokens: 7 };
  return {
    none: {},
    small: { usage: { priced: used, unpriced: used } },
    large: { usage: { ...large, priced: used } },
    odd: { usage: { priced: 'much', unpriced: { prompt_tokens: -1 } } },
  }[usage];
};

/** The start and the end of a call, as a client sends them. */
const toReports = (project_id: string, shape: CallShape, i: number): [JsonObject, JsonObject | null] => {
  const { trace, isRoot, minutes, end, waits } = shape;
  const startedAt = begin + minutes * minute + i;
  const id = `call-${i}`;
  const start: JsonObject = {
    project_id,
    id,
    trace_id: `trace-${trace}`,
    op_name: isRoot ? 'turn' : 'tool',
    started_at: formatTime(startedAt),
    attributes: {},
    inputs: {},
    ...(!isRoot && { parent_id: `parent-${trace}` }),
  };
  if (end === 'none') return [start, null];
  const counted = end === 'counted' ? { status_counts: { error: 1 } } : {};
  return [
    start,
    {
      project_id,
      id,
      ended_at: formatTime(startedAt + minute),
      output: null,
      ...(end === 'error' && { exception: 'boom' }),
      // A call that waits without knowing for how long adds nothing.
      summary: {
        ...toUsage(shape),
        ...counted,
        ...(waits === true ? { waiting: true } : { waited_ms: waits }),
      },
    },
  ];
};

/** What the calls of a trace that start in a span add up to, by a look at each. */
const sumTotals = (calls: readonly KnownCall[], from: number, to: number): TraceTotals => {
  const totals = {
    call_count: 0,
    error_count: 0,
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    total_cost: 0,
    waited_ms: 0,
  };
  for (const { call } of calls) {
    const startedAt = parseTime(String(call.started_at)) ?? 0;
    if (startedAt < from || startedAt >= to) continue;
    totals.call_count++;
    if (typeof call.exception === 'string') totals.error_count++;
    const { usage, waited_ms: waited = 0 } = call.summary as { usage?: JsonObject; waited_ms?: number };
    totals.waited_ms += waited;
    for (const [model, used] of Object.entries(usage ?? {})) {
      if (!isJsonObject(used)) continue;
      const { prompt, completion, cacheRead, cacheWrite, reasoning } = readTokens(used);
      totals.input_tokens += prompt;
      totals.output_tokens += completion;
      totals.cache_read_tokens += cacheRead;
      totals.cache_write_tokens += cacheWrite;
      totals.reasoning_tokens += reasoning;
      totals.total_cost += computeCost(model, prompt, completion, startedAt);
    }
  }
  return totals;
};

/** The calls as a query with totals must know them. */
const withTotals = (known: readonly KnownCall[], from: number, to: number): KnownCall[] =>
  known.map(({ call, bytes }) => {
    if (call.parent_id !== null) return { call, bytes };
    const ofTrace = known.filter((other) => other.call.trace_id === call.trace_id);
    const below = sumTotals(
      ofTrace.filter((other) => other.call.parent_id !== null),
      from,
      to,
    );
    const { svc, ...own } = call.summary as { svc: JsonObject };
    const isFailedBelow = below.error_count > 0 && typeof call.exception !== 'string';
    const block = {
      ...svc,
      ...(isFailedBelow && { status: 'descendant_error' }),
      trace_totals: sumTotals(ofTrace, from, to),
    };
    return { call: { ...call, summary: { ...own, svc: block } }, bytes };
  });

const field = (path: string) => ({ $getField: path });
const literal = (value: string | number | null) => ({ $literal: value });
const total = (name: string) => `summary.svc.trace_totals.${name}`;
const inRange = [
  { $gte: [field('started_at'), literal(formatTime(begin + range[0] * day))] },
  { $lt: [field('started_at'), literal(formatTime(begin + range[1] * day))] },
];
const isStatus = (status: string) => ({ $eq: [field('summary.svc.status'), literal(status)] });
const dearest = { field: total('total_cost'), direction: 'desc' };

/** Queries in the range: what they ask besides, and whether totals are looked for. */
const bodies: readonly { readonly and?: readonly object[]; readonly [field: string]: unknown }[] = [
  {},
  { columns: ['summary.svc.status'], filter: { trace_roots_only: true } },
  { columns: [], sort_by: [dearest] },
  {
    columns: ['id'],
    filter: { trace_roots_only: true },
    and: [isStatus('descendant_error')],
    sort_by: [dearest],
  },
  { columns: ['summary'], and: [{ $not: [isStatus('descendant_error')] }], limit: 5 },
  { columns: [], and: [isStatus('error')], sort_by: [{ field: total('error_count'), direction: 'asc' }] },
  { columns: [], and: [{ $gt: [field(total('error_count')), literal(0)] }], limit: 3, offset: 1 },
  {
    columns: [total('call_count'), 'inputs'],
    and: [{ $lte: [field(total('input_tokens')), literal(900)] }],
    sort_by: [
      { field: total('call_count'), direction: 'desc' },
      { field: total('output_tokens'), direction: 'asc' },
    ],
  },
  { columns: [], sort_by: [{ field: 'summary.svc.status', direction: 'asc' }] },
  { columns: [], filter: { trace_ids: ['trace-1', 'trace-3'] }, sort_by: [dearest] },
  { columns: [], filter: { call_ids: ['call-0', 'call-1', 'call-2', 'call-3', 'call-4'] } },
];

describe('totals of traces', () => {
  let store: Store;
  let costs: Store;
  let projects = 0;
  beforeAll(async () => {
    const stores = await createStores();
    store = getStore(stores, stores.callsTable);
    costs = getStore(stores, stores.costsTable);
  });

  const lookups = {
    ...noLookups,
    costs: (projectId: ProjectId, budget: RequestBudget) => readCosts(costs, projectId, budget),
  };
  const spent = () => requestBudget(120_000);
  const newProject = async (): Promise<ProjectId> => {
    const projectId = `acme/totals-${++projects}` as ProjectId;
    await createPrices(costs, { projectId, terms: prices }, 'ada', spent());
    return projectId;
  };
  const ask = async (body: object, budget = spent()): Promise<JsonObject[]> => {
    const asked = parseBody(getBodySchema(callsStreamQuery), JSON.stringify(body));
    const batches = await Array.fromAsync(queryCalls(store, asked, budget, lookups).json());
    return batches.flat().map((text) => JSON.parse(text) as JsonObject);
  };
  const count = async (body: object): Promise<number> => {
    const asked = parseBody(getBodySchema(callsQueryStats), JSON.stringify(body));
    return (await countCalls(store, asked, spent(), lookups).stats()).count;
  };

  /** Reports calls, those apart with their ends in other batches. */
  const report = async (projectId: string, shapes: readonly CallShape[]): Promise<KnownCall[]> => {
    const reports = shapes.map((shape, i) => ({ shape, reports: toReports(projectId, shape, i) }));
    const first = reports.flatMap(({ shape, reports: [start, end] }) => [
      { mode: 'start', req: { start } },
      ...(end && !shape.isApart ? [{ mode: 'end', req: { end } }] : []),
    ]);
    const later = reports.flatMap(({ shape, reports: [, end] }) =>
      end && shape.isApart ? [{ mode: 'end', req: { end } }] : [],
    );
    for (const batch of [first, later]) if (batch.length > 0) await send(store, batch);
    return reports.map(({ reports: [start, end] }) => knownCall(start, end, 'ada'));
  };

  /** Asks all that is asked of the range, and compares it with a look at every call. */
  const compare = async (project_id: string, known: readonly KnownCall[]): Promise<void> => {
    const expected = withTotals(known, begin + range[0] * day, begin + (range[1] + 1) * day);
    for (const { and = [], ...body } of bodies) {
      const query = { $expr: { $and: [...inRange, ...and] } };
      const asked = { project_id, ...body, query, include_trace_totals: true };
      // The reference has no columns that are added unasked.
      const columns = body.columns as string[] | undefined;
      const reference = {
        project_id,
        ...body,
        query,
        ...(columns && { columns: [...columns, 'summary.svc.trace_totals'] }),
      } as Parameters<typeof referenceAnswer>[0];
      const answers = referenceAnswer(reference, expected);
      expect((await ask(asked)).map(canonical), JSON.stringify(body)).toEqual(answers.map(canonical));
      const { filter, limit, offset = 0 } = body as { filter?: object; limit?: number; offset?: number };
      if (offset === 0)
        expect(await count({ project_id, filter, limit, query, include_trace_totals: true })).toBe(
          answers.length,
        );
    }
  };

  it('are those that a look at every call gives, in any order and under any condition', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(callShape, { minLength: 1, maxLength: 40 }), async (shapes) => {
        const projectId = await newProject();
        await compare(projectId, await report(projectId, shapes));
      }),
      { numRuns: runs(4, 40), endOnFailure: true },
    );
  });

  it('are the same if the traces are so many that the range is read as a whole', async () => {
    const projectId = await newProject();
    const shapes = fc.sample(callShape, { numRuns: 400, seed: 7 });
    const roots = { isRoot: true, minutes: 1440 };
    const known = await report(
      projectId,
      shapes.map((shape, i) => ({ ...shape, trace: i % 210, ...(i < 210 && roots) })),
    );
    await compare(projectId, known);
    const budget = spent();
    await ask(
      {
        project_id: projectId,
        columns: [],
        include_trace_totals: true,
        query: { $expr: { $and: inRange } },
        sort_by: [dearest],
      },
      budget,
    );
    expect(budget.meter.requests).toBeLessThan(100);
  });

  it('count all calls of traces that ids name, whenever they started, and no deleted ones', async () => {
    const projectId = await newProject();
    const root = { trace: 0, isRoot: true, end: 'success', usage: 'none', tokens: 0, waits: 0 } as const;
    const nested = { ...root, isRoot: false, end: 'error', usage: 'small', tokens: 3 } as const;
    const shapes = [
      { ...root, minutes: 0, isApart: false },
      ...Array.from({ length: 3000 }, (_, i) => ({ ...nested, minutes: i * 30, isApart: i % 100 === 0 })),
    ];
    for (let i = 0; i < shapes.length; i += 1000) {
      const some = shapes.slice(i, i + 1000).map((shape, j) => toReports(projectId, shape, i + j));
      await send(
        store,
        some.flatMap(([start, end]) => [
          { mode: 'start', req: { start } },
          ...(end ? [{ mode: 'end', req: { end } }] : []),
        ]),
      );
    }
    const asked = { project_id: projectId, columns: ['summary.svc.status'], include_trace_totals: true };
    const getSummary = async (filter: object) => (await ask({ ...asked, filter }))[0]?.summary as JsonObject;
    const expected = {
      call_count: 3001,
      error_count: 3000,
      input_tokens: 2 * 3 * 3000,
      output_tokens: 2 * 7 * 3000,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
      waited_ms: 0,
      // 48 calls of the first day, and all others at twice the price.
      total_cost: 31 * (48 + 2 * (3000 - 48)),
    };
    expect(await getSummary({ call_ids: ['call-0'] })).toEqual({
      svc: { status: 'descendant_error', trace_totals: expected },
    });
    expect(await getSummary({ trace_ids: ['trace-0'], trace_roots_only: true })).toEqual({
      svc: { status: 'descendant_error', trace_totals: expected },
    });
    await deleteCalls(store, projectId, ['call-1', 'call-3000'], spent(), async () => {});
    expect(await getSummary({ call_ids: ['call-0'] })).toMatchObject({
      svc: {
        trace_totals: { call_count: 2999, error_count: 2998, total_cost: expected.total_cost - 31 - 62 },
      },
    });
  });
});
