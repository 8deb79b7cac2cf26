import { describe, expect, it } from 'vitest';
import { getBodySchema } from '../../../../../api/endpoint.ts';
import { callsStreamQuery } from '../../../../../api/queries.ts';
import { type Plan, plan, planSummary } from '../../../../../core/questions/query/index.ts';
import { maxIds } from '../../../../../core/questions/query/plan.ts';
import { parseTime } from '../../../../../foundations/wire/index.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';

const schema = getBodySchema(callsStreamQuery);

const now = parseTime('2026-11-01T12:00:00Z') ?? 0;

/** The plan for a request's body. */
const toPlan = (body: object): Plan =>
  plan(parseBody(schema, JSON.stringify({ project_id: 'acme/airline', ...body })), now).plan;

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `id-${i}`);
const field = (path: string) => ({ $getField: path });
const literal = (value: unknown) => ({ $literal: value });
const op = (operator: string, left: object, right: object) => ({ [operator]: [left, right] });
const where = (...all: object[]) => ({ query: { $expr: { $and: all } } });
const noon = '2026-10-01T12:00:00Z';
const noonMicros = parseTime(noon) ?? 0;
const later = (operator: string, time: unknown = noon) => op(operator, field('started_at'), literal(time));

type Case = [name: string, body: object, expected: Partial<Plan>];

const project = { kind: 'project', levels: ['roots', 'nested'] } as const;
const errors = { kind: 'errors' } as const;
const roots = { kind: 'project', levels: ['roots'] } as const;
const nothing = { kind: 'nothing' } as const;

const sources: Case[] = [
  [
    'everything: the project in order of time',
    {},
    { source: project, order: 'free', descending: false, bounds: {} },
  ],
  ['a limit of 0: nothing is read', { limit: 0 }, { source: nothing }],
  ['an empty list: nothing is read', { filter: { op_names: [] } }, { source: nothing }],
  ['an empty list beside a full one', { filter: { call_ids: ['a'], svc_run_ids: [] } }, { source: nothing }],
  [
    'ids: by id, each once',
    { filter: { call_ids: ['a', 'b', 'a'] } },
    { source: { kind: 'calls', ids: ['a', 'b'] } },
  ],
  [
    'ids win over everything else',
    { filter: { call_ids: ['a'], trace_ids: ['t'], thread_ids: ['h'] } },
    { source: { kind: 'calls', ids: ['a'] } },
  ],
  [
    'what can be no id: nothing is read',
    { filter: { parent_ids: ['x'.repeat(3000), '\ud800'] } },
    { source: nothing },
  ],
  ['a trace: its index', { filter: { trace_ids: ['t'] } }, { source: { kind: 'traces', ids: ['t'] } }],
  [
    'a trace wins over a thread',
    { filter: { trace_ids: ['t'], thread_ids: ['h'] } },
    { source: { kind: 'traces', ids: ['t'] } },
  ],
  ['a parent: its trace', { filter: { parent_ids: ['p'] } }, { source: { kind: 'parents', ids: ['p'] } }],
  [
    'a turn: its thread',
    { filter: { turn_ids: ['u'], thread_ids: ['h'] } },
    { source: { kind: 'turns', ids: ['u'] } },
  ],
  ['a thread: its index', { filter: { thread_ids: ['h'] } }, { source: { kind: 'threads', ids: ['h'] } }],
  [
    'too many ids to look up: they are a filter',
    { filter: { call_ids: many(maxIds.calls + 1) } },
    { source: project, onHeaders: ['callIds'] },
  ],
  [
    'too many traces, few threads: threads',
    { filter: { trace_ids: many(maxIds.others + 1), thread_ids: ['h'] } },
    { source: { kind: 'threads', ids: ['h'] } },
  ],
  [
    'an id in a query',
    where(op('$eq', field('id'), literal('a'))),
    { source: { kind: 'calls', ids: ['a'] } },
  ],
  [
    'an id, the other way round',
    where(op('$eq', literal('a'), field('id'))),
    { source: { kind: 'calls', ids: ['a'] } },
  ],
  [
    'ids in a list',
    { query: { $expr: { $in: [field('id'), [literal('a'), literal('b')]] } } },
    { source: { kind: 'calls', ids: ['a', 'b'] } },
  ],
  [
    'ids in filter and query: those in both',
    { filter: { call_ids: ['a', 'b'] }, ...where({ $in: [field('id'), [literal('b'), literal('c')]] }) },
    { source: { kind: 'calls', ids: ['b'] } },
  ],
  [
    'ids that exclude each other: nothing is read',
    where(op('$eq', field('trace_id'), literal('a')), op('$eq', field('trace_id'), literal('b'))),
    { source: nothing },
  ],
  [
    'a trace in an AND in an AND',
    where({ $and: [op('$eq', field('trace_id'), literal('t'))] }, op('$eq', field('op_name'), literal('x'))),
    { source: { kind: 'traces', ids: ['t'] } },
  ],
  [
    'a thread in a query',
    where(op('$eq', field('thread_id'), literal('h'))),
    { source: { kind: 'threads', ids: ['h'] } },
  ],
  [
    'a parent in a query',
    where(op('$eq', field('parent_id'), literal('p'))),
    { source: { kind: 'parents', ids: ['p'] } },
  ],
  [
    'a turn in a query',
    where(op('$eq', field('turn_id'), literal('u'))),
    { source: { kind: 'turns', ids: ['u'] } },
  ],
  [
    'ids of which one or the other may hold: no place',
    where({ $or: [op('$eq', field('id'), literal('a')), op('$eq', field('id'), literal('b'))] }),
    { source: project },
  ],
  ['an id that is not', where({ $not: [op('$eq', field('id'), literal('a'))] }), { source: project }],
  [
    'roots: their partitions',
    { filter: { trace_roots_only: true } },
    { source: roots, onHeaders: ['traceRootsOnly'] },
  ],
  [
    'calls without a parent: the same',
    where(op('$eq', literal(null), field('parent_id'))),
    { source: roots },
  ],
  [
    'the same in other words',
    where(
      { $in: [field('parent_id'), [literal(null)]] },
      { $not: [{ $convert: { input: field('parent_id'), to: 'exists' } }] },
    ),
    { source: roots },
  ],
  [
    'calls with a parent: theirs',
    where(op('$ne', field('parent_id'), literal(null))),
    { source: { kind: 'project', levels: ['nested'] } },
  ],
  [
    'roots with a parent: nothing is read',
    { filter: { trace_roots_only: true }, ...where(op('$ne', field('parent_id'), literal(null))) },
    { source: nothing },
  ],
  [
    'a trace’s roots: the trace',
    { filter: { trace_ids: ['t'], trace_roots_only: true } },
    { source: { kind: 'traces', ids: ['t'] } },
  ],
  [
    'roots or others: no level',
    where({ $or: [op('$eq', field('parent_id'), literal(null)), op('$eq', field('op_name'), literal('x'))] }),
    { source: project },
  ],
  [
    'errors by their status: their index',
    where(op('$eq', field('summary.svc.status'), literal('error'))),
    { source: errors, onHeaders: ['$eq(summary.svc.status, ?)'], required: [] },
  ],
  [
    'errors by their exception: the same, without their payloads',
    where(op('$ne', field('exception'), literal(null))),
    { source: errors, onHeaders: ['$eq(summary.svc.status, ?)'], required: [] },
  ],
  [
    'roots that failed: the index of errors',
    {
      filter: { trace_roots_only: true },
      ...where({ $in: [field('summary.svc.status'), [literal('error')]] }),
    },
    { source: errors },
  ],
  [
    'what did not fail: the project, without its payloads',
    where({ $or: [op('$eq', field('exception'), literal(null)), { $not: [field('op_name')] }] }),
    { source: project, required: [] },
  ],
  [
    'an exception of some words: the project, with its payloads',
    where({ $contains: { input: field('exception'), substr: literal('x') } }),
    { source: project, required: ['payload'] },
  ],
  [
    'an exception that is a ref and is expanded: the project',
    { expand_columns: ['exception'], ...where(op('$ne', field('exception'), literal(null))) },
    { source: project, required: ['expanded'] },
  ],
  [
    'errors or others: no place',
    where({ $in: [field('summary.svc.status'), [literal('error'), literal('success')]] }),
    { source: project },
  ],
  [
    'errors of a thread: the thread',
    { filter: { thread_ids: ['h'] }, ...where(op('$eq', field('summary.svc.status'), literal('error'))) },
    { source: { kind: 'threads', ids: ['h'] } },
  ],
  [
    'ids or none: no place',
    where({ $in: [field('parent_id'), [literal('p'), literal(null)]] }),
    { source: project, onHeaders: ['$in(parent_id, 2)'] },
  ],
];

const bounds: Case[] = [
  ['from a time on', where(later('$gte')), { bounds: { from: noonMicros } }],
  ['after a time', where(later('$gt')), { bounds: { from: noonMicros + 1 } }],
  ['before a time', where(later('$lt')), { bounds: { to: noonMicros - 1 } }],
  ['up to a time', where(later('$lte')), { bounds: { to: noonMicros } }],
  ['at a time', where(later('$eq')), { bounds: { from: noonMicros, to: noonMicros } }],
  [
    'a time on the left',
    where(op('$lt', literal(noon), field('started_at'))),
    { bounds: { from: noonMicros + 1 } },
  ],
  ['seconds since 1970', where(later('$gte', noonMicros / 1e6)), { bounds: { from: noonMicros } }],
  [
    'several bounds: the narrowest',
    where(later('$gte'), later('$gt', '2026-10-01T11:00:00Z'), {
      $and: [later('$lt', '2026-10-01T13:00:00Z')],
    }),
    { bounds: { from: noonMicros, to: noonMicros + 3_600_000_000 - 1 } },
  ],
  ['a span without time: nothing is read', where(later('$gt'), later('$lt')), { source: nothing }],
  ['bounds within an OR: none', where({ $or: [later('$gt'), later('$lt')] }), { bounds: {} }],
  ['null: no bound', where(later('$gt', null)), { bounds: {}, onHeaders: ['$gt(started_at, null)'] }],
  [
    'bounds on a thread',
    { filter: { thread_ids: ['h'] }, ...where(later('$gt')) },
    { source: { kind: 'threads', ids: ['h'] }, bounds: { from: noonMicros + 1 } },
  ],
];

const orders: Case[] = [
  [
    'the newest 100: no more rows than that',
    { limit: 100, offset: 5, sort_by: [{ field: 'started_at', direction: 'desc' }] },
    { enough: 105, order: 'free', descending: true },
  ],
  [
    'the default order, spelt out',
    {
      sort_by: [
        { field: 'started_at', direction: 'asc' },
        { field: 'id', direction: 'asc' },
      ],
    },
    { order: 'free' },
  ],
  [
    'the newest first, their ids backwards too, as the index has them',
    {
      limit: 100,
      sort_by: [
        { field: 'started_at', direction: 'desc' },
        { field: 'id', direction: 'desc' },
      ],
    },
    { enough: 100, order: 'free', descending: true, idsDescending: true },
  ],
  [
    'the oldest first with ids backwards: a sort',
    {
      sort_by: [
        { field: 'started_at', direction: 'asc' },
        { field: 'id', direction: 'desc' },
      ],
    },
    { order: 'sort', descending: false, idsDescending: false },
  ],
  [
    'the first 10 of a span: its bounds drop none',
    { limit: 10, ...where(later('$gte')) },
    { enough: 10, bounds: { from: noonMicros } },
  ],
  [
    'a limit with a filter: nobody knows how many rows',
    { limit: 100, filter: { op_names: ['x'] } },
    { enough: null },
  ],
  [
    'the newest 100 roots: no more rows than that',
    { limit: 100, filter: { trace_roots_only: true } },
    { enough: 100, source: roots },
  ],
  [
    'the newest 100 errors: no more rows than that',
    { limit: 100, ...where(op('$ne', field('exception'), literal(null))) },
    { enough: 100, source: errors },
  ],
  [
    'a limit with roots of a thread: the index does not keep them apart',
    { limit: 100, filter: { trace_roots_only: true, thread_ids: ['h'] } },
    { enough: null },
  ],
  [
    'a limit with a sort: all rows',
    { limit: 10, sort_by: [{ field: 'op_name', direction: 'asc' }] },
    { enough: null, order: 'sort' },
  ],
  [
    'a sort by what the header says: no payload to sort it',
    { limit: 10, sort_by: [{ field: 'summary.svc.latency_ms', direction: 'desc' }] },
    { order: 'sort', required: [], answered: ['payload'] },
  ],
  [
    'a sort by a path into the payload',
    { limit: 10, columns: ['id'], sort_by: [{ field: 'inputs.model', direction: 'asc' }] },
    { order: 'sort', required: ['payload'], answered: [] },
  ],
  [
    'a sort by tokens: payloads of those alone in whose header they do not fit',
    { columns: [], sort_by: [{ field: 'summary.usage.gpt-4o.total_tokens', direction: 'desc' }] },
    { required: ['usage'] },
  ],
  [
    'ties by something else',
    {
      sort_by: [
        { field: 'started_at', direction: 'asc' },
        { field: 'op_name', direction: 'asc' },
      ],
    },
    { order: 'sort' },
  ],
];

const needs: Case[] = [
  [
    'op policy: headers decide',
    { filter: { op_names: ['x:*'] } },
    { source: project, onHeaders: ['opNames'], later: [] },
  ],
  [
    'users and runs: headers decide',
    { filter: { svc_user_ids: ['u'], svc_run_ids: ['r'] } },
    { onHeaders: ['userIds', 'runIds'] },
  ],
  [
    'refs in the inputs: payloads decide',
    { filter: { input_refs: ['svc:///a/b/object/x:1'] }, columns: ['id'] },
    { onHeaders: [], later: ['inputRefs'], required: ['payload'], answered: [] },
  ],
  [
    'refs in a trace: headers first',
    { filter: { trace_ids: ['t'], output_refs: ['r'] } },
    { onHeaders: ['traceIds'], later: ['outputRefs'] },
  ],
  ['columns of the header: no payload', { columns: ['id', 'ended_at', 'thread_id'] }, { answered: [] }],
  ['a path into the payload: payloads', { columns: ['inputs.model'] }, { answered: ['payload'] }],
  ["the service's part of the summary: no payload", { columns: ['summary.svc'] }, { answered: [] }],
  ['no columns at all: no payload', { columns: [] }, { answered: [] }],
  [
    'errors: headers decide',
    { columns: [], ...where(op('$eq', field('summary.svc.status'), literal('error'))) },
    { onHeaders: ['$eq(summary.svc.status, ?)'], later: [], required: [] },
  ],
  [
    'slower than 5 s, of one op: headers decide',
    {
      columns: [],
      ...where(
        op('$gt', field('summary.svc.latency_ms'), literal(5000)),
        op('$eq', field('op_name'), literal('x')),
      ),
    },
    { onHeaders: ['$gt(summary.svc.latency_ms, ?)', '$eq(op_name, ?)'], required: [] },
  ],
  [
    'headers and payload: each decides what it can',
    where(op('$eq', field('svc_run_id'), literal('r')), {
      $contains: { input: field('inputs.q'), substr: literal('x') },
    }),
    { onHeaders: ['$eq(svc_run_id, ?)'], later: ['$contains(inputs.q, ?)'], required: ['payload'] },
  ],
  [
    'either of both: the payload decides',
    where({ $or: [op('$eq', field('op_name'), literal('x')), op('$eq', field('inputs.q'), literal(1))] }),
    { onHeaders: [], later: ['$or($eq(op_name, ?), $eq(inputs.q, ?))'] },
  ],
  ['costs: what usage rides along', { columns: ['id'], include_costs: true }, { answered: ['costs'] }],
  [
    'feedback and sizes',
    { columns: [], include_feedback: true, include_storage_size: true, include_total_storage_size: true },
    { answered: ['feedback', 'totalSize'] },
  ],
  [
    'expanded refs: in filter and answer',
    {
      columns: ['inputs.model'],
      expand_columns: ['inputs.model'],
      ...where(op('$eq', field('inputs.model.name'), literal('x'))),
    },
    { required: ['expanded'], answered: ['expanded'] },
  ],
  [
    'expanded refs: in the filter alone',
    {
      columns: ['inputs.model'],
      expand_columns: ['inputs.model'],
      return_expanded_column_values: false,
      ...where(op('$eq', field('inputs.model.name'), literal('x'))),
    },
    { required: ['expanded'], answered: ['payload'] },
  ],
];

const totals = { include_trace_totals: true, columns: [] };
const day = 86_400_000_000;
const totalCost = field('summary.svc.trace_totals.total_cost');
const tenDays = where(later('$gte'), later('$lt', '2026-10-11T12:00:00Z'));
const overTenDays = { span: { from: noonMicros, to: noonMicros + 11 * day - 1 }, scans: true };

const traces: Case[] = [
  ['nobody who does not ask for totals', tenDays, { totals: null, answered: ['payload'] }],
  [
    'the answer alone: over a day more than the range',
    { ...totals, ...tenDays },
    { totals: overTenDays, required: [], answered: ['traceTotals'] },
  ],
  [
    'an order: before the cut',
    { ...totals, ...tenDays, sort_by: [{ field: totalCost.$getField, direction: 'desc' }] },
    { totals: overTenDays, required: ['traceTotals'] },
  ],
  [
    'a condition: after the headers',
    { ...totals, ...where(later('$gte'), op('$gt', totalCost, literal(1))) },
    {
      totals: { span: { from: noonMicros }, scans: true },
      later: ['$gt(summary.svc.trace_totals.total_cost, ?)'],
      required: ['traceTotals'],
    },
  ],
  [
    'errors below roots',
    {
      ...totals,
      ...where(later('$gte'), op('$eq', field('summary.svc.status'), literal('descendant_error'))),
    },
    { source: project, required: ['traceTotals'] },
  ],
  [
    'errors, which roots have whatever is below them',
    { ...totals, ...where(later('$gte'), op('$eq', field('summary.svc.status'), literal('error'))) },
    { source: errors, required: [], answered: ['traceTotals'] },
  ],
  [
    'a status without totals: what the client counted',
    { columns: [], ...where(op('$eq', field('summary.svc.status'), literal('descendant_error'))) },
    { totals: null, required: [] },
  ],
  [
    'ids of calls: their traces, whenever they were',
    { ...totals, filter: { call_ids: ['a'] } },
    { source: { kind: 'calls', ids: ['a'] }, totals: { span: {}, scans: false } },
  ],
  [
    'a thousand traces: each by its index',
    { ...totals, filter: { trace_ids: many(1000) } },
    { source: { kind: 'traces', ids: many(1000) }, totals: { span: {}, scans: false } },
  ],
  [
    'traces within years',
    { ...totals, filter: { trace_ids: ['t'] }, ...where(later('$gte', '2020-01-01')) },
    { totals: { span: { from: parseTime('2020-01-01') ?? 0 }, scans: false } },
  ],
  [
    '31 days to the microsecond',
    { ...totals, ...where(later('$gte'), later('$lte', '2026-11-01T12:00:00Z')) },
    { totals: { span: { from: noonMicros, to: noonMicros + 32 * day }, scans: true } },
  ],
  [
    '31 days until now',
    { ...totals, ...where(later('$gte')) },
    { totals: { span: { from: noonMicros }, scans: true } },
  ],
];

describe('a plan for totals of traces', () => {
  it.each<[string, object]>([
    ['without a range', {}],
    ['of a thread without a range', { filter: { thread_ids: ['h'] } }],
    ['without a begin', where(later('$lt'))],
    ['over more than 31 days until now', where(later('$gte', '2026-10-01T11:59:59Z'))],
    ['over more than 31 days', where(later('$gte'), later('$lt', '2026-11-01T12:00:01Z'))],
    ['with bounds that are alternatives', where({ $or: [later('$gte')] }, later('$lt'))],
    ['of more than 1,000 calls', { filter: { call_ids: many(1001) } }],
    ['of more than 1,000 traces', { filter: { trace_ids: many(1001) } }],
  ])('%s is refused, with what is needed', (_, body) => {
    expect(() => toPlan({ ...totals, ...body })).toThrow(
      expect.objectContaining({
        status: 422,
        detail: [
          {
            loc: ['body', 'include_trace_totals'],
            msg: 'needs a range of started_at of at most 31 days in query, from a $gte or $gt on, or at most 1000 call_ids or trace_ids',
            type: 'value_error',
          },
        ],
      }),
    );
  });

  it('has them in the language of queries only if they are asked for', () => {
    expect(() => toPlan(where(op('$gt', totalCost, literal(1))))).toThrow(
      expect.objectContaining({
        detail: [expect.objectContaining({ msg: expect.stringContaining('include_trace_totals: true') })],
      }),
    );
  });
});

const slowest = { sort_by: [{ field: 'summary.svc.latency_ms', direction: 'desc' }], limit: 20 };
const dearest = {
  sort_by: [{ field: 'summary.svc.costs.gpt-4o.completion_tokens_total_cost', direction: 'asc' }],
  limit: 100,
};
const longest = { sort_by: [{ field: 'summary.usage.gpt-4o.total_tokens', direction: 'desc' }], limit: 1 };
const orderOf = (body: object) => toPlan(body).extremes?.order;

const extremes: Case[] = [
  ['the slowest calls', slowest, { extremes: { order: expect.any(String), priced: false } }],
  [
    'the slowest roots of a range',
    { ...slowest, filter: { trace_roots_only: true }, ...where(later('$gte')) },
    {
      extremes: { order: String(orderOf({ ...slowest, filter: { trace_roots_only: true } })), priced: false },
    },
  ],
  [
    'the dearest calls, by prices',
    { ...dearest, include_costs: true },
    { extremes: { order: expect.any(String), priced: true } },
  ],
  ['the most tokens', longest, { extremes: { order: expect.any(String), priced: false } }],
  [
    'sources',
    { ...slowest, filter: { sources: ['test', 'judge'] } },
    {
      extremes: {
        order: String(orderOf({ ...slowest, filter: { sources: ['judge', 'test'] } })),
        priced: false,
      },
    },
  ],
  ['more than 100', { ...slowest, offset: 81 }, { extremes: null }],
  ['all', { ...slowest, limit: null }, { extremes: null }],
  ['an operation', { ...slowest, filter: { op_names: ['a'] } }, { extremes: null }],
  ['a thread', { ...slowest, filter: { thread_ids: ['a'] } }, { extremes: null }],
  [
    'errors',
    { ...slowest, ...where(op('$eq', field('summary.svc.status'), literal('error'))) },
    { extremes: null },
  ],
  ['a condition', { ...slowest, ...where(op('$eq', field('op_name'), literal('a'))) }, { extremes: null }],
  [
    'two keys',
    { ...slowest, sort_by: [...slowest.sort_by, { field: 'id', direction: 'asc' }] },
    { extremes: null },
  ],
  ['another order', { ...slowest, sort_by: [{ field: 'op_name', direction: 'asc' }] }, { extremes: null }],
  ['replaced refs', { ...longest, expand_columns: ['summary'] }, { extremes: null }],
];

describe.each([
  ['adds up traces for', traces],
  ['knows the first calls of finished days, or not, for', extremes],
  ['looks for calls at', sources],
  ['keeps to the span of', bounds],
  ['orders', orders],
  ['reads for', needs],
])('a plan %s', (_, cases) => {
  it.each(cases)('%s', (_name, body, expected) => {
    expect(toPlan(body)).toMatchObject(expected);
  });
});

describe('a plan', () => {
  it('has a short form for the log, without ids or literals', () => {
    const body = {
      filter: { trace_ids: ['t1', 't2'] },
      ...where(op('$eq', field('op_name'), literal('secret'))),
    };
    const summary = planSummary(toPlan(body));
    expect(summary).toMatchObject({ source: '2 traces', index: 'by_trace', order: 'free' });
    expect(JSON.stringify(summary)).not.toMatch(/t1|secret/);
    expect(planSummary(toPlan({}))).toMatchObject({ source: 'project', index: 'by_time' });
    expect(planSummary(toPlan({ filter: { trace_roots_only: true } }))).toMatchObject({ source: 'roots' });
  });
});
