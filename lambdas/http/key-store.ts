import type { KeyStore } from '../../core/foundations/auth/index.ts';
import { dynamodbClient } from '../../core/foundations/storage/index.ts';

/**
 * The keys of the deployment, as the environment of a function names them.
 *
 * @throws Error if it does not
 */
export const keysFromEnvironment = ({ SERVICE_NAME, KEYS_TABLE }: NodeJS.ProcessEnv): KeyStore => {
  if (!SERVICE_NAME) throw new Error('SERVICE_NAME is not set: it should be what keys begin with');
  if (!KEYS_TABLE) throw new Error('KEYS_TABLE is not set: it should name the table of keys');
  return { service: SERVICE_NAME, table: { client: dynamodbClient(), name: KEYS_TABLE } };
};
