/** The processor time of scanning headers: decoding answers and headers, joining, filtering. */
import type { Call } from '../harness/calls.ts';
import { repeatCalls } from '../harness/calls.ts';
import { type Figure, measured } from '../harness/figures.ts';
import type { BenchPart } from '../harness/part.ts';
import { recordedStore } from '../harness/recorded-table.ts';
import { sendAll } from '../harness/reporting.ts';
import { drain, queryShapes, startQuery } from './queries.ts';

/** Rounds that are measured. Some before them let V8 optimize. */
const [rounds, warmUps] = [9, 4];
/** The scans: names of query shapes that read every header and no payload. */
const scans = ['slower than 5 s, headers'];

const run = async (calls: readonly Call[], size: number): Promise<Figure[]> => {
  const [first, ...more] = calls;
  if (!first) return [];
  const store = recordedStore();
  await sendAll(store, repeatCalls(calls, size), 'together');
  const figures: Figure[] = [];
  for (const name of scans) {
    const perSecond: number[] = [];
    for (let round = 0; round < warmUps + rounds; round++) {
      const before = process.cpuUsage();
      await drain(startQuery(store, first, queryShapes([first, ...more])[name] ?? {}).calls);
      const { user, system } = process.cpuUsage(before);
      if (round >= warmUps) perSecond.push(size / ((user + system) / 1e6));
    }
    figures.push(measured(`${name}, of ${size}`, 'calls a CPU second', perSecond));
  }
  return figures;
};

/** How many headers a second of processor time scans. */
export const scan: BenchPart = {
  name: 'scan',
  title: 'CPU time of header scans: answers parsed, headers decoded, joined and filtered',
  run: ({ calls, sizes }) => run(calls, sizes.at(-1) ?? sizes[0] ?? 0),
};
