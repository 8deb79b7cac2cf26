import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { guessKindByName } from '../../../../../api/shared/header-fields.ts';
import { valueAt } from '../../../../../foundations/expression/index.ts';
import type { Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, JsonValue, ProjectId } from '../../../../../foundations/wire/index.ts';
import { runs, seed } from '../../../../support/run/sampling.ts';
import { makeEnd, makeStart, query, send } from '../../../../support/values/calls.ts';
import { askStats, createStatsStore } from '../../../../support/values/stats.ts';

let store: Store;
beforeAll(async () => {
  store = await createStatsStore();
});

let projects = 0;
const newProject = () => `acme/groups-${projects++}` as ProjectId;

const begin = Date.UTC(2026, 9, 24);
const at = (seconds: number): string => new Date(begin + seconds * 1000).toISOString();
/** Calls start within an hour; some before what is asked for, some after. */
const span = { start: at(1200), end: at(3000) };

interface Made {
  readonly trace: number;
  /** The number of the parent, which may be itself, come later, lie in another trace, or not be there. */
  readonly parent: number | null;
  readonly second: number;
  readonly attributes: JsonObject;
  readonly opName: string;
  readonly failed: string | null;
}

const made: fc.Arbitrary<Made> = fc.record({
  trace: fc.nat({ max: 2 }),
  parent: fc.option(fc.nat({ max: 15 })),
  // Ties are frequent.
  second: fc.nat({ max: 35 }).map((n) => n * 100),
  attributes: fc.constantFrom<JsonObject>(
    {},
    {},
    {},
    { kind: 'agent' },
    { agent: { name: 'desk' } },
    { agent: { name: 'desk', version: '2' }, kind: 'agent', release: 'r2' },
    { agent: { name: 'n'.repeat(300) } },
    { kind: 'tool', tool: { name: 'search' }, task_id: 7 },
    { tool: { name: 'docs.read' }, task_id: '7' },
    { kind: 'model', task_id: { long: 'x'.repeat(2000) } },
  ),
  opName: fc.constantFrom('step', 'planner_agent', 'execute_tool grep', 'chat'),
  failed: fc.option(fc.constantFrom('timeout', 'refused'), { freq: 3 }),
});

const report = (project_id: ProjectId, calls: readonly Made[]): Promise<unknown> =>
  send(
    store,
    calls.flatMap(({ trace, parent, second, attributes, opName, failed }, i) => [
      makeStart({
        project_id,
        id: `c${i}`,
        trace_id: `t${trace}`,
        parent_id: parent === null ? null : `c${parent}`,
        op_name: opName,
        started_at: at(second),
        attributes,
        inputs: { size: trace, deep: { list: [second % 200] } },
      }),
      makeEnd({
        project_id,
        id: `c${i}`,
        ended_at: at(second + 2),
        ...(failed && { exception: failed }),
        output: { isEven: i % 2 === 0 },
        summary: { usage: { m: { prompt_tokens: i, cache_read_input_tokens: 1 } } },
      }),
    ]),
  );

const kindOf = ({ attributes, op_name }: JsonObject): string | undefined => {
  const { kind, tool } = attributes as { kind?: string; tool?: unknown };
  return kind ?? (tool ? 'tool' : guessKindByName(String(op_name))) ?? 'model';
};

/** The agent that a call names; headers hold none of more than 128 characters. */
const named = (call: JsonObject): string | null => {
  const { agent } = call.attributes as { agent?: { name: string } };
  if (agent && agent.name.length <= 128) return agent.name;
  return kindOf(call) === 'agent' ? String(call.op_name) : null;
};

/** Whether the calls above one lead back to one of them. */
const isInCircle = (call: JsonObject, byId: ReadonlyMap<unknown, JsonObject>): boolean => {
  const met = new Set<JsonObject>();
  for (let above: JsonObject | undefined = call; above; ) {
    if (met.has(above)) return true;
    met.add(above);
    if (named(above) !== null) return false;
    const parent: JsonObject | undefined = byId.get(above.parent_id);
    above = parent?.trace_id === above.trace_id ? parent : undefined;
  }
  return false;
};

const nearestAgent = (call: JsonObject, byId: ReadonlyMap<unknown, JsonObject>): string | null => {
  if (isInCircle(call, byId)) return null;
  for (let above: JsonObject | undefined = call; above; ) {
    const agent = named(above);
    if (agent !== null) return agent;
    const parent: JsonObject | undefined = byId.get(above.parent_id);
    above = parent?.trace_id === above.trace_id ? parent : undefined;
  }
  return null;
};

const short = (value: JsonValue | undefined): JsonValue =>
  value === undefined || JSON.stringify(value).length > 1024 ? null : value;

const naiveGroup = (
  field: string,
  call: JsonObject,
  byId: ReadonlyMap<unknown, JsonObject>,
): JsonValue | undefined => {
  if (field === 'agent') return nearestAgent(call, byId);
  if (field !== 'tool') return short(valueAt(call, field.split('.')));
  const { tool } = call.attributes as { tool?: { name: string } };
  return kindOf(call) === 'tool' ? (tool?.name ?? String(call.op_name)) : undefined;
};

interface Sums {
  calls: number;
  errors: number;
  cached: number;
  readonly traces: Set<JsonValue>;
}

/** What groups come to, the plain way. */
const naive = (
  all: readonly JsonObject[],
  groupBy: readonly string[],
  passes: (call: JsonObject) => boolean,
): Record<string, object> => {
  const byId = new Map(all.map((call) => [call.id, call]));
  const groups = new Map<string, Sums>();
  for (const call of all) {
    const started = Date.parse(String(call.started_at));
    if (started < Date.parse(span.start) || started >= Date.parse(span.end) || !passes(call)) continue;
    const values = groupBy.map((field) => naiveGroup(field, call, byId));
    if (values.includes(undefined)) continue;
    const key = JSON.stringify(values);
    const sums = groups.get(key) ?? { calls: 0, errors: 0, cached: 0, traces: new Set() };
    groups.set(key, sums);
    sums.calls++;
    if (call.exception !== null) sums.errors++;
    sums.cached++;
    sums.traces.add(call.trace_id ?? null);
  }
  return Object.fromEntries(
    [...groups].map(([key, { traces, ...sums }]) => [key, { ...sums, traces: traces.size }]),
  );
};

const ask = (project_id: ProjectId, groupBy: readonly string[], more: object = {}) =>
  askStats(store, {
    project_id,
    ...span,
    granularity: 86_400,
    group_by: groupBy,
    call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }, { metric: 'trace_count' }],
    usage_metrics: [{ metric: 'cache_read_input_tokens' }],
    ...more,
  });

const answered = async (
  project_id: ProjectId,
  groupBy: readonly string[],
  more: object,
): Promise<Record<string, object>> => {
  const { call_buckets, usage_buckets } = await ask(project_id, groupBy, more);
  const keyOf = (row: JsonObject) => JSON.stringify(groupBy.map((field) => row[field]));
  const cached = new Map(usage_buckets.map((row) => [keyOf(row), row.sum_cache_read_input_tokens]));
  return Object.fromEntries(
    call_buckets.map((row) => [
      keyOf(row),
      {
        calls: row.sum_call_count,
        errors: row.sum_error_count,
        traces: row.sum_trace_count,
        cached: cached.get(keyOf(row)),
      },
    ]),
  );
};

const fieldEquals = (name: string, value: string) => ({
  query: { $expr: { $eq: [{ $getField: name }, { $literal: value }] } },
});

/** What narrows the calls, and the same the plain way. */
const narrowings: readonly (readonly [more: object, passes: (call: JsonObject) => boolean])[] = [
  [{}, () => true],
  [{ filter: { trace_ids: ['t1'] } }, ({ trace_id }) => trace_id === 't1'],
  [fieldEquals('summary.svc.status', 'error'), ({ exception }) => exception !== null],
  [
    fieldEquals('attributes.release', 'r2'),
    ({ attributes }) => (attributes as { release?: string }).release === 'r2',
  ],
  [fieldEquals('exception', 'timeout'), ({ exception }) => exception === 'timeout'],
];

describe('groups', () => {
  it('are those of a naive reader of all calls, by agent, tool and any path', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(made, { minLength: 1, maxLength: 16 }), async (calls) => {
        const project = newProject();
        await report(project, calls);
        const all = await query(store, { projectId: project });
        for (const groupBy of [
          ['agent'],
          ['tool'],
          ['agent', 'tool'],
          ['attributes.task_id', 'agent'],
          ['exception'],
          ['inputs.deep.list.0', 'output.isEven'],
          ['summary.usage.m.prompt_tokens'],
          ['parent_id'],
        ])
          for (const [more, passes] of narrowings)
            expect(await answered(project, groupBy, more), groupBy.join()).toEqual(
              naive(all, groupBy, passes),
            );
      }),
      { numRuns: runs(6, 100), seed },
    );
  });

  it('by agent read only traces whose parents were not met, each once', async () => {
    const project = newProject();
    const step = { opName: 'step', attributes: {}, failed: null };
    await report(project, [
      // Before the range.
      { ...step, trace: 0, parent: null, second: 0, attributes: { agent: { name: 'early' } } },
      { ...step, trace: 0, parent: 0, second: 1300 },
      { ...step, trace: 0, parent: 1, second: 1400 },
      { ...step, trace: 1, parent: null, second: 1500, attributes: { agent: { name: 'desk' } } },
      { ...step, trace: 1, parent: 3, second: 1600 },
    ]);
    const { price, call_buckets } = await ask(project, ['agent']);
    expect(price).toEqual({ calls: 4, payloads: 0, traces: 1 });
    expect(call_buckets.map(({ agent, sum_call_count }) => [agent, sum_call_count])).toEqual([
      ['desk', 2],
      ['early', 2],
    ]);
  });

  it('by exception read the payloads of failed calls alone, and say so first', async () => {
    const project = newProject();
    const step = { opName: 'step', attributes: {}, trace: 0, parent: null, second: 1300 };
    await report(project, [
      { ...step, failed: null },
      { ...step, failed: 'timeout' },
      { ...step, failed: null },
    ]);
    const answer = await ask(project, ['exception'], { usage_metrics: [] });
    expect(Object.keys(answer)[0]).toBe('price');
    expect(answer.price).toEqual({ calls: 3, payloads: 1, traces: 0 });
    expect((await ask(project, ['svc_run_id'])).price).toBeUndefined();
  });

  it('by what is in payloads take a month, or named calls', async () => {
    const long = { start: '2026-08-01', end: '2026-10-01' };
    const project = newProject();
    await expect(ask(project, ['inputs.model'], long)).rejects.toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'group_by'], msg: expect.stringContaining('at most 31 days') }],
    });
    for (const [groupBy, more] of [
      [['inputs.model'], { ...long, filter: { trace_ids: ['t'] } }],
      [['agent', 'tool'], long],
      [['svc_run_id', 'attributes.release'], long],
    ] as const)
      expect((await ask(project, [...groupBy], more)).call_buckets).toEqual([]);
  });
});

it('waits are those of calls that waited for a person', async () => {
  const project = newProject();
  const calls = [1200, 0, undefined].map((waited_ms, i) => [
    makeStart({
      project_id: project,
      id: `w${i}`,
      trace_id: 't',
      started_at: at(1300),
      attributes: { agent: { name: 'desk' } },
    }),
    makeEnd({
      project_id: project,
      id: `w${i}`,
      ended_at: at(1302),
      summary: waited_ms === undefined ? {} : { waited_ms },
    }),
  ]);
  await send(store, calls.flat());
  const { call_buckets } = await ask(project, ['agent'], {
    call_metrics: [{ metric: 'waited_ms', aggregations: ['sum', 'count'], percentiles: [100] }],
  });
  expect(call_buckets).toEqual([
    expect.objectContaining({ agent: 'desk', sum_waited_ms: 1200, count_waited_ms: 2, p100_waited_ms: 1200 }),
  ]);
});
