/**
 * The functions that the tables' streams wake, on batches of records: read units, events and files, and
 * CPU time. The evaluator passes all calls over. The bus and the bucket answer at once.
 */

import { type AttributeValue, ScanCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { lambdaRecord } from 'cdk-local-runner/streams';
import { evaluator } from '../../api/evaluators.ts';
import { recordCpuMs, rowBytes } from '../../bin/cost/bill.ts';
import {
  computeCosts,
  loadDefaultPrices,
  type PriceBook,
  priceBook,
} from '../../core/records/costs/index.ts';
import { createObject } from '../../core/records/objects/index.ts';
import { type RowWriter, writeRows } from '../../core/workers/analytics/index.ts';
import { decide, Evaluators, type Watch } from '../../core/workers/evaluators/index.ts';
import { type Delivery, deliver, type EventBus } from '../../core/workers/events/index.ts';
import { type CostsOfProject, type StreamRecord, toChange } from '../../core/workers/streams.ts';
import { type Bucket, chunked, type Store } from '../../foundations/storage/index.ts';
import type { JsonObject } from '../../foundations/wire/index.ts';
import { type Bench, type BenchPart, totalUnits } from '../harness/bench.ts';
import type { Call } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { benchBudget, type ReportMode, sendAll } from '../harness/reporting.ts';
import { answeringAtOnce, cpuEach } from '../harness/stores.ts';

type Image = Record<string, AttributeValue>;

const readItems = async ({ table: { client, name } }: Store): Promise<Image[]> => {
  const items: Image[] = [];
  let from: Image | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName: name, ExclusiveStartKey: from }));
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from);
  return items;
};

/** Seconds since 1970 by which everything here has settled. */
const longAgo = new Date('2026-10-01T00:00:00Z');

/**
 * The records of a table's stream that lets starts and ends pass, as Lambda brings them. They are
 * an insertion of each item, all starts before all ends.
 */
const readRecords = async (store: Store): Promise<readonly StreamRecord[]> => {
  const items = (await readItems(store)).filter(({ p }) => p?.S === 'S' || p?.S === 'E');
  const ends = (item: Image) => (item.p?.S === 'E' ? 1 : 0);
  return items
    .toSorted((one, other) => ends(one) - ends(other))
    .map(
      (item, at) =>
        lambdaRecord(
          {
            eventID: at.toString(16).padStart(32, '0'),
            eventName: 'INSERT',
            dynamodb: {
              Keys: { k: item.k ?? marshall(null), p: item.p ?? marshall(null) },
              NewImage: item,
              SequenceNumber: String(10 ** 20 + at),
              ApproximateCreationDateTime: longAgo,
            },
          },
          `arn:aws:dynamodb:us-east-1:000000000000:table/${store.table.name}/stream/bench`,
        ) as StreamRecord,
    );
};

/** What was sent to a target so far. */
interface Tally {
  requests: number;
  events: number;
  bytes: number;
}

const instantBus = (tally: Tally): EventBus => {
  const client = new EventBridgeClient(
    answeringAtOnce((_, body) => {
      const { Entries } = JSON.parse(body.toString()) as { Entries: readonly object[] };
      tally.requests++;
      tally.events += Entries.length;
      return JSON.stringify({ FailedEntryCount: 0, Entries: Entries.map(() => ({ EventId: 'e' })) });
    }, 'application/x-amz-json-1.1'),
  );
  return { client, name: 'default' };
};

const instantBucket = (tally: Tally): Bucket => {
  const client = new S3Client(
    answeringAtOnce((_, body) => {
      tally.requests++;
      tally.bytes += body.length;
      return '';
    }, 'application/xml'),
  );
  return { client, name: 'files' };
};

/** Costs at the default prices, which are remembered as the functions do. */
const defaultCosts = (): CostsOfProject => {
  let book: Promise<PriceBook> | undefined;
  return async (projectId) => {
    book ??= loadDefaultPrices().then((defaults) => priceBook(projectId, [], defaults));
    const getPrice = await book;
    return (usage, startedAt) => computeCosts(usage, startedAt, getPrice);
  };
};

const deadLetters = {
  url: 'none',
  client: () => Promise.reject(new Error('nothing here should be a dead letter')),
};

/** A function that takes batches of records. */
type Reader = 'events' | 'analytics' | 'evaluators';

/** Looks at each call by its header, and wants none. */
const wantsNothing = {
  _type: 'Evaluator',
  name: 'none',
  on: 'call',
  sample_rate: 1,
  enabled: true,
  filter: { op_names: ['nothing:*'] },
  check: { contains: 'x' },
};

/** What decides by an evaluator that passes all calls over. */
const passingOver = async (bench: Bench, calls: Store, records: readonly StreamRecord[]): Promise<Watch> => {
  const [project] = records.slice(0, 1).map((record) => toChange(record).projectId);
  if (project === undefined) throw new Error('there are no calls');
  const objects = await bench.newStore('objects');
  const schema = evaluator();
  const source = { objects, rememberedMs: 3_600_000, parse: (value: JsonObject) => schema.parse(value) };
  const evaluators = new Evaluators(source);
  await createObject(
    objects,
    { projectId: project, objectId: 'none', val: wantsNothing },
    'bench',
    benchBudget(),
  );
  await evaluators.enabledIn(project, benchBudget());
  const sqs = new SQSClient({
    endpoint: 'http://127.0.0.1',
    ...answeringAtOnce(
      () => JSON.stringify({ Attributes: { CreatedTimestamp: '0' } }),
      'application/x-amz-json-1.0',
    ),
  });
  return {
    calls,
    evaluators,
    deadLetters,
    queue: { url: 'http://127.0.0.1/0/none', client: async () => sqs },
  };
};

/** A reader over the records of a table, with a tally of what it sends. */
interface Trial {
  readonly reader: Reader;
  readonly records: readonly StreamRecord[];
  readonly tally: Tally;
  /** Takes a batch. */
  readonly take: (batch: readonly StreamRecord[]) => Promise<unknown>;
}

const makeTrial = async (
  bench: Bench,
  reader: Reader,
  calls: Store,
  records: readonly StreamRecord[],
): Promise<Trial> => {
  const tally: Tally = { requests: 0, events: 0, bytes: 0 };
  const feedback: Store = { ...calls, table: { ...calls.table, name: 'feedback' } };
  const sources = { calls, feedback, costs: defaultCosts(), deadLetters };
  const delivery: Delivery = { ...sources, payloads: false, bus: instantBus(tally) };
  const writer: RowWriter = { ...sources, bucket: instantBucket(tally) };
  const watch = await passingOver(bench, calls, records);
  const takes = {
    events: (batch: readonly StreamRecord[]) => deliver(delivery, batch, benchBudget()),
    analytics: (batch: readonly StreamRecord[]) => writeRows(writer, batch, benchBudget()),
    evaluators: (batch: readonly StreamRecord[]) => decide(watch, batch, benchBudget()),
  };
  const take = takes[reader];
  return { reader, records, tally, take };
};

const takeAll = async ({ records, take }: Trial, size: number): Promise<void> => {
  for (const batch of chunked(records, size)) await take(batch);
};

/** The most records of a batch, which no start has its end in if they were reported apart. */
const wholeBatch = 1000;
/** What a shard of four gets of a request with a hundred calls. */
const shareOfRequest = 25;

const modes = ['together', 'apart'] as const satisfies readonly ReportMode[];

/** The trials over calls that were reported in one mode. */
interface Reported {
  readonly mode: ReportMode;
  readonly trials: readonly Trial[];
}

/** All trials over calls, which are stored for them. */
const runTrials = async (bench: Bench, calls: readonly Call[]): Promise<Reported[]> => {
  const reported: Reported[] = [];
  for (const mode of modes) {
    const store = await bench.newStore('calls');
    await sendAll(store, calls, mode);
    const records = await readRecords(store);
    const readers = ['events', 'analytics', 'evaluators'] as const;
    const trials = await Promise.all(readers.map((reader) => makeTrial(bench, reader, store, records)));
    reported.push({ mode, trials });
  }
  return reported;
};

/** Counts what taking all records uses and sends. */
const countUse = async (bench: Bench, trial: Trial, name: string, calls: number): Promise<Figure[]> => {
  const { reads, writes } = await bench.capacity.during(() => takeAll(trial, calls));
  const { tally, records, reader } = trial;
  const { requests, events, bytes } = tally;
  return [
    counted(`${name}: records`, 'records a call', records.length / calls),
    counted(`${name}: read units`, 'units a call', totalUnits(reads) / calls),
    counted(`${name}: write units`, 'units a call', totalUnits(writes) / calls),
    ...(reader === 'events'
      ? [
          counted(`${name}: events`, 'events a call', events / calls),
          counted(`${name}: events sent`, 'events a request', events / requests),
        ]
      : []),
    ...(reader === 'analytics'
      ? [counted(`${name}: files`, 'bytes a row', bytes / records.length, { atMost: rowBytes })]
      : []),
  ];
};

/** The counted figures: the same on every machine. A batch has all starts, or all ends. */
export const streamFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const { mode, trials } of await runTrials(bench, calls))
    for (const trial of trials)
      figures.push(...(await countUse(bench, trial, `${trial.reader}, ${mode}`, calls.length)));
  return figures;
};

/** The number of measured rounds. As many unmeasured ones let V8 optimize before. */
const rounds = 7;

const times = async (trial: Trial, name: string, size: number): Promise<Figure> => {
  const durations: number[] = [];
  for (let round = 0; round < 2 * rounds; round++)
    durations.push(await cpuEach(() => takeAll(trial, size), trial.records.length));
  return measured(`${name}, in batches of ${size}: processor`, 'ms a record', durations.slice(rounds), {
    atMost: recordCpuMs[trial.reader],
  });
};

/** Read units, events, files and CPU time of the functions of streams. */
export const streams: BenchPart = {
  name: 'streams',
  title: 'Batches of the tables’ streams: what events, analytics and evaluators read, send and take',
  run: async ({ bench: open, calls, progress }) => {
    const bench = await open();
    const figures = await streamFigures(bench, calls);
    for (const { mode, trials } of await runTrials(bench, calls))
      for (const trial of trials)
        for (const size of [shareOfRequest, wholeBatch]) {
          const name = `${trial.reader}, ${mode}`;
          progress(`  ${name}, in batches of ${size}`);
          figures.push(await times(trial, name, size));
        }
    return figures;
  },
};
