import type { CallStore } from '../../core/calls/index.ts';
import type { CostStore } from '../../core/costs/index.ts';
import { dynamodbClient, s3Client } from '../../core/storage/index.ts';
import { type WireNames, wireNames } from '../../core/wire/index.ts';

/**
 * What a function knows of its deployment, from its environment. A function has the variables of the stores of its route alone; a store is
 * made when it is first used, which throws where its route does not list it.
 */
export interface Settings {
  readonly names: WireNames;
  readonly calls: CallStore;
  readonly costs: CostStore;
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

/** Makes a value when it is first asked for, and gives the same from then on. */
const once = <T extends object>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

const service = required('SERVICE_NAME');
const dynamodb = once(dynamodbClient);

const calls = once((): CallStore => {
  const { RETENTION_DAYS: days } = process.env;
  return {
    table: { client: dynamodb(), name: required('CALLS_TABLE') },
    bucket: { client: s3Client(), name: required('PAYLOADS_BUCKET') },
    service,
    shards: readShards(required('SHARDS')),
    retentionDays: days ? Number(days) : undefined,
  };
});

const costs = once((): CostStore => ({ table: { client: dynamodb(), name: required('COSTS_TABLE') } }));

/** Read once per container, with the AWS clients and their connections. */
export const settings: Settings = {
  names: wireNames(service),
  get calls() {
    return calls();
  },
  get costs() {
    return costs();
  },
};
