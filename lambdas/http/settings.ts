import type { CallStore } from '../../core/calls/index.ts';
import type { CostStore } from '../../core/costs/index.ts';
import type { FeedbackStore } from '../../core/feedback/index.ts';
import type { ObjectStore } from '../../core/objects/index.ts';
import { type Bucket, dynamodbClient, s3Client, type Table } from '../../core/storage/index.ts';
import { type WireNames, wireNames } from '../../core/wire/index.ts';

/**
 * What a function knows of its deployment, from its environment. That names the stores of its route
 * alone: asking for another throws an Error.
 */
export interface Settings {
  readonly names: WireNames;
  readonly calls: CallStore;
  readonly objects: ObjectStore;
  readonly costs: CostStore;
  readonly feedback: FeedbackStore;
}

/** What an environment variable gives. Throws where it is not set. */
const given = <T>(name: string, value: T | undefined): T => {
  if (value === undefined) throw new Error(`the environment variable ${name} is not set`);
  return value;
};

const required = (name: string): string => given(name, process.env[name] || undefined);

/** Parses a history of shard counts, e.g. `4,16`. */
const readShards = (text: string): CallStore['shards'] => {
  const [first, ...more] = text.split(',').map(Number);
  const counts = [first ?? Number.NaN, ...more] as const;
  if (counts.some((count) => !Number.isInteger(count) || count < 1)) throw new Error(`SHARDS is ${text}`);
  return counts;
};

/** The days after which what is stored expires; undefined keeps it. */
const readRetention = (): number | undefined => {
  const { RETENTION_DAYS: days } = process.env;
  return days ? Number(days) : undefined;
};

const callStore = (table: Table, bucket: () => Bucket, service: string): CallStore => ({
  table,
  // Not every route with calls touches their payloads.
  get bucket() {
    return bucket();
  },
  service,
  shards: readShards(required('SHARDS')),
  retentionDays: readRetention(),
});

const feedbackStore = (table: Table, bucket: Bucket, names: WireNames): FeedbackStore => ({
  table,
  bucket,
  names,
  shards: readShards(required('SHARDS')),
  retentionDays: readRetention(),
});

/** The bucket, whose client is made when it is first asked for: most requests do without. */
const lazyBucket = (name: string): Bucket => {
  let client: ReturnType<typeof s3Client> | undefined;
  return {
    name,
    get client() {
      client ??= s3Client();
      return client;
    },
  };
};

const readSettings = (): Settings => {
  const service = required('SERVICE_NAME');
  const { CALLS_TABLE, OBJECTS_TABLE, COSTS_TABLE, FEEDBACK_TABLE, PAYLOADS_BUCKET } = process.env;
  const names = wireNames(service);
  // Made now, while the container starts: then it costs no request its time.
  const client = dynamodbClient();
  const payloads = PAYLOADS_BUCKET ? lazyBucket(PAYLOADS_BUCKET) : undefined;
  const bucket = (): Bucket => given('PAYLOADS_BUCKET', payloads);
  const made = <T>(name: string | undefined, make: (table: Table) => T): T | undefined =>
    name ? make({ client, name }) : undefined;
  const calls = made(CALLS_TABLE, (table) => callStore(table, bucket, service));
  const objects = made(OBJECTS_TABLE, (table) => ({ table, bucket: bucket() }));
  const costs = made(COSTS_TABLE, (table) => ({ table }));
  const feedback = made(FEEDBACK_TABLE, (table) => feedbackStore(table, bucket(), names));
  return {
    names,
    get calls() {
      return given('CALLS_TABLE', calls);
    },
    get objects() {
      return given('OBJECTS_TABLE', objects);
    },
    get costs() {
      return given('COSTS_TABLE', costs);
    },
    get feedback() {
      return given('FEEDBACK_TABLE', feedback);
    },
  };
};

/** Read once per container, with the AWS clients and their connections. */
export const settings: Settings = readSettings();
