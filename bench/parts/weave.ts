/**
 * What Weave's door costs: the CPU time of a batch and of a streamed row that come through it, against
 * the same by our own endpoint. Batches have the names, refs and further fields that its SDKs send.
 */

import { callBatch } from '../../api/calls.ts';
import { readRequest, refsToWeave, weaveDoor } from '../../core/doors/weave/index.ts';
import { answerToWeave } from '../../core/doors/weave/names.ts';
import { queryCalls } from '../../core/questions/query/index.ts';
import { writeCalls } from '../../core/records/calls/index.ts';
import type { Store } from '../../foundations/storage/index.ts';
import { storedRefs } from '../../foundations/wire/index.ts';
import { parseBodyJson, parseTolerantly } from '../../foundations/wire/schema.ts';
import type { Bench, BenchPart } from '../harness/bench.ts';
import type { Call } from '../harness/calls.ts';
import { type Figure, measured } from '../harness/figures.ts';
import {
  batchSize,
  benchBudget,
  sendAll,
  sendText,
  toEndItem,
  toQuery,
  toStartItem,
} from '../harness/reporting.ts';
import { cpuEach, instantStore } from '../harness/stores.ts';

const batchBody = callBatch();

/** Stores a batch as the door does. */
const sendThroughDoor = async (store: Store, text: string): Promise<void> => {
  const parse = (fields: unknown) => parseTolerantly(batchBody, fields).value;
  const { batch } = readRequest('/call/upsert_batch', parseBodyJson(storedRefs(text)), parse);
  await writeCalls(store, batch, 'ada', benchBudget());
};

/** A call as Weave's SDKs report it: ops are refs, and so is an input. */
const withRefs = (call: Call): Call => {
  const { project_id: project, op_name: op, inputs } = call.start;
  const ref = (kind: string, name: unknown) => `svc:///${project}/${kind}/${name}:${'x'.repeat(43)}`;
  return {
    start: {
      ...call.start,
      op_name: ref('op', op),
      inputs: { self: ref('object', 'model'), ...(inputs as object) },
      svc_user_id: null,
      svc_run_id: null,
    },
    end: call.end,
  };
};

interface Bodies {
  readonly own: readonly string[];
  readonly weave: readonly string[];
}

const makeBodies = (calls: readonly Call[]): Bodies => {
  const own: string[] = [];
  const weave: string[] = [];
  for (let i = 0; i + batchSize <= calls.length; i += batchSize) {
    const batch = calls.slice(i, i + batchSize).flatMap((call) => [toStartItem(call), toEndItem(call)]);
    own.push(JSON.stringify({ batch }));
    weave.push(refsToWeave(JSON.stringify(answerToWeave({ batch }))));
  }
  return { own, weave };
};

/** Rounds that are not measured: V8 optimizes in them. */
const warmUps = 15;

/** The number of measured rounds. Half of them pay for garbage of others, so it takes many. */
const rounds = 25;

/** Alternates two tasks, and gives the CPU time of each for each call. */
const alternated = async (
  count: number,
  tasks: readonly [() => Promise<unknown>, () => Promise<unknown>],
): Promise<readonly [number[], number[]]> => {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < warmUps + rounds; round++)
    for (const i of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const ms = await cpuEach(tasks[i], count);
      if (round >= warmUps) times[i].push(ms);
    }
  return times;
};

const compared = (
  name: string,
  unit: string,
  [own, door]: readonly [number[], number[]],
  atMost: number,
): Figure[] => [
  measured(`${name}, by our own endpoint`, unit, own),
  measured(`${name}, through the door`, unit, door),
  measured(
    `${name}, through the door against that`,
    'ratio',
    door.map((ms, i) => ms / (own[i] ?? Number.NaN)),
    { atMost },
  ),
];

const reporting = async (calls: readonly Call[]): Promise<Figure[]> => {
  const { own, weave } = makeBodies(calls);
  const store = instantStore();
  const sendBodies =
    (bodies: readonly string[], send: (store: Store, body: string) => Promise<void>) => async () => {
      for (const body of bodies) await send(store, body);
    };
  const times = await alternated(own.length * batchSize, [
    sendBodies(own, sendText),
    sendBodies(weave, sendThroughDoor),
  ]);
  return compared('upsert_batch', 'ms a call', times, 1.1);
};

const reading = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const store = await bench.newStore('calls');
  await sendAll(store, calls, 'together');
  const query = toQuery({ project_id: calls[0]?.start.project_id });
  const encode = async (names: typeof weaveDoor.names | undefined, text: (row: string) => string) => {
    let bytes = 0;
    for await (const batch of queryCalls(store, query, benchBudget(), undefined, names).json())
      for (const row of batch) bytes += Buffer.from(`${text(row)}\n`).length;
    return bytes;
  };
  const times = await alternated(calls.length, [
    () => encode(undefined, (row) => row),
    () => encode(weaveDoor.names, refsToWeave),
  ]);
  return compared('stream_query', 'ms a row', times, 1.15);
};

/** CPU time of what comes through Weave's door, against our own endpoints. */
export const weave: BenchPart = {
  name: 'weave',
  title: `Weave's door: CPU time of batches of ${batchSize} calls and of streamed rows, beside our own endpoints`,
  run: async ({ calls, bench }) => {
    const reported = calls.map(withRefs);
    return [...(await reporting(reported)), ...(await reading(await bench(), reported))];
  },
};
