/** What the slowest calls of a month read and store, before and after they are known, and how many headers a count looks at. */

import { getBodySchema } from '../../api/endpoint.ts';
import { callsQueryStats } from '../../api/queries.ts';
import { countCalls, queryCalls } from '../../core/questions/query/index.ts';
import type { Store } from '../../foundations/storage/index.ts';
import { parseBody } from '../../foundations/wire/schema.ts';
import { type Bench, type BenchPart, totalUnits } from '../harness/bench.ts';
import { type Call, overMonth } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { benchBudget, newestBy, sendAll, toQuery } from '../harness/reporting.ts';

const latency = 'summary.svc.latency_ms';
/** How often a warm answer is timed. */
const rounds = 9;

/** The 20 slowest calls, with all that they say. */
const askSlowest = async (store: Store, project_id: unknown): Promise<void> => {
  const query = toQuery({ project_id, ...newestBy(latency), limit: 20 });
  const lines = await Array.fromAsync(queryCalls(store, query, benchBudget()).json());
  if (lines.flat().length !== 20) throw new Error(`the 20 slowest calls are ${lines.flat().length}`);
};

const countBody = getBodySchema(callsQueryStats);

const countSlow = async (store: Store, project_id: unknown): Promise<number> => {
  const query = { $expr: { $gt: [{ $getField: latency }, { $literal: 5000 }] } };
  const asked = parseBody(countBody, JSON.stringify({ project_id, query }));
  return (await countCalls(store, asked, benchBudget()).stats()).count;
};

/** Units and times over so many calls of a month. */
export const extremeFigures = async (
  bench: Bench,
  calls: readonly Call[],
  count: number,
): Promise<Figure[]> => {
  const project = calls[0]?.start.project_id;
  const plain = await bench.newStore('calls');
  await sendAll(plain, overMonth(calls, count), 'together');
  const store = { ...plain, bookkeeping: (await bench.newStore('bookkeeping')).table };
  const figures: Figure[] = [];
  const time = async (name: string, task: () => Promise<unknown>, times: number): Promise<number[]> => {
    const took: number[] = [];
    const used = await bench.capacity.during(async () => {
      for (let i = 0; i < times; i++) {
        const startedAt = performance.now();
        await task();
        took.push(performance.now() - startedAt);
      }
    });
    figures.push(
      counted(`${count} calls, ${name}: read units`, 'units', totalUnits(used.reads) / times),
      counted(`${count} calls, ${name}: write units`, 'units', totalUnits(used.writes) / times),
      measured(`${count} calls, ${name}: time`, 'ms', took),
    );
    return took;
  };
  await time('the 20 slowest, nothing known', () => askSlowest(plain, project), 1);
  await time('the 20 slowest, at first', () => askSlowest(store, project), 1);
  await time('the 20 slowest', () => askSlowest(store, project), rounds);
  const took = await time('a count of slow calls', () => countSlow(plain, project), rounds);
  const rates = took.map((ms) => (count * 1000) / ms);
  figures.push(measured(`${count} calls, a count of slow calls: headers`, 'a second', rates));
  return figures;
};

/** The slowest calls, and counts of slow calls, at each size. */
export const extremes: BenchPart = {
  name: 'extremes',
  title:
    'The slowest calls of a month, before and after it is known which come first, and counts of slow calls',
  run: async ({ bench, calls, sizes }) => {
    const all: Figure[] = [];
    for (const size of sizes) all.push(...(await extremeFigures(await bench(), calls, size)));
    return all;
  },
};
