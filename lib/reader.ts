import { tables } from '../core/foundations/storage/tables.ts';
import type { Config } from './config.ts';
import { type CallsOfStreams, type Permission, storePermissions } from './permissions.ts';
import type { Storage } from './storage.ts';

/** The environment of a function that reads what streams refer to. */
export const readerEnvironment = (
  { shards, retentionDays }: Config,
  { calls, feedback, costs, payloads }: Storage,
): Record<string, string> => ({
  SHARDS: shards.join(','),
  ...(retentionDays !== undefined && { RETENTION_DAYS: String(retentionDays) }),
  [tables.calls.variable]: calls.tableName,
  [tables.feedback.variable]: feedback.tableName,
  [tables.costs.variable]: costs.tableName,
  PAYLOADS_BUCKET: payloads.bucketName,
});

/**
 * What such a function may do: read the other half of a call, payloads whose header lacks the
 * usage, and prices. Records have all of feedback that is read.
 */
export const readerPermissions = (calls: CallsOfStreams, storage: Storage): Permission[] =>
  storePermissions({ calls, payloads: 'read', costs: 'read' }, storage);
