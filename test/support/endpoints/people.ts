import type { Sent } from '../service/in-process.ts';
import { type Fixture, missing } from './fixture.ts';
import type { Scenario } from './scenario.ts';

/** One function has all of it. */
const permitted = ['keys: BatchGetItem DeleteItem PutItem Scan UpdateItem', 'audit: PartiQLInsert Query'];

const ada = 'ada@example.com';

/** A member of one project alone: a member has so many grants at most. */
const own = (p: string): string => `${p}@example.com`;

const set = (p: string, grants: readonly string[], member = own(p)): Sent => ({
  path: '/members/set',
  body: { project_id: p, member, grants },
});

const remove = (p: string, member = own(p)): Sent => ({
  path: '/members/remove',
  body: { project_id: p, member },
});

const create = (p: string): Sent => ({
  path: '/keys/create',
  body: { user: 'ci', grants: [`${p}:write`] },
});

const members = (p: string): Sent[] => [{ path: '/members/query', body: { project_id: p } }];

const revoke: Scenario = {
  name: 'a key',
  before: (p) => [create(p)],
  request: (_, [created]) => ({
    path: '/keys/revoke',
    body: { key_id: (JSON.parse(created?.text ?? '{}') as { key_id?: string }).key_id ?? '' },
  }),
  // It changes something, so each try gets a key of its own.
  views: members,
};

const year = { start: '2026-01-01', end: '2036-01-01' };

/** What uses all that the function may do. */
const uses = [
  { name: 'a new member', request: (p: string) => set(p, ['read']) },
  { name: 'a new key', request: create },
  {
    name: 'the trail of a member',
    before: (p: string) => [set(p, ['read'])],
    request: (p: string): Sent => ({ path: '/audit/query', body: { project_id: p, ...year } }),
  },
  {
    name: 'a member less',
    before: (p: string) => [set(p, ['read'])],
    request: (p: string) => remove(p),
  },
  revoke,
];

/** The routes of members, keys and the audit trail. */
export const peopleFixtures = {
  '/members/query': {
    permitted,
    namesNothing: true,
    body: (p) => ({ project_id: p }),
    scenarios: [
      {
        name: 'two members',
        before: (p) => [set(p, ['read']), set(p, ['admin'], `group:${p}`)],
        request: (p) => ({ path: '/members/query', body: { project_id: p } }),
      },
    ],
    uses,
  },
  '/members/set': {
    permitted,
    namesNothing: true,
    body: (p) => ({ project_id: p, member: ada, grants: ['read'] }),
    answer: '{"member":"ada@example.com","grants":["read"]}',
    scenarios: [
      { name: 'a new member', request: (p) => set(p, ['read']), views: members, atomic: true },
      {
        name: 'other roles',
        before: (p) => [set(p, ['read'])],
        request: (p) => set(p, ['write', 'inference']),
        views: members,
        atomic: true,
      },
    ],
    uses,
  },
  '/members/remove': {
    permitted,
    namesNothing: true,
    body: (p) => ({ project_id: p, member: 'nobody@example.com' }),
    answer: '{"member":"nobody@example.com","grants":[]}',
    scenarios: [
      {
        name: 'a member',
        before: (p) => [set(p, ['read'])],
        request: (p) => remove(p),
        views: members,
        atomic: true,
      },
    ],
    uses,
  },
  '/keys/create': {
    permitted,
    namesNothing: true,
    projectAt: ['body', 'grants', '0'],
    body: (p) => ({ user: 'ci', grants: [`${p}:read`] }),
    scenarios: [{ name: 'a key', request: create }],
    uses,
  },
  '/keys/query': {
    permitted,
    namesNothing: true,
    body: (p) => ({ project_id: p }),
    scenarios: [
      {
        name: 'a key',
        before: (p) => [create(p)],
        request: (p) => ({ path: '/keys/query', body: { project_id: p } }),
      },
    ],
    uses,
  },
  '/keys/revoke': {
    permitted,
    namesNothing: true,
    body: () => ({ key_id: '0'.repeat(16) }),
    ...missing('key_id', 'there is no such key, or it is for nothing that this key administers'),
    projectAt: ['header', 'authorization'],
    refusal: 'this key may not administer any project',
    scenarios: [revoke],
    uses,
  },
  '/audit/query': {
    permitted,
    namesNothing: true,
    body: (p) => ({ project_id: p, start: '2020-01-01', end: '2020-01-02' }),
    answer: '{"records":[]}',
    scenarios: [
      {
        name: 'a member that came and went',
        before: (p) => [set(p, ['read']), remove(p)],
        request: (p) => ({ path: '/audit/query', body: { project_id: p, ...year } }),
      },
    ],
    uses,
  },
} as const satisfies Readonly<Record<string, Fixture>>;
