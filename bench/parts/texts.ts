/** What a search for a text reads and writes before and after it is known what finished hours have. */

import { queryCalls } from '../../core/questions/query/index.ts';
import type { Store } from '../../foundations/storage/index.ts';
import { formatTime, type Micros, parseTime } from '../../foundations/wire/index.ts';
import { type Bench, type BenchPart, type CapacityUsed, totalUnits } from '../harness/bench.ts';
import { type Call, repeatCalls } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { storedBytes } from '../harness/item-size.ts';
import { benchBudget, sendAll, toQuery } from '../harness/reporting.ts';

const begin: Micros = Date.UTC(2020, 0, 1) * 1000;
/** A call every so often: 40 an hour. */
const every: Micros = 90_000_000;

/** What one of 30,000 calls says, what one of the first alone says, and what none says. */
const rare = 'quixotic zebra';
const deep = 'velvet octopus';
const absent = 'xylophone in the jacuzzi';

/** Which call says it. */
const deepAt = 20;

/** The same calls one after the other, a few of which say what no other says. */
function* inOrder(calls: readonly Call[], count: number): Generator<Call> {
  let i = 0;
  for (const { start, end } of repeatCalls(calls, count)) {
    const startedAt = begin + i * every;
    const lasted = (parseTime(String(end.ended_at)) ?? 0) - (parseTime(String(start.started_at)) ?? 0);
    const output = i === deepAt ? deep : i % 30_000 === Math.floor(count / 2) % 30_000 ? rare : undefined;
    i++;
    yield {
      start: { ...start, started_at: formatTime(startedAt) },
      end: { ...end, ...(output !== undefined && { output }), ended_at: formatTime(startedAt + lasted) },
    };
  }
}

const rounds = 5;

/** Looks for a text in all that calls say, newest first. */
const search = async (store: Store, project_id: unknown, text: string) => {
  const $or = ['inputs', 'output', 'exception'].map((path) => ({
    $contains: {
      input: { $convert: { input: { $getField: path }, to: 'string' } },
      substr: { $literal: text },
      case_insensitive: true,
    },
  }));
  const sort_by = [{ field: 'started_at', direction: 'desc' }];
  const query = toQuery({ project_id, query: { $expr: { $or } }, sort_by, columns: ['id'] });
  const answer = queryCalls(store, query, benchBudget());
  const startedAt = performance.now();
  let firstAt: number | undefined;
  for await (const batch of answer.json()) if (batch.length > 0) firstAt ??= performance.now() - startedAt;
  return { firstAt, ms: performance.now() - startedAt };
};

/** Units, and times, of searches in so many calls. */
export const textFigures = async (bench: Bench, calls: readonly Call[], count: number): Promise<Figure[]> => {
  const project = calls[0]?.start.project_id;
  const plain = await bench.newStore('calls');
  // Reported as they happened, so that nothing is marked.
  await sendAll(plain, inOrder(calls, count), 'together');
  const noted = await bench.newStore('bookkeeping');
  const store = { ...plain, bookkeeping: noted.table };
  const figures: Figure[] = [];
  const time = async (name: string, in_: Store, text: string): Promise<CapacityUsed> => {
    let took: Awaited<ReturnType<typeof search>> = { firstAt: undefined, ms: 0 };
    const used = await bench.capacity.during(async () => {
      took = await search(in_, project, text);
    });
    figures.push(
      counted(`${count} calls, ${name}: read units`, 'units', totalUnits(used.reads), { of: used.reads }),
      measured(`${count} calls, ${name}: time`, 'ms', [took.ms]),
    );
    if (took.firstAt !== undefined)
      figures.push(measured(`${count} calls, ${name}: first`, 'ms', [took.firstAt]));
    return used;
  };
  await time('a text of none, nothing known', plain, absent);
  const { writes } = await time('a text of none, at first', store, absent);
  figures.push(counted(`${count} calls, noted: write units`, 'units a call', totalUnits(writes) / count));
  const { billed } = await storedBytes(noted, bench.getSchema(noted.table));
  figures.push(counted(`${count} calls, noted: storage`, 'bytes a call', billed / count));
  for (let i = 0; i < rounds - 1; i++) await search(store, project, absent);
  await time('a text of none', store, absent);
  await time('a text of few', store, rare);
  await time('a text deep in the range', store, deep);
  return figures;
};

/** Searches for a text, at each size. */
export const texts: BenchPart = {
  name: 'texts',
  title: 'Searches for a text, before and after it is known what finished hours have',
  run: async ({ bench, calls, sizes }) => {
    const all: Figure[] = [];
    for (const size of sizes) all.push(...(await textFigures(await bench(), calls, size)));
    return all;
  },
};
