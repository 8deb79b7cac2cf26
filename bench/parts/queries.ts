/** What queries read, by index. It is independent of the machine's speed. */

import type { Store } from '../../core/foundations/storage/index.ts';
import { type QueryAnswer, queryCalls } from '../../core/questions/query/index.ts';
import type { Bench } from '../harness/bench.ts';
import type { Call } from '../harness/calls.ts';
import { totalUnits, type Units } from '../harness/capacity.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import type { BenchPart } from '../harness/part.ts';
import { benchBudget, newestBy, type ReportMode, sendAll, toQuery } from '../harness/reporting.ts';

const field = (path: string) => ({ $getField: path });
const literal = (value: unknown) => ({ $literal: value });

/** Bodies of queries without their project, by name. Every source of a plan has at least one. */
export const queryShapes = (calls: readonly [Call, ...Call[]]): Readonly<Record<string, object>> => {
  const [{ start }] = calls;
  const child = calls.find((call) => call.start.parent_id !== null)?.start ?? start;
  const noon = new Date(Date.parse(String(start.started_at)) + 12 * 3_600_000).toISOString();
  return {
    'newest 100, all columns': newestBy('started_at'),
    'one trace': { filter: { trace_ids: [child.trace_id] } },
    'one thread': { filter: { thread_ids: [start.thread_id] } },
    'one turn': { filter: { turn_ids: [start.turn_id] } },
    "one parent's children": { filter: { parent_ids: [child.parent_id] } },
    '50 ids': { filter: { call_ids: calls.slice(0, 50).map((call) => call.start.id) } },
    'slower than 5 s, headers': {
      columns: [],
      query: { $expr: { $gt: [field('summary.svc.latency_ms'), literal(5000)] } },
    },
    'errors until noon, headers': {
      columns: [],
      query: {
        $expr: {
          $and: [
            { $eq: [field('summary.svc.status'), literal('error')] },
            { $lt: [field('started_at'), literal(noon)] },
          ],
        },
      },
    },
    'roots, headers': { columns: [], filter: { trace_roots_only: true } },
    'most tokens, 100': {
      ...newestBy('summary.usage.gpt-4o.total_tokens'),
      columns: ['summary.usage'],
    },
    'model contains "4o", 10': {
      limit: 10,
      query: { $expr: { $contains: { input: field('inputs.model'), substr: literal('4o') } } },
    },
    'everything, all columns': {},
  };
};

/** Starts a query in the project of a call. */
export const startQuery = (store: Store, call: Call, body: object): QueryAnswer =>
  queryCalls(store, toQuery({ project_id: call.start.project_id, ...body }), benchBudget());

/**
 * Reads an iterable to its end.
 *
 * @returns the number of items
 */
export const drain = async (batches: AsyncIterable<readonly unknown[]>): Promise<number> => {
  let count = 0;
  for await (const batch of batches) count += batch.length;
  return count;
};

/**
 * What a query reads of a store, measured `rounds` times. Reads of payloads may depend on which
 * shard's page comes first.
 */
export const queryFigures = async (
  bench: Bench,
  store: Store,
  call: Call,
  [name, body]: readonly [string, object],
  rounds: number,
): Promise<Figure[]> => {
  const [units, requests, perUnit]: [number[], number[], number[]] = [[], [], []];
  let [sent, of]: [number, Units] = [0, {}];
  for (let i = 0; i < rounds; i++) {
    const answer = startQuery(store, call, body);
    const used = await bench.capacity.during(() => drain(answer.calls));
    units.push(totalUnits(used.reads));
    requests.push(used.requests);
    perUnit.push(answer.counts.scanned / totalUnits(used.reads));
    [sent, of] = [answer.counts.sent, used.reads];
  }
  return [
    measured(`${name}: read units`, 'units', units, { of }),
    measured(`${name}: requests`, 'requests', requests),
    counted(`${name}: sent`, 'calls', sent),
    measured(`${name}: looked at`, 'calls a read unit', perUnit),
  ];
};

/** What each query reads of the calls, reported together and apart. */
export const allQueryFigures = async (
  bench: Bench,
  calls: readonly Call[],
  rounds = 5,
): Promise<Figure[]> => {
  const [first, ...more] = calls;
  if (!first) return [];
  const figures: Figure[] = [];
  for (const mode of ['together', 'apart'] satisfies ReportMode[]) {
    const store = await bench.newStore('calls');
    await sendAll(store, calls, mode);
    for (const [name, body] of Object.entries(queryShapes([first, ...more])))
      figures.push(...(await queryFigures(bench, store, first, [`${name} (${mode})`, body], rounds)));
  }
  return figures;
};

/** Read units and requests of each query. */
export const queries: BenchPart = {
  name: 'queries',
  title: 'Querying calls (units: DynamoDB Local)',
  run: async ({ bench, calls }) => allQueryFigures(await bench(), calls),
};
