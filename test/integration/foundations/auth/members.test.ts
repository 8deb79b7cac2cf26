import { beforeEach, describe, expect, it } from 'vitest';
import {
  listMembers,
  type Member,
  makeKey,
  newRecord,
  parseMember,
  putKey,
  setMember,
} from '../../../../foundations/auth/index.ts';
import type { Role } from '../../../../foundations/auth/roles.ts';
import { requestBudget, type Table } from '../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../foundations/wire/index.ts';
import { createStores } from '../../../support/service/stores.ts';

const now = 1_790_000_000_000_000;
const shop = 'acme/shop' as ProjectId;

const named = (text: string): Member => {
  const member = parseMember(text);
  if (!member) throw new Error(`${text} is no member`);
  return member;
};
const ada = named('Ada@example.com');

let table: Table;
beforeEach(async () => {
  const { dynamodb, keysTable } = await createStores();
  table = { client: dynamodb, name: keysTable };
});

const list = () => listMembers(table, requestBudget(20_000));

const set = (
  scope: 'acme/*' | '*' | ProjectId,
  roles: readonly Role[],
  announce?: Parameters<typeof setMember>[4],
) => setMember(table, { member: ada, scope, roles }, now, requestBudget(20_000), announce);

describe('setting a member', () => {
  it('replaces the roles of one scope and leaves the others', async () => {
    await set('acme/*', ['read']);
    await set(shop, ['inference', 'write', 'write']);
    expect(await set(shop, ['admin'])).toEqual({ before: ['write', 'inference'], after: ['admin'] });
    expect(await list()).toEqual([
      {
        id: 'member:ada@example.com',
        user: 'ada@example.com',
        createdAt: now,
        deployed: [],
        grants: [
          { scope: 'acme/*', role: 'read' },
          { scope: shop, role: 'admin' },
        ],
      },
    ]);
  });

  it('to nothing leaves no record', async () => {
    await set(shop, ['read']);
    expect(await set(shop, [])).toEqual({ before: ['read'], after: [] });
    expect(await list()).toEqual([]);
    expect(await set(shop, [])).toEqual({ before: [], after: [] });
  });

  it('announces a change before it is written, and nothing if there is none', async () => {
    const announced: unknown[] = [];
    const note = async (change: unknown) => {
      announced.push([change, (await list()).length]);
    };
    await set(shop, ['read'], note);
    await set(shop, ['read'], note);
    expect(announced).toEqual([[{ before: [], after: ['read'] }, 0]]);
  });

  it('writes nothing that could not be announced', async () => {
    const refused = set(shop, ['read'], () => Promise.reject(new Error('no')));
    await expect(refused).rejects.toThrow('no');
    expect(await list()).toEqual([]);
  });

  it('loses nothing when several administrators do it at once', async () => {
    const projects = Array.from({ length: 12 }, (_, i) => `acme/p${i}` as ProjectId);
    await Promise.all(projects.map((project) => set(project, ['read'])));
    const [record] = await list();
    expect(record?.grants.map(({ scope }) => scope).sort()).toEqual([...projects].sort());
  });

  it('is refused beyond what the authorizer can hand on', async () => {
    const long = 'p'.repeat(128);
    const scopes = Array.from({ length: 40 }, (_, i) => `acme/${i}${long.slice(4)}` as ProjectId);
    let stored = 0;
    const setAll = async () => {
      for (const scope of scopes) {
        await set(scope, ['read']);
        stored++;
      }
    };
    await expect(setAll()).rejects.toThrow('too many grants');
    const [record] = await list();
    expect(record?.grants).toHaveLength(stored);
    expect(stored).toBeGreaterThan(20);
  });

  it('is not refused for what other entities have given', async () => {
    for (let i = 0; i < 50; i++) await set(`evil/p${i}` as ProjectId, ['read']);
    await expect(set('evil/last' as ProjectId, ['read'])).rejects.toThrow('too many grants in evil');
    await set('acme/shop' as ProjectId, ['write']);
    const [record] = await list();
    expect(record?.grants).toContainEqual({ scope: 'acme/shop', role: 'write' });
  });
});

it('lists members by name, and no keys', async () => {
  await putKey(table, newRecord(makeKey(), { user: 'ada', grants: [{ scope: '*', role: 'read' }] }, now));
  await setMember(
    table,
    { member: named('group:Team'), scope: '*', roles: ['read'] },
    now,
    requestBudget(20_000),
  );
  await set(shop, ['read']);
  expect((await list()).map(({ user }) => user)).toEqual(['ada@example.com', 'group:Team']);
});
