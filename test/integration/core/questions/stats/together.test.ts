import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { getBodySchema } from '../../../../../api/endpoint.ts';
import { callsStats } from '../../../../../api/stats.ts';
import {
  type Ask,
  Cell,
  countTogether,
  keepingFor,
  metricsFor,
  numberIn,
  type OneNumber,
} from '../../../../../core/questions/stats/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';
import { runs, seed } from '../../../../support/run/sampling.ts';
import { makeEnd, makeStart, send } from '../../../../support/values/calls.ts';
import { askStats, createStatsStore, later, makeLookups } from '../../../../support/values/stats.ts';

const project_id = 'acme/together' as ProjectId;
const begin = Date.UTC(2026, 9, 1);
const hours = 30;
const at = (minutes: number): string => new Date(begin + minutes * 60_000).toISOString();

let store: Store;
beforeAll(async () => {
  store = await createStatsStore();
  const batch = Array.from({ length: 300 }, (_, i) => {
    const id = `c${i}`;
    const minutes = (i * 37) % (hours * 60);
    return [
      makeStart({
        project_id,
        id,
        trace_id: id,
        op_name: `op${i % 3}`,
        started_at: at(minutes),
        thread_id: i % 4 === 0 ? 't' : null,
        inputs: { n: i % 5 },
      }),
      makeEnd({
        project_id,
        id,
        ended_at: new Date(begin + minutes * 60_000 + i).toISOString(),
        ...(i % 7 === 0 && { exception: 'failed' }),
        summary: { usage: { [`m${i % 2}`]: { prompt_tokens: i } } },
      }),
    ];
  }).flat();
  await send(store, batch);
});

const body = getBodySchema(callsStats);
const equals = (path: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: path }, { $literal: value }] },
});

const number: fc.Arbitrary<OneNumber> = fc.record({
  metric: fc.constantFrom('call_count', 'error_count', 'latency_ms', 'input_tokens'),
  aggregation: fc.constantFrom('sum', 'avg', 'max', 'count'),
  percentile: fc.constant(null),
});
const question = fc.record({
  number,
  start: fc.nat(hours * 60 - 10),
  minutes: fc.constantFrom(5, 45, 130, 900),
  narrow: fc.constantFrom<object>(
    {},
    { filter: { op_names: ['op1'] } },
    { filter: { thread_ids: ['t'] } },
    { query: equals('summary.svc.status', 'error') },
    { query: equals('inputs.n', 3) },
  ),
});

it('counts for many at once what each would be answered alone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(question, { minLength: 1, maxLength: 8 }), async (questions) => {
      const asked = questions.map(({ number, start, minutes, narrow }) => {
        const span = { start: at(start), end: at(start + minutes) };
        const request = parseBody(body, JSON.stringify({ project_id, ...span, ...narrow }));
        const cell = new Cell(keepingFor(metricsFor(number)));
        const ask: Ask = {
          ...metricsFor(number),
          span: [request.start, request.end],
          filter: request.filter,
          where: request.where,
          cellAt: () => cell,
        };
        return { ask, found: () => numberIn(number, cell), number, span, narrow };
      });
      const asks = asked.map(({ ask }) => ask);
      await countTogether(store, project_id, asks, requestBudget(60_000), makeLookups(project_id), later);
      for (const {
        found,
        number: { metric, aggregation },
        span,
        narrow,
      } of asked) {
        const metrics = [{ metric, aggregations: ['sum', 'count', 'max'] }];
        const isUsage = metric === 'input_tokens';
        const { call_buckets, usage_buckets } = await askStats(store, {
          project_id,
          ...span,
          ...narrow,
          granularity: 86_400,
          ...(isUsage ? { usage_metrics: metrics } : { call_metrics: metrics }),
        });
        const rows = isUsage ? usage_buckets : call_buckets;
        const total = (name: string) =>
          rows.reduce((sum, row) => sum + Number(row[`${name}_${metric}`] ?? 0), 0);
        const sum = total('sum');
        const count = total('count');
        const most = Math.max(...rows.map((row) => Number(row[`max_${metric}`] ?? 0)));
        const expected = { sum, count, avg: sum / count, max: most, min: 0 }[aggregation ?? 'sum'];
        const isNothing = count === 0 && (aggregation === 'avg' || aggregation === 'max');
        expect(found()).toEqual(isNothing ? null : expected);
      }
    }),
    { seed, numRuns: runs(10) },
  );
});
