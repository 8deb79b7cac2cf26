import type { CallStore } from '../../core/calls/index.ts';
import { type Bucket, dynamodbClient, s3Client } from '../../core/storage/index.ts';
import { type WireNames, wireNames } from '../../core/wire/index.ts';

/** What a function knows of its deployment, from its environment. */
export interface Settings {
  readonly names: WireNames;
  readonly calls: CallStore;
}

const required = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`the environment variable ${name} is not set`);
  return value;
};

/** Parses a history of shard counts, e.g. `4,16`. */
const readShards = (text: string): CallStore['shards'] => {
  const [first, ...more] = text.split(',').map(Number);
  const counts = [first ?? Number.NaN, ...more] as const;
  if (counts.some((count) => !Number.isInteger(count) || count < 1)) throw new Error(`SHARDS is ${text}`);
  return counts;
};

const readSettings = (): Settings => {
  const service = required('SERVICE_NAME');
  const { RETENTION_DAYS: days } = process.env;
  let bucket: Bucket | undefined;
  return {
    names: wireNames(service),
    calls: {
      table: { client: dynamodbClient(), name: required('CALLS_TABLE') },
      // A function that touches no payload has no bucket.
      get bucket() {
        bucket ??= { client: s3Client(), name: required('PAYLOADS_BUCKET') };
        return bucket;
      },
      service,
      shards: readShards(required('SHARDS')),
      retentionDays: days ? Number(days) : undefined,
    },
  };
};

/** Read once per container, with the AWS clients and their connections. */
export const settings: Settings = readSettings();
