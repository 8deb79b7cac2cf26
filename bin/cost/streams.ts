import type { Bill } from './bill.ts';
import type { Load } from './load.ts';
import { costOf } from './prices.ts';

/*
 * What the settings `events` and `analytics` add to a bill. The write path takes not a unit more.
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
 * Milliseconds of a batch and of each of its records, in a function of so many MB. They are
 * assumed: most of it is waiting for EventBridge and S3.
 */
const times = {
  events: { batchMs: 60, recordMs: 2, memoryMb: 512 },
  analytics: { batchMs: 300, recordMs: 0.5, memoryMb: 1024 },
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
  const { batchMs, recordMs, memoryMb } = times[reader];
  const batches = batchesOf(reader, load);
  const gigabyteSeconds = ((batches * batchMs + recordsOf(load) * recordMs) / 1000) * (memoryMb / 1024);
  return {
    'Lambda: requests': costOf('functionRequests', batches),
    'Lambda: time': costOf('functionTime', gigabyteSeconds),
  };
};

/** Records of starts and ends: one a call, two if they come apart. */
const recordsOf = ({ calls, apart }: Load): number => calls * (1 + apart);

/** What events add. A start alone asks for an end, a unit; an end alone for its start, half. */
export const eventsBill = (load: Load): Bill => ({
  'EventBridge: events': costOf('events', load.calls * (1 + turnShare + failedShare)),
  'DynamoDB: reads': costOf('readUnits', load.calls * load.apart * 1.5),
  ...functionBill('events', load),
});

/** The bytes of a call in a file. */
const rowBytes = 60;

/** What analytics add, with one project. Each half of a call asks for the other: half a unit. */
export const analyticsBill = (load: Load): Bill => {
  return {
    'DynamoDB: reads': costOf('readUnits', load.calls * load.apart),
    'S3: files': costOf('objectPuts', batchesOf('analytics', load)),
    'S3: storage': costOf('objectStorage', recordsOf(load) * rowBytes * load.months),
    ...functionBill('analytics', load),
  };
};
