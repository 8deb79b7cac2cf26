import { beforeAll, describe, expect, it } from 'vitest';
import {
  getKey,
  type KeyRecord,
  listKeys,
  makeKey,
  newRecord,
  putKey,
  revokeKey,
  toItem,
} from '../../../../foundations/auth/keys.ts';
import { putItems, requestBudget, type Table } from '../../../../foundations/storage/index.ts';
import { createStores } from '../../../support/service/stores.ts';

const now = 1_790_000_000_000_000;

const record = (overrides: Partial<KeyRecord> = {}): KeyRecord => ({
  ...newRecord(makeKey(), { user: 'ada', grants: [{ scope: 'acme/*', role: 'write' }] }, now),
  ...overrides,
});

const freshTable = async (): Promise<Table> => {
  const { dynamodb, keysTable } = await createStores();
  return { client: dynamodb, name: keysTable };
};

let table: Table;
beforeAll(async () => {
  table = await freshTable();
});

describe('storing a key', () => {
  it('makes it readable unchanged', async () => {
    const stored = record({ expiresAt: now + 5 });
    expect(await putKey(table, stored)).toBe(true);
    expect(await getKey(table, stored.id)).toEqual(stored);
  });

  it('never overwrites another key with the same id', async () => {
    const first = record();
    await putKey(table, first);
    expect(await putKey(table, record({ id: first.id, user: 'eve' }))).toBe(false);
    expect(await getKey(table, first.id)).toEqual(first);
  });

  it('may be repeated', async () => {
    const stored = record();
    expect(await putKey(table, stored)).toBe(true);
    expect(await putKey(table, stored)).toBe(true);
    expect(await getKey(table, stored.id)).toEqual(stored);
  });

  it('does not restore a revoked key', async () => {
    const stored = record();
    await putKey(table, stored);
    await revokeKey(table, stored.id, now + 1);
    expect(await putKey(table, stored)).toBe(false);
    expect(await getKey(table, stored.id)).toEqual({ ...stored, revokedAt: now + 1 });
  });
});

describe('reading a key', () => {
  it('gives nothing for an unknown id', async () => {
    expect(await getKey(table, makeKey().id)).toBeUndefined();
  });

  it('fails if there is no table, rather than finding nothing', async () => {
    const lost = { ...table, name: 'no-such-table' };
    await expect(getKey(lost, 'x')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
    await expect(putKey(lost, record())).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
    await expect(revokeKey(lost, 'x', now)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});

describe('revoking a key', () => {
  it('gives the record with the time of the revocation', async () => {
    const stored = record();
    await putKey(table, stored);
    expect(await revokeKey(table, stored.id, now + 1)).toEqual({ ...stored, revokedAt: now + 1 });
  });

  it('again keeps the time of the first revocation', async () => {
    const stored = record();
    await putKey(table, stored);
    await revokeKey(table, stored.id, now + 1);
    expect(await revokeKey(table, stored.id, now + 2)).toMatchObject({ revokedAt: now + 1 });
  });

  it('of an unknown id gives nothing and writes nothing', async () => {
    const { id } = makeKey();
    expect(await revokeKey(table, id, now)).toBeUndefined();
    expect(await getKey(table, id)).toBeUndefined();
  });
});

describe('listing keys', () => {
  it('gives none if there are none', async () => {
    expect(await listKeys(await freshTable())).toEqual([]);
  });

  it('gives the oldest first', async () => {
    const table = await freshTable();
    const records = [3, 1, 2].map((age) => record({ createdAt: now - age }));
    for (const record of records) await putKey(table, record);
    expect((await listKeys(table)).map(({ createdAt }) => now - createdAt)).toEqual([3, 2, 1]);
  });

  it('gives all of them if they fill more than one page of a megabyte', async () => {
    const table = await freshTable();
    const grants = Array.from({ length: 200 }, (_, i) => ({
      scope: `${'e'.repeat(100)}${i}/*` as const,
      role: 'read' as const,
    }));
    const records = Array.from({ length: 60 }, () => record({ grants }));
    for (let i = 0; i < records.length; i += 20) {
      await putItems(table, records.slice(i, i + 20).map(toItem), requestBudget(10_000));
    }
    const listed = await listKeys(table);
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(records.map(({ id }) => id)));
  });
});
