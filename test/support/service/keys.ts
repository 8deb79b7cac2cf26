import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localCredentials } from 'cdk-local-runner';
import { getOutput, localRegion } from 'cdk-local-runner/template';
import { inject } from 'vitest';
import {
  formatKey,
  type Grant,
  makeKey,
  newRecord,
  putKey,
  type SpendingLimits,
} from '../../../foundations/auth/index.ts';
import type { SharedService } from './service.ts';

/** Makes a further key of a service, with grants and limits of its own. */
export const limitedKey = async (
  service: SharedService,
  limits: SpendingLimits,
  ...grants: Grant[]
): Promise<string> => {
  const client = new DynamoDBClient({
    region: localRegion,
    credentials: localCredentials,
    endpoint: inject('stores').dynamodb,
  });
  const key = makeKey();
  const record = newRecord(key, { user: 'bob', grants, limits }, Date.now() * 1000);
  await putKey({ client, name: getOutput(service.stack, 'KeysTable') }, record);
  client.destroy();
  return formatKey(key);
};

/** Makes a further key of a service, with grants of its own. */
export const newKey = (service: SharedService, ...grants: Grant[]): Promise<string> =>
  limitedKey(service, {}, ...grants);

/** Makes a further key of a service, with grants of its own, and gives its `Authorization`. */
export const keyWith = async (service: SharedService, ...grants: Grant[]): Promise<string> =>
  `Basic ${Buffer.from(`bob:${await newKey(service, ...grants)}`).toString('base64')}`;
