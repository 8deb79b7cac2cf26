import type { CallStore } from '../../core/calls/index.ts';
import type { CostStore } from '../../core/costs/index.ts';
import type { ObjectStore } from '../../core/objects/index.ts';
import { type Bucket, dynamodbClient, s3Client, type Table } from '../../core/storage/index.ts';
import { type WireNames, wireNames } from '../../core/wire/index.ts';

/**
 * What a function knows of its deployment, from its environment. That names the stores of its route alone: asking for another
 * throws an Error.
 */
export interface Settings {
  readonly names: WireNames;
  readonly calls: CallStore;
  readonly objects: ObjectStore;
  readonly costs: CostStore;
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

const callStore = (table: Table, bucket: () => Bucket, service: string): CallStore => {
  const { RETENTION_DAYS: days } = process.env;
  return {
    table,
    // Not every route with calls touches their payloads.
    get bucket() {
      return bucket();
    },
    service,
    shards: readShards(required('SHARDS')),
    retentionDays: days ? Number(days) : undefined,
  };
};

const readSettings = (): Settings => {
  const service = required('SERVICE_NAME');
  const { CALLS_TABLE, OBJECTS_TABLE, COSTS_TABLE, PAYLOADS_BUCKET } = process.env;
  // Clients are made now, while the container starts: then they cost no request its time.
  const client = dynamodbClient();
  const payloads = PAYLOADS_BUCKET ? { client: s3Client(), name: PAYLOADS_BUCKET } : undefined;
  const bucket = (): Bucket => given('PAYLOADS_BUCKET', payloads);
  const made = <T>(name: string | undefined, make: (table: Table) => T): T | undefined =>
    name ? make({ client, name }) : undefined;
  const calls = made(CALLS_TABLE, (table) => callStore(table, bucket, service));
  const objects = made(OBJECTS_TABLE, (table) => ({ table, bucket: bucket() }));
  const costs = made(COSTS_TABLE, (table) => ({ table }));
  return {
    names: wireNames(service),
    get calls() {
      return given('CALLS_TABLE', calls);
    },
    get objects() {
      return given('OBJECTS_TABLE', objects);
    },
    get costs() {
      return given('COSTS_TABLE', costs);
    },
  };
};

/** Read once per container, with the AWS clients and their connections. */
export const settings: Settings = readSettings();
