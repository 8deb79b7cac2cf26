import type { KeyStore } from '../../../foundations/auth/index.ts';
import { dynamodbClient } from '../../../foundations/storage/index.ts';

/**
 * The keys of the deployment, as the environment of a function names them.
 *
 * @throws Error if it does not
 */
export const keysFromEnvironment = ({ KEYS_TABLE }: NodeJS.ProcessEnv): KeyStore => {
  if (!KEYS_TABLE) throw new Error('KEYS_TABLE is not set: it should name the table of keys');
  return { table: { client: dynamodbClient(), name: KEYS_TABLE } };
};
