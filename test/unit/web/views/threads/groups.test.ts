import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import type { Thread } from '../../../../../web/api/contract.ts';
import type { ThreadFacts } from '../../../../../web/views/threads/facts.ts';
import { groupThreads, isCodingSession, placeOf } from '../../../../../web/views/threads/groups.ts';

const call = (fields: object) => ({ op_name: 'op', ...fields }) as unknown as CallRow;
const inResource = (resource: object) => call({ attributes: { otel: { resource } } });

describe('the place of a session', () => {
  it.each([
    [{ vcs: { repository: { name: 'acme/shop' }, ref: { head: { name: 'main' } } } }, 'acme/shop', 'main'],
    [
      { vcs: { repository: { url: { full: 'https://u:p@git.example/acme/shop.git' } } } },
      'acme/shop',
      undefined,
    ],
    [
      { vcs: { repository: { url: { full: 'git@git.example:team/acme/shop.git' } } } },
      'acme/shop',
      undefined,
    ],
    [{ repository: 'shop', branch: 'refs/heads/fix' }, 'shop', 'fix'],
    [{}, undefined, undefined],
  ])('of %j', (resource, repository, branch) => {
    expect(placeOf(inResource(resource))).toEqual({ repository, branch });
  });
});

describe('groups of threads', () => {
  const facts = (fields: Partial<ThreadFacts>): ThreadFacts => ({
    message: null,
    user: undefined,
    email: undefined,
    repository: undefined,
    branch: undefined,
    usage: undefined,
    errors: 0,
    whole: true,
    within: undefined,
    ...fields,
  });
  const usage = { input: 1, output: 1, total: 2, cost: new Map([['USD', 2]]) };
  const known = new Map([
    ['1', facts({ errors: 1 })],
    ['2', facts({ repository: 'a', branch: 'main', user: 'x', usage, errors: 2 })],
    ['3', facts({ repository: 'b', branch: 'main', user: 'x', email: 'x@example.com' })],
    ['4', facts({ repository: 'a', branch: 'fix', usage, whole: false })],
  ]);
  const threads = [...known.keys()].map((thread_id) => ({ thread_id }) as Thread);
  const namesOf = (by: 'repository' | 'branch' | 'user') =>
    groupThreads(threads, known, by).map(({ name, threads: own }) => [
      name,
      own.map((t) => t.thread_id).join(),
    ]);

  it('keep the order of the list, and those that name nothing come last', () => {
    expect(namesOf('repository')).toEqual([
      ['a', '2,4'],
      ['b', '3'],
      [undefined, '1'],
    ]);
    expect(namesOf('branch').map(([name]) => name)).toEqual(['a · main', 'b · main', 'a · fix', undefined]);
    expect(namesOf('user')).toEqual([
      ['x', '2'],
      ['x@example.com', '3'],
      [undefined, '1,4'],
    ]);
  });

  it('add up what they took', () => {
    const [group] = groupThreads(threads, known, 'repository');
    expect(group).toMatchObject({ errors: 2, whole: false });
    expect(group?.usage?.cost?.get('USD')).toBe(4);
  });
});

describe('a session of a coding agent', () => {
  it('is known by its operations or its agent', () => {
    expect(isCodingSession([call({ op_name: 'claude_code.interaction' })])).toBe(true);
    expect(isCodingSession([call({ op_name: 'codex.turn' })])).toBe(true);
    expect(isCodingSession([call({ attributes: { agent: { name: 'claude-code' } } })])).toBe(true);
    expect(isCodingSession([call({ attributes: { agent: { name: 'support' } } })])).toBe(false);
  });
});
