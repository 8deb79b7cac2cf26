/**
 * The CPU time of `/call/upsert_batch` in a function, against the least that any such service must
 * do.
 */

import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import type { Call } from '../harness/calls.ts';
import { type Figure, measured } from '../harness/figures.ts';
import type { BenchPart } from '../harness/part.ts';
import { zstdParams } from '../harness/payloads.ts';
import { cpuEach, instantStore } from '../harness/processor.ts';
import { batchSize, endOf, sendText, startOf } from '../harness/reporting.ts';

const compress = promisify(zstdCompress);

/** Parses the JSON, writes the payloads as JSON again and compresses them once. */
const bareMinimum = async (text: string): Promise<number> => {
  const { batch } = JSON.parse(text) as { batch: { req: Record<string, Record<string, unknown>> }[] };
  const payloads = batch.map(({ req: { start, end } }) =>
    JSON.stringify(start ? [start.attributes, start.inputs] : [end?.output, end?.summary, end?.exception]),
  );
  return (await compress(Buffer.from(payloads.join('\n')), { params: zstdParams() })).length;
};

const bodiesOf = (calls: readonly Call[]): string[] => {
  const bodies: string[] = [];
  for (let i = 0; i + batchSize <= calls.length; i += batchSize) {
    const batch = calls.slice(i, i + batchSize).flatMap((call) => [startOf(call), endOf(call)]);
    bodies.push(JSON.stringify({ batch }));
  }
  return bodies;
};

const each = async (bodies: readonly string[], task: (body: string) => Promise<unknown>): Promise<void> => {
  for (const body of bodies) await task(body);
};

/** Rounds that are not measured: V8 optimizes in them. */
const warmUps = 15;

/** The number of measured rounds. Half of them pay for garbage of others, so it takes many. */
const rounds = 25;

const run = async (calls: readonly Call[]): Promise<Figure[]> => {
  const bodies = bodiesOf(calls);
  const count = bodies.length * batchSize;
  const store = instantStore();
  const service: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < warmUps + rounds; round++) {
    bare.push(await cpuEach(() => each(bodies, bareMinimum), count));
    service.push(await cpuEach(() => each(bodies, (body) => sendText(store, body)), count));
  }
  const [warmBare, warmService] = [bare.slice(warmUps), service.slice(warmUps)];
  const ratios = warmService.map((ms, i) => ms / (warmBare[i] ?? Number.NaN));
  return [
    measured('parse, stringify, compress', 'ms a call', warmBare),
    measured('upsert_batch, all but the network', 'ms a call', warmService),
    measured('upsert_batch against that', 'ratio', ratios, { atMost: 3 }),
  ];
};

/** CPU time of writing batches, per call. */
export const cpu: BenchPart = {
  name: 'cpu',
  title: `CPU time of batches of ${batchSize} calls, starts and ends together: parsed, checked, compressed, made into signed requests`,
  run: ({ calls }) => run(calls),
};
