/**
 * What `npm start` takes: the memory of all its processes, npm's own among them, when it is ready, while
 * clients report and read as fast as they can, and when it rests again. A page that processes share counts
 * once among them (PSS), and what other programs share with them only makes it less.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchPart } from '../harness/bench.ts';
import { type Call, repeatCalls } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { type Started, startByNpm } from '../harness/npm-start.ts';
import { batchSize, newestBy, toEndItem, toStartItem } from '../harness/reporting.ts';

/** As many as the figures of others were measured with (bench/README.md). */
const callCount = 3468;
/** Clients that send one request after the other. */
const clients = 8;
/** For how long they read, in ms. */
const readingMs = 8_000;
/** How long after a request the service has collected its garbage, in ms. */
const restMs = 8000;
/** How often its memory is looked at meanwhile, in ms. */
const lookMs = 250;

/** A file of a process; empty if it has ended. */
const readProc = (path: string): string => {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
};

/** A process and all below it. */
const tree = (root: number): number[] => {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name): [number, number] => [
      Number(name),
      Number(/^PPid:\s+(\d+)/m.exec(readProc(`${name}/status`))?.[1]),
    ]);
  const found = [root];
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
  return found;
};

/** What processes take, in MB: the first is npm's. */
const megabytes = (pids: readonly number[]): number[] =>
  pids.map((pid) => Number(/^Pss:\s+(\d+)/m.exec(readProc(`${pid}/smaps_rollup`))?.[1] ?? 0) / 1024);

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

/** The most memory, in MB, while clients do what there is to do. */
const peakDuring = async (service: Started, work: (client: number) => Promise<void>): Promise<number> => {
  let working = true;
  let peak = 0;
  const looking = async () => {
    while (working) {
      peak = Math.max(peak, sum(megabytes(tree(service.pid))));
      await sleep(lookMs);
    }
  };
  const looked = looking();
  try {
    await Promise.all(Array.from({ length: clients }, (_, client) => work(client)));
  } finally {
    working = false;
    await looked;
  }
  return peak;
};

const report = async ({ send }: Started, calls: Iterator<Call>): Promise<void> => {
  for (;;) {
    const batch = Array.from({ length: batchSize }, () => calls.next().value ?? []).flat();
    if (batch.length === 0) return;
    await send('/call/upsert_batch', {
      batch: batch.flatMap((call) => [toStartItem(call), toEndItem(call)]),
    });
  }
};

const readAll = async ({ send }: Started, { start }: Call, until: number): Promise<void> => {
  const { project_id } = start;
  while (performance.now() < until) {
    await send('/calls/stream_query', { project_id, ...newestBy('started_at') });
    await send('/call/read', { project_id, id: start.id });
    await send('/calls/query_stats', { project_id });
    await send('/calls/stream_query', { project_id, filter: { trace_ids: [start.trace_id] } });
  }
};

/** The memory of the local service. */
export const memory: BenchPart = {
  name: 'memory',
  title: `The memory of npm start, in which ${clients} clients report ${callCount} calls and then read for ${readingMs / 1000} s`,
  run: async ({ calls, progress }) => {
    await using service = await startByNpm(clients);
    const figures: Figure[] = [];
    const rest = async (name: string, most: number): Promise<void> => {
      await sleep(restMs);
      const [npm = 0, ...others] = megabytes(tree(service.pid));
      const figure = counted(name, 'MB', npm + sum(others), {
        atMost: most,
        of: { npm, service: sum(others) },
      });
      figures.push(figure);
    };
    await rest('ready', 200);
    progress('  reporting');
    const reported = repeatCalls(calls, callCount);
    const reporting = await peakDuring(service, () => report(service, reported));
    figures.push(measured('while clients report', 'MB', [reporting], { atMost: 500 }));
    progress('  reading');
    const until = performance.now() + readingMs;
    const reading = await peakDuring(service, (client) => {
      const call = calls[client * 7];
      return call ? readAll(service, call, until) : Promise.resolve();
    });
    figures.push(measured('while they read', 'MB', [reading], { atMost: 500 }));
    await rest('at rest again', 300);
    return figures;
  },
};
