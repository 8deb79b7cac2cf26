import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localCredentials } from 'cdk-local-runner';
import { getOutput, localRegion } from 'cdk-local-runner/template';
import { inject } from 'vitest';
import {
  formatKey,
  type Grantee,
  type Key,
  makeKey,
  newRecord,
  parseGrants,
  putKey,
  revokeKey,
} from '../../../foundations/auth/index.ts';
import type { Table } from '../../../foundations/storage/index.ts';
import type { SharedService } from '../../support/service/service.ts';

/** The `Authorization` headers of a request: none, one or several. */
export type Headers = readonly string[];

const nowMicros = () => Date.now() * 1000;
export const basic = (password: string, user = 'bob') => `Basic ${btoa(`${user}:${password}`)}`;
export const bearer = (token: string) => `Bearer ${token}`;

/** Makes the keys of a service's table. */
export interface KeyMaker extends Disposable {
  /** Makes a key of bob's with these grants, e.g. `acme/*:write`, separated by spaces. */
  readonly granted: (grants: string) => Promise<string>;
  /** A key that has been revoked. */
  readonly revoked: () => Promise<string>;
  /** A key that has expired. */
  readonly expired: () => Promise<string>;
  /** A key whose id is known, with the secret of another. */
  readonly withOtherSecret: () => Promise<string>;
}

const everything = '*:write *:inference';

/** Makes keys in the table of a service. */
export const keyMaker = (service: SharedService): KeyMaker => {
  const client = new DynamoDBClient({
    region: localRegion,
    credentials: localCredentials,
    endpoint: inject('stores').dynamodb,
  });
  const table: Table = { client, name: getOutput(service.stack, 'KeysTable') };
  const stored = async (grants: string, more: Partial<Grantee> = {}, now = nowMicros()): Promise<Key> => {
    const key = makeKey();
    await putKey(table, newRecord(key, { user: 'bob', grants: parseGrants(grants) ?? [], ...more }, now));
    return key;
  };
  return {
    granted: async (grants) => formatKey(await stored(grants)),
    revoked: async () => {
      const key = await stored(everything);
      await revokeKey(table, key.id, nowMicros());
      return formatKey(key);
    },
    expired: async () => {
      const anHourAgo = nowMicros() - 3_600_000_000;
      return formatKey(await stored(everything, { expiresAt: anHourAgo + 1_000_000 }, anHourAgo));
    },
    withOtherSecret: async () => formatKey({ ...(await stored(everything)), secret: makeKey().secret }),
    [Symbol.dispose]: () => client.destroy(),
  };
};
