import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatKey, listKeys, makeKey, revokeKey } from '../../../foundations/auth/index.ts';
import type { Table } from '../../../foundations/storage/index.ts';
import { findLocalKey, storeLocalKey } from '../../../local/settings.ts';
import { createStores } from '../../support/service/stores.ts';

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'pennytrace-key-'));
const folder = newFolder();
afterAll(() => rmSync(folder, { recursive: true }));

describe('the local key', () => {
  const configured = formatKey(makeKey());

  it('is the configured one, which is not stored in the folder', async () => {
    const { key, file } = await findLocalKey({ configured, folder: '/nowhere' });
    expect({ key: formatKey(key), file }).toEqual({ key: configured, file: undefined });
  });

  it.each(['secret', `other${configured.slice(3)}`, `${configured}0`])(
    'is refused if it is malformed: %s',
    async (text) => {
      await expect(findLocalKey({ configured: text })).rejects.toThrow(
        'LOCAL_KEY should be svc_<16 of 0-9a-z>_<64 hex digits>',
      );
    },
  );

  it('is a new one at each start if it is not stored', async () => {
    const first = await findLocalKey({});
    const second = await findLocalKey({});
    expect(first.key).not.toEqual(second.key);
  });

  it('is made once for a folder, readable by its owner only', async () => {
    const first = await findLocalKey({ folder });
    expect(await findLocalKey({ folder })).toEqual(first);
    expect(first.file).toBe(join(folder, 'key'));
    expect(readFileSync(join(folder, 'key'), 'utf8')).toBe(`${formatKey(first.key)}\n`);
    expect(statSync(join(folder, 'key')).mode & 0o777).toBe(0o600);
  });

  it.each(['damaged', configured.slice(1)])(
    'is refused with what to do if the stored text is not a key',
    async (text) => {
      const other = newFolder();
      writeFileSync(join(other, 'key'), text);
      await expect(findLocalKey({ folder: other })).rejects.toThrow(
        `${join(other, 'key')} should be svc_<16 of 0-9a-z>_<64 hex digits>; delete it`,
      );
      rmSync(other, { recursive: true });
    },
  );
});

describe('the table of keys', () => {
  let table: Table;
  beforeAll(async () => {
    const { dynamodb, keysTable } = await createStores();
    table = { client: dynamodb, name: keysTable };
  });

  it('has the local key once, however often it is stored', async () => {
    const key = await findLocalKey({});
    await storeLocalKey(table, key);
    await storeLocalKey(table, key);
    expect((await listKeys(table)).map(({ id, user }) => ({ id, user }))).toEqual([
      { id: key.key.id, user: 'local' },
    ]);
  });

  it('refuses a revoked key, with what to do', async () => {
    const key = makeKey();
    await storeLocalKey(table, { key });
    await revokeKey(table, key.id, Date.now() * 1000);
    await expect(storeLocalKey(table, { key })).rejects.toThrow(/revoked.*: set LOCAL_KEY to another one/);
    await expect(storeLocalKey(table, { key, file: '/data/key' })).rejects.toThrow(
      `the key ${key.id} was revoked or differs in this data: delete /data/key to make a new key`,
    );
  });
});
