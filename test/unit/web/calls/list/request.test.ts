import { describe, expect, it } from 'vitest';
import type { CallsQuery } from '../../../../../web/api/contract.ts';
import {
  advanced,
  atStart,
  newerThan,
  nextPage,
  reportedSince,
  scorePaths,
  toOperation,
  toRequest,
} from '../../../../../web/calls/list/request.ts';
import { costTest } from '../../../../../web/calls/list/usage.ts';
import { parseTracesSearch } from '../../../../../web/navigation/search.ts';

const now = Date.parse('2026-10-01T12:00:00Z');
const project = 'acme/shop';

describe('the request of the list', () => {
  it('asks for the newest roots by what headers say', () => {
    expect(toRequest({ project }, now)).toEqual({
      project_id: project,
      filter: { trace_roots_only: true, sources: ['production'] },
      sort_by: [{ field: 'started_at', direction: 'desc' }],
      columns: [
        'display_name',
        'parent_id',
        'thread_id',
        'turn_id',
        'ended_at',
        'svc_user_id',
        'summary.svc',
        'attributes.kind',
        'attributes.tool.name',
        'attributes.agent.name',
        'attributes.user.id',
        'preview',
      ],
    });
  });

  it('begins at the start of a range that ends now', () => {
    expect(toRequest({ project, range: '1h' }, now).query).toEqual({
      $expr: { $and: [{ $gte: [{ $getField: 'started_at' }, { $literal: '2026-10-01T11:00:00.000Z' }] }] },
    });
  });

  it.each([
    [{}, { trace_roots_only: true, sources: ['production'] }],
    [{ source: 'judge' }, { trace_roots_only: true, sources: ['judge'] }],
    [{ source: 'all' }, { trace_roots_only: true }],
    [{ source: 'production', all: true }, { sources: ['production'] }],
    [{ source: 'all', all: true }, undefined],
  ])('is about production unless the URL says otherwise: %j', (asked, filter) => {
    expect(toRequest(parseTracesSearch({ project, ...asked }), now).filter).toEqual(filter);
  });

  it('reaches scores by their paths, and shows them from the feedback', () => {
    const path = 'feedback.[correct].payload.value';
    const search = parseTracesSearch({
      project,
      columns: [path],
      where: [{ path: 'feedback.[helpful].payload.value', op: 'below', value: '0.5' }],
      sort: `-${path}`,
    });
    // The service reads the feedback on all calls of the time.
    expect(search.range).toBe('7d');
    expect(scorePaths(search)).toEqual([path, 'feedback.[helpful].payload.value']);
    const { columns, include_feedback, query, sort_by } = toRequest(search, now);
    expect([include_feedback, columns?.includes(path)]).toEqual([true, false]);
    expect(sort_by).toEqual([{ field: path, direction: 'desc' }]);
    expect(JSON.stringify(query)).toContain('"feedback.[helpful].payload.value"},{"$literal":0.5}');
  });

  it('finds a text where it was said, and where it is repeated only if asked', () => {
    const parts = (search: object) => {
      const { query } = toRequest(parseTracesSearch({ project, text: 'a', ...search }), now);
      return JSON.stringify(query);
    };
    expect(parts({})).toContain('inputs.messages');
    expect(parts({ repeated: true })).not.toContain('inputs.messages');
  });

  it('asks for costs only where they are shown', () => {
    expect(toRequest({ project }, now)).not.toHaveProperty('include_costs');
    expect(toRequest({ project, all: true }, now)).toHaveProperty('include_costs', true);
    const where = [{ path: 'summary.svc.costs.m.requests', op: 'above', value: '1' }] as const;
    expect(toRequest({ project, where }, now)).toHaveProperty('include_costs', true);
  });
});

describe('a condition', () => {
  it.each(['thread_id', 'svc_user_id', 'id', 'op_name', 'display_name', 'exception'])(
    'on %s compares with a text, whatever it looks like',
    (path) => {
      const literal = (value: string) => toOperation({ path, op: 'is', value });
      const field = { $getField: path };
      expect(literal('17')).toEqual({ $eq: [field, { $literal: '17' }] });
      expect(literal('null')).toEqual({ $eq: [field, { $literal: 'null' }] });
      expect(literal('"17"')).toEqual({ $eq: [field, { $literal: '17' }] });
    },
  );

  it('looks for a text also as JSON has it, if that is another', () => {
    const contains = (substr: string) => ({
      $contains: {
        input: { $convert: { input: { $getField: 'inputs' }, to: 'string' } },
        substr: { $literal: substr },
        case_insensitive: true,
      },
    });
    const sought = (value: string) => toOperation({ path: 'inputs', op: 'contains', value });
    expect(sought('hello')).toEqual(contains('hello'));
    expect(sought('"hello"')).toEqual({ $or: [contains('"hello"'), contains('\\"hello\\"')] });
  });

  it('asks whether there is no value by comparing with null', () => {
    expect(toOperation({ path: 'exception', op: 'is missing', value: '' })).toEqual({
      $eq: [{ $getField: 'exception' }, { $literal: null }],
    });
  });
});

describe('a condition on the cost', () => {
  const where = (op: string, value = '') =>
    parseTracesSearch({ project, where: [{ path: 'cost', op, value }] }).where;

  it.each([
    ['above', '0.01', [0.02]],
    ['below', '0.01', [0]],
    ['exists', '', [0, 0.01, 0.02]],
    ['is missing', '', [undefined]],
  ])('that is %s %s tests rows by their figures, and asks the service nothing', (op, value, kept) => {
    const search = { project, where: where(op, value) ?? [] };
    const test = costTest(search);
    const usage = (amount: number | undefined) => {
      const cost = amount === undefined ? undefined : new Map([['USD', amount]]);
      return { usage: { input: 1, output: 1, total: 2, cached: 0, reasoning: 0, cost } };
    };
    expect([undefined, 0, 0.01, 0.02].filter((cost) => test?.(usage(cost)))).toEqual(kept);
    expect(toRequest(search, now)).not.toHaveProperty('query');
  });

  it('is dropped if it cannot be told', () => {
    expect([where('contains', '1'), where('above', 'much'), where('above')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('the next page', () => {
  const request = toRequest({ project }, now);

  it('goes on at the time of the last row, after those of the same moment', () => {
    const at = (second: number) => ({ started_at: `2026-10-01T10:00:0${second}Z` });
    const cursor = advanced(advanced(atStart, [at(2), at(1), at(1)]), [at(1)]);
    expect(nextPage(request, cursor)).toMatchObject({
      limit: 100,
      offset: 3,
      query: {
        $expr: { $and: [{ $lte: [{ $getField: 'started_at' }, { $literal: '2026-10-01T10:00:01Z' }] }] },
      },
    });
  });

  it('skips all rows in any other order', () => {
    const sorted = toRequest({ project, sort: '-summary.svc.latency_ms' }, now);
    expect(nextPage(sorted, advanced(atStart, [{ started_at: '2026-10-01T10:00:02Z' }]))).toMatchObject({
      offset: 1,
      limit: 100,
    });
  });

  it('of the live mode begins after the newest row', () => {
    expect(newerThan(request, '2026-10-01T10:00:02Z').query).toEqual({
      $expr: { $and: [{ $gt: [{ $getField: 'started_at' }, { $literal: '2026-10-01T10:00:02Z' }] }] },
    });
  });
});

describe('what was reported since a moment', () => {
  const request = toRequest({ project }, now);
  const since = Date.parse('2026-10-01T10:00:00Z');
  const at = (operator: string, path: string, literal: string) => ({
    [operator]: [{ $getField: path }, { $literal: literal }],
  });
  const first = ({ query }: CallsQuery) => ((query?.$expr ?? {}) as { $and?: unknown[] }).$and?.[0];

  it('started 15 minutes before it at most, and has just started or ended', () => {
    expect(reportedSince(request, since)).toMatchObject({
      limit: 2000,
      query: {
        $expr: {
          $and: [
            at('$gte', 'started_at', '2026-10-01T09:45:00.000Z'),
            {
              $or: [
                at('$gte', 'started_at', '2026-10-01T09:58:00.000Z'),
                at('$gte', 'ended_at', '2026-10-01T09:58:00.000Z'),
              ],
            },
          ],
        },
      },
    });
  });

  it('is no older than the rows that are there', () => {
    const oldest = Date.parse('2026-10-01T09:59:00Z');
    expect(first(reportedSince(request, since, oldest))).toEqual(
      at('$gte', 'started_at', '2026-10-01T09:59:00.000Z'),
    );
  });
});

describe('a URL', () => {
  it('gives the state of the list', () => {
    const where = [{ path: 'inputs.model', op: 'is', value: 'm' }];
    expect(parseTracesSearch({ project, all: true, where, sort: '-ended_at' })).toEqual({
      project,
      all: true,
      where,
      sort: '-ended_at',
    });
  });

  it('loses what is not understood, and nothing else', () => {
    const where = [{ path: 'a', op: 'resembles' }, { path: 'b', op: 'exists' }, 7];
    expect(
      parseTracesSearch({ project, range: '3y', status: 'error', where, text: 17, live: 'yes' }),
    ).toEqual({
      project,
      text: '17',
      where: [{ path: 'b', op: 'exists', value: '' }],
    });
  });
});
