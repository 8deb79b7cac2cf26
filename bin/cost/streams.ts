import { type Bill, cpuIn } from './bill.ts';
import type { Load } from './load.ts';
import type { Measured } from './measured.ts';
import { costOf } from './prices.ts';

/*
 * What the settings `events` and `analytics` add to a bill. The write path takes not a unit more.
 * What Lambda reads of the streams is free:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CostOptimization_StreamsUsage.html
 */

/**
 * The shares of calls that are turns, and that fail, of the calls of examples/agent-traces.ts. A
 * test counts them.
 */
export const turnShare = 0.323;
export const failedShare = 0.003;

/**
 * The most records of a batch: 6 MB of start and end with old and new item, in base64; and its
 * longest time.
 */
const recordsOfBatch = { events: 1000, analytics: 1500 } as const;
const secondsOfBatch = { events: 5, analytics: 300 } as const;
const monthSeconds = 730 * 3600;
/** A table paid per request begins with four shards, and each has batches of its own. */
const shards = 4;

/**
 * Milliseconds of a full vCPU for a record: `npm run bench -- --only streams` measures less on an
 * x86 machine, and says so if that is over. The rest is room for a slower core.
 */
export const recordCpuMs = { events: 0.3, analytics: 0.3 } as const;

/**
 * Milliseconds that a batch waits for stores, and each of its records for its share of the requests
 * to EventBridge. Those have ten events each, run eight at once, and take 30 ms. They are assumed.
 */
const times = {
  events: { batchMs: 60, waitMs: 0.5, memoryMb: 512 },
  analytics: { batchMs: 300, waitMs: 0, memoryMb: 1024 },
} as const;

type Reader = keyof typeof times;

/**
 * The batches of a month. A request's calls go to all shards, and each shard has a batch of them,
 * unless others came within its time.
 */
const batchesOf = (reader: Reader, load: Load): number => {
  const records = recordsOf(load);
  const full = records / recordsOfBatch[reader];
  const arriving = Math.min(records, (records / load.batch) * shards);
  const timed = (shards * monthSeconds) / secondsOfBatch[reader];
  return Math.max(full, Math.min(arriving, timed));
};

const functionBill = (reader: Reader, load: Load): Bill => {
  const { batchMs, waitMs, memoryMb } = times[reader];
  const recordMs = cpuIn(recordCpuMs[reader], memoryMb) + waitMs;
  const batches = batchesOf(reader, load);
  const gigabyteSeconds = ((batches * batchMs + recordsOf(load) * recordMs) / 1000) * (memoryMb / 1024);
  return {
    'Lambda: requests': costOf('functionRequests', batches),
    'Lambda: time': costOf('functionTime', gigabyteSeconds),
  };
};

/** Records of starts and ends: one a call, two if they come apart. */
const recordsOf = ({ calls, apart }: Load): number => calls * (1 + apart);

/** What events add. An end by itself asks for its start. */
export const eventsBill = (load: Load, { eventReads }: Measured): Bill => ({
  'EventBridge: events': costOf('events', load.calls * (1 + turnShare + failedShare)),
  'DynamoDB: reads': costOf('readUnits', load.calls * load.apart * eventReads),
  ...functionBill('events', load),
});

/** At most so many bytes takes a row in a file: `npm run bench -- --only streams`. */
export const rowBytes = 125;

/** What analytics add, with one project. Each half of a call asks for the other. */
export const analyticsBill = (load: Load, { rowReads }: Measured): Bill => {
  return {
    'DynamoDB: reads': costOf('readUnits', load.calls * load.apart * rowReads),
    'S3: files': costOf('objectPuts', batchesOf('analytics', load)),
    'S3: storage': costOf('objectStorage', recordsOf(load) * rowBytes * load.months),
    ...functionBill('analytics', load),
  };
};
