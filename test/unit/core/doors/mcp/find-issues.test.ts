import { describe, expect, it } from 'vitest';
import type { IssueRow } from '../../../../../api/issues.ts';
import { findIssues, queryCalls } from '../../../../../api/tools.ts';
import { adviseOn } from '../../../../../core/doors/mcp/find-issues.ts';
import { parseValue } from '../../../../../foundations/wire/schema.ts';

const issue = (about: Partial<IssueRow>): IssueRow => ({
  issue_id: '0'.repeat(32),
  title: 'TimeoutError: no answer in <n> s',
  kind: 'error',
  op_name: 'svc:///acme/shop/op/lookup:*',
  tool_name: null,
  count: 3,
  trace_count: 3,
  user_count: 1,
  first_seen: '2026-10-01T00:00:00.000000Z',
  last_seen: '2026-10-01T00:00:00.000000Z',
  releases: [],
  agents: [],
  state: 'open',
  assignee: null,
  note: null,
  series: [3],
  examples: ['call-1', 'call-2'],
  ...about,
});

describe('the advice on an issue', () => {
  it.each([
    ['an operation', {}],
    ['a tool', { tool_name: 'say "crm"' }],
  ])('of %s that fails leads to an example, and to a query that query_calls takes', (_, about) => {
    const [call, query = ''] = adviseOn(issue(about));
    expect(call).toContain('get_call with call_id call-1 shows its exception');
    const [, args = ''] = /query_calls with (\{.*\}) lists/.exec(query) ?? [];
    const asked = { project_id: 'acme/shop', ...JSON.parse(args) };
    expect(parseValue(queryCalls.request(), asked).where).not.toBeNull();
  });

  it('of what did not fail, or has a long name, has no query of failures', () => {
    expect(adviseOn(issue({ kind: 'verdict' }))).toEqual([expect.stringContaining('with the reason')]);
    expect(adviseOn(issue({ tool_name: 'x'.repeat(1000) }))).toHaveLength(1);
    expect(adviseOn(issue({ examples: [] }))).toEqual([]);
  });
});

describe('the arguments of find_issues', () => {
  const parse = (args: object) => parseValue(findIssues.request(), { project_id: 'acme/shop', ...args });

  it('are those of the endpoint, with the commonest first unless said otherwise', () => {
    expect(parse({ state: 'open' })).toMatchObject({
      state: ['open'],
      sort: [{ field: 'count', descending: true }],
      limit: 20,
    });
    const sort_by = [{ field: 'last_seen', direction: 'asc' }];
    expect(parse({ sort_by }).sort).toEqual([{ field: 'last_seen', descending: false }]);
  });

  it('are refused where there is no such kind or state', () => {
    expect(() => parse({ filter: { kinds: ['failure'] } })).toThrow();
    expect(() => parse({ state: 'closed' })).toThrow();
  });
});
