import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { noLookups } from '../../../../../core/questions/query/index.ts';
import { computeUsage } from '../../../../../core/questions/stats/index.ts';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { findKinds } from '../../../../support/faults/intercepted.ts';
import { runs, seed } from '../../../../support/run/sampling.ts';
import { createCallStore, makeEnd, makeStart, send } from '../../../../support/values/calls.ts';

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

let projects = 0;
const newProject = () => `acme/usage-${projects++}` as ProjectId;

const askWithPlan = (projectId: ProjectId, callIds: readonly string[], traceIds: readonly string[] = []) =>
  computeUsage(store, { projectId, callIds, traceIds, withCosts: false }, requestBudget(30_000), noLookups);

const ask = async (...request: Parameters<typeof askWithPlan>) => (await askWithPlan(...request)).answer;

const used = (prompt: number, completion: number) => ({
  requests: 1,
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  reasoning_tokens: 0,
});

/** A call of a tree: its parent by index, and its tokens of two models; null while it runs. */
type Node = readonly [parent: number | null, a: number, b: number | null, runs: boolean];

const node: fc.Arbitrary<Node> = fc.tuple(
  fc.option(fc.nat({ max: 12 }), { nil: null }),
  fc.nat({ max: 9 }),
  fc.option(fc.nat({ max: 9 }), { nil: null }),
  fc.boolean(),
);
const trees = fc.array(node, { minLength: 1, maxLength: 12 });

/** What a naive reader sums up below a call. */
const naive = (nodes: readonly Node[], root: number) => {
  const inTree = new Set([root]);
  for (let grew = true; grew; ) {
    const before = inTree.size;
    for (const [i, [parent]] of nodes.entries()) if (parent !== null && inTree.has(parent)) inTree.add(i);
    grew = inTree.size > before;
  }
  const sums: Record<string, { requests: number; prompt_tokens: number }> = {};
  for (const i of inTree) {
    const [, a, b, isRunning] = nodes[i] ?? [null, 0, null, true];
    if (isRunning) continue;
    for (const [model, tokens] of [['a', a], ...(b === null ? [] : [['b', b]])] as [string, number][]) {
      const sum = sums[model] ?? { requests: 0, prompt_tokens: 0 };
      sums[model] = sum;
      sum.requests++;
      sum.prompt_tokens += tokens;
    }
  }
  return { sums, isRunning: [...inTree].some((i) => nodes[i]?.[3] ?? false) };
};

describe('usage', () => {
  it('is that of a call and all below it, whatever the tree and however it was reported', async () => {
    await fc.assert(
      fc.asyncProperty(trees, fc.boolean(), async (nodes, isApart) => {
        const project_id = newProject();
        const reports = nodes.map(([parent, a, b, isRunning], i) => {
          const usage = { a: { prompt_tokens: a }, ...(b !== null && { b: { input_tokens: b } }) };
          const parent_id = parent === null || parent >= nodes.length ? null : `${parent}`;
          return [
            makeStart({ project_id, id: `${i}`, trace_id: 't', parent_id }),
            ...(isRunning ? [] : [makeEnd({ project_id, id: `${i}`, summary: { usage } })]),
          ];
        });
        if (isApart) {
          await send(
            store,
            reports.flatMap(([, end]) => end ?? []),
          );
          await send(
            store,
            reports.flatMap(([start]) => start ?? []),
          );
        } else await send(store, reports.flat());
        const known = nodes.map(
          ([parent, ...rest]): Node => [parent !== null && parent < nodes.length ? parent : null, ...rest],
        );
        const ids = nodes.map((_, i) => `${i}`);
        const answer = await ask(project_id, [...ids, 'unknown']);
        expect(await ask(project_id, [...ids, 'unknown'], ['t', 'elsewhere'])).toEqual(answer);
        expect(Object.keys(answer.call_usage)).toEqual(ids);
        for (const [i, id] of ids.entries()) {
          const { sums, isRunning } = naive(known, i);
          expect(answer.call_usage[id]).toMatchObject(sums);
          expect(Object.keys(answer.call_usage[id] ?? {}).sort()).toEqual(Object.keys(sums).sort());
          expect(answer.unfinished_call_ids.includes(id)).toBe(isRunning);
        }
      }),
      { numRuns: runs(8, 60), seed },
    );
  });

  it('has calls below that are in other traces since a start was repeated', async () => {
    const project_id = newProject();
    const repeated = [
      { id: 'root' },
      { id: 'child', parent_id: 'root' },
      { id: 'root', trace_id: 't' },
      { id: 'adopted' },
      { id: 'adopted', parent_id: 'root' },
    ];
    for (const fields of repeated) await send(store, [makeStart({ project_id, ...fields })]);
    for (const id of ['root', 'child', 'adopted'])
      await send(store, [makeEnd({ project_id, id, summary: { usage: { m: { prompt_tokens: 1 } } } })]);
    expect((await ask(project_id, ['root'])).call_usage.root?.m).toEqual({ ...used(3, 0), requests: 3 });
  });

  it('counts cached tokens, and usage that is too large for a header', async () => {
    const project_id = newProject();
    const usage: JsonObject = { m: { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 4 } };
    const large = { ...usage, filler: { text: 'x'.repeat(5000) } };
    await send(store, [
      makeStart({ project_id, id: 'root', trace_id: 't' }),
      makeEnd({ project_id, id: 'root', summary: { usage } }),
      makeStart({ project_id, id: 'child', trace_id: 't', parent_id: 'root' }),
      makeEnd({ project_id, id: 'child', summary: { usage: large } }),
    ]);
    const { call_usage } = await ask(project_id, ['root']);
    expect(call_usage.root?.m).toEqual({
      requests: 2,
      prompt_tokens: 10,
      completion_tokens: 4,
      total_tokens: 14,
      cache_read_input_tokens: 8,
      cache_creation_input_tokens: 0,
      reasoning_tokens: 0,
    });
  });

  it('has the costs of each call at its own time, if asked for, for models with a price', async () => {
    const project_id = newProject();
    const usage = { m: { prompt_tokens: 10 }, free: { prompt_tokens: 1 } };
    const starts = ['2026-10-02T00:00:00Z', '2026-10-01T00:00:00Z'];
    await send(
      store,
      starts.flatMap((started_at, i) => [
        makeStart({ project_id, id: `${i}`, trace_id: 't', parent_id: i === 0 ? null : '0', started_at }),
        makeEnd({ project_id, id: `${i}`, summary: { usage } }),
      ]),
    );
    const costs = async () => (_: JsonObject, startedAt: number) => {
      const price = startedAt < Date.UTC(2026, 9, 2) * 1000 ? 1 : 3;
      return {
        m: {
          prompt_token_cost: price,
          prompt_tokens_total_cost: 10 * price,
          completion_tokens_total_cost: 0,
        },
      };
    };
    const request = { projectId: project_id, callIds: ['0'], traceIds: [], withCosts: true };
    const { answer } = await computeUsage(store, request, requestBudget(30_000), { costs });
    const { call_usage } = answer;
    expect(call_usage['0']?.m).toMatchObject({
      prompt_tokens: 20,
      prompt_tokens_total_cost: 40,
      prompt_token_cost: 3,
    });
    expect(call_usage['0']?.free).toEqual({ ...used(2, 0), requests: 2 });
  });

  it('has calls in other traces than those that are named, and looks up no others', async () => {
    const project_id = newProject();
    await send(
      store,
      ['a', 'b'].flatMap((id, i) => [
        makeStart({ project_id, id, trace_id: `t-${id}` }),
        makeEnd({ project_id, id, summary: { usage: { m: { prompt_tokens: i + 1 } } } }),
      ]),
    );
    const lookups = async (traceIds: readonly string[]) => {
      let answer: unknown;
      const request = { projectId: project_id, callIds: ['a', 'b'], traceIds, withCosts: false };
      const commands = await findKinds(store, async (watched) => {
        const usage = await computeUsage(watched, request, requestBudget(30_000), noLookups);
        answer = usage.answer.call_usage;
      });
      expect(answer).toMatchObject({ a: { m: { prompt_tokens: 1 } }, b: { m: { prompt_tokens: 2 } } });
      return commands.filter((command) => command === 'BatchGetItemCommand').length;
    };
    expect(await lookups(['t-a'])).toBe(1);
    expect(await lookups(['t-a', 't-b'])).toBe(0);
  });

  it('has what was reported before its parent and without a trace', async () => {
    const project_id = newProject();
    const usage = { m: { prompt_tokens: 3 } };
    await send(store, [
      makeStart({ project_id, id: 'child', parent_id: 'root' }),
      makeEnd({ project_id, id: 'child', summary: { usage } }),
    ]);
    await send(store, [makeStart({ project_id, id: 'root', trace_id: 'another' })]);
    const { call_usage } = await ask(project_id, ['root'], ['another']);
    expect(call_usage.root?.m).toMatchObject({ requests: 1, prompt_tokens: 3 });
  });

  it('counts the calls that failed, those below included', async () => {
    const project_id = newProject();
    const below = { project_id, trace_id: 't', parent_id: 'root' };
    await send(store, [
      makeStart({ project_id, id: 'root', trace_id: 't' }),
      makeStart({ ...below, id: 'failed' }),
      makeEnd({ project_id, id: 'failed', exception: 'Boom' }),
      makeStart({ ...below, id: 'below', parent_id: 'failed' }),
      makeEnd({ project_id, id: 'below', exception: 'Boom' }),
      makeStart({ ...below, id: 'fine' }),
      makeEnd({ project_id, id: 'fine' }),
    ]);
    const { error_counts } = await ask(project_id, ['root', 'failed', 'fine', 'unknown']);
    expect(error_counts).toEqual({ root: 2, failed: 2, fine: 0 });
  });

  const member = fc.record({
    kind: fc.oneof(
      { weight: 6, arbitrary: fc.constant('root' as const) },
      fc.constantFrom('nested' as const, 'unknown' as const, 'deleted' as const),
    ),
    isAsked: fc.integer({ min: 0, max: 9 }).map((number) => number < 8),
  });

  it('is the same however its traces are found', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(member, { minLength: 18, maxLength: 60 }), async (members) => {
        const project_id = newProject();
        const calls = members.map((member, i) => ({ ...member, id: `call-${i}`, trace_id: `trace-${i}` }));
        const usage = { m: { prompt_tokens: 1 } };
        const reports = calls.flatMap(({ id, kind, trace_id }) => {
          if (kind === 'unknown') return [];
          const parent_id = kind === 'nested' ? 'elsewhere' : null;
          const child = { project_id, id: `${id}-child`, trace_id, parent_id: id };
          return [
            makeStart({ project_id, id, trace_id, parent_id }),
            makeStart(child),
            makeEnd({ project_id, id: child.id, summary: { usage } }),
          ];
        });
        for (let i = 0; i < reports.length; i += 100) await send(store, reports.slice(i, i + 100));
        const deleted = calls.flatMap(({ id, kind }) => (kind === 'deleted' ? [id] : []));
        await deleteCalls(store, project_id, deleted, requestBudget(30_000));
        const asked = calls.filter(({ isAsked }) => isAsked);
        const ids = asked.map(({ id }) => id);
        const answer = await ask(project_id, ids);
        const known = asked.filter(({ kind }) => kind !== 'unknown' && kind !== 'deleted');
        expect(answer).toEqual({
          call_usage: Object.fromEntries(known.map(({ id }) => [id, { m: used(1, 0) }])),
          error_counts: Object.fromEntries(known.map(({ id }) => [id, 0])),
          unfinished_call_ids: known.map(({ id }) => id),
        });
        const traces = calls.map(({ trace_id }) => trace_id);
        expect(await ask(project_id, ids, traces)).toEqual(answer);
      }),
      { numRuns: runs(3, 16), seed },
    );
  });

  it('does not follow a cycle of parents for ever', async () => {
    const project_id = newProject();
    await send(store, [
      makeStart({ project_id, id: 'a', trace_id: 't', parent_id: 'b' }),
      makeStart({ project_id, id: 'b', trace_id: 't', parent_id: 'a' }),
    ]);
    expect(await ask(project_id, ['a'])).toEqual({
      call_usage: { a: {} },
      error_counts: { a: 0 },
      unfinished_call_ids: ['a'],
    });
  });
});
