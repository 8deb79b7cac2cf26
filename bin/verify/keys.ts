import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { type Grant, type Key, makeKey, newRecord, putKey } from '../../foundations/auth/index.ts';
import type { Table } from '../../foundations/storage/index.ts';

/** Makes keys. Disposal deletes them all. */
export const keyMaker = (table: Table) => {
  const made: Key[] = [];
  return {
    make: async (some: readonly Grant[], seconds: number): Promise<Key> => {
      const now = Date.now() * 1000;
      const key = makeKey();
      const expiresAt = now + seconds * 1_000_000;
      await putKey(table, newRecord(key, { user: 'verify', grants: some, expiresAt }, now));
      made.push(key);
      return key;
    },
    [Symbol.asyncDispose]: async () => {
      for (const { id } of made)
        await table.client.send(new DeleteCommand({ TableName: table.name, Key: { id } }));
    },
  };
};
