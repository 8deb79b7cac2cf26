/** What redaction takes of an upsert's processor time. */

import { redactionFactor } from '../../bin/cost/bill.ts';
import { builtins, Redactor } from '../../foundations/redaction/index.ts';
import type { Store } from '../../foundations/storage/index.ts';
import type { BenchPart } from '../harness/bench.ts';
import type { Call } from '../harness/calls.ts';
import { type Figure, measured } from '../harness/figures.ts';
import { batchSize, sendText } from '../harness/reporting.ts';
import { cpuEach, instantStore } from '../harness/stores.ts';
import { makeBodies } from './writing.ts';

/** A store with all built-in rules on. */
const redactingStore = (): Store => {
  const rules = builtins.map((builtin) => ({ name: builtin, builtin, action: 'label' as const }));
  const redactor = Promise.resolve(new Redactor(rules, 'key'));
  return { ...instantStore(), redactor: () => redactor };
};

/** Rounds that are not measured: V8 optimizes in them. */
const warmUps = 10;
const rounds = 25;

const run = async (calls: readonly Call[]): Promise<Figure[]> => {
  const bodies = makeBodies(calls);
  const count = bodies.length * batchSize;
  const sendAll = async (store: Store): Promise<void> => {
    for (const body of bodies) await sendText(store, body);
  };
  const plain = instantStore();
  const redacting = redactingStore();
  const without: number[] = [];
  const withRules: number[] = [];
  for (let round = 0; round < warmUps + rounds; round++) {
    without.push(await cpuEach(() => sendAll(plain), count));
    withRules.push(await cpuEach(() => sendAll(redacting), count));
  }
  const warmWithout = without.slice(warmUps);
  const warmWith = withRules.slice(warmUps);
  const ratios = warmWith.map((ms, i) => ms / (warmWithout[i] ?? Number.NaN));
  return [
    measured('upsert_batch', 'ms a call', warmWithout),
    measured('upsert_batch with all built-in rules', 'ms a call', warmWith),
    measured('the one against the other', 'ratio', ratios, { atMost: redactionFactor }),
  ];
};

/** CPU time of writing batches with and without rules, in turns. */
export const redaction: BenchPart = {
  name: 'redaction',
  title: `CPU time of batches of ${batchSize} calls, without redaction and with all built-in rules`,
  run: ({ calls }) => run(calls),
};
