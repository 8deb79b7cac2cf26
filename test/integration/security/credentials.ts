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
  parseGroup,
  parsePerson,
  putKey,
  revokeKey,
  type Scope,
  setMember,
} from '../../../foundations/auth/index.ts';
import { requestBudget, type Table } from '../../../foundations/storage/index.ts';
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
  /** Gives a new person, or a group, these grants: the claims of a token of theirs. */
  readonly member: (grants: string, of: 'person' | 'group') => Promise<Readonly<Record<string, unknown>>>;
  /** A key whose id is known, with the secret of another. */
  readonly withOtherSecret: () => Promise<string>;
}

let members = 0;

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
    member: async (grants, of) => {
      const name = `member-${++members}`;
      const email = `${name}@example.com`;
      const member = of === 'person' ? parsePerson(email) : parseGroup(name);
      if (!member) throw new Error(`${name} is no member`);
      const given = Object.groupBy(parseGrants(grants) ?? [], ({ scope }) => scope);
      for (const [scope, ofScope = []] of Object.entries(given)) {
        const roles = ofScope.map(({ role }) => role);
        const membership = { member, scope: scope as Scope, roles };
        await setMember(table, membership, nowMicros(), requestBudget(10_000));
      }
      return { email, groups: [name] };
    },
    withOtherSecret: async () => formatKey({ ...(await stored(everything)), secret: makeKey().secret }),
    [Symbol.dispose]: () => client.destroy(),
  };
};
