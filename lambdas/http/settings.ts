import type { CallStore } from '../../core/calls/index.ts';
import { dynamodbClient, s3Client } from '../../core/storage/index.ts';
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

const readSettings = (): Settings => {
  const service = required('SERVICE_NAME');
  const { RETENTION_DAYS: days } = process.env;
  return {
    names: wireNames(service),
    calls: {
      table: { client: dynamodbClient(), name: required('CALLS_TABLE') },
      bucket: { client: s3Client(), name: required('PAYLOADS_BUCKET') },
      service,
      shards: required('SHARDS').split(',').map(Number),
      retentionDays: days ? Number(days) : undefined,
    },
  };
};

/** Read once per container, with the AWS clients and their connections. */
export const settings: Settings = readSettings();
