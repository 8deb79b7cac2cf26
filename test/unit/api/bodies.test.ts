import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { costCreate, costQuery } from '../../../api/costs.ts';
import { getBodySchema } from '../../../api/endpoint.ts';
import { purgeByIds } from '../../../api/purge.ts';
import { callsStats, callsUsage } from '../../../api/stats.ts';
import { threadsStreamQuery } from '../../../api/threads.ts';
import { type ErrorDetail, ServiceError } from '../../../foundations/wire/index.ts';
import { type BodySchema, parseBody, parseValue } from '../../../foundations/wire/schema.ts';

const costCreateBody = getBodySchema(costCreate);
const costQueryBody = getBodySchema(costQuery);

const problems = (schema: BodySchema<unknown>, body: string): readonly ErrorDetail[] => {
  try {
    parseBody(schema, body);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 422) return error.detail;
    throw error;
  }
  return [];
};
const price = { prompt_token_cost: 1e-6, completion_token_cost: 2e-6 };
const createText = (costs: unknown) => JSON.stringify({ project_id: 'acme/shop', costs });
const problemsOfPrice = (fields: object) =>
  problems(costCreateBody, createText({ m: { ...price, ...fields } }));

describe('prices to create', () => {
  it('may have those of cached tokens, which cost what others do without them', () => {
    const cachePrices = { cache_read_input_token_cost: 1e-7, cache_creation_input_token_cost: 0 };
    const { costs } = parseBody(costCreateBody, createText({ m: { ...price, ...cachePrices }, n: price }));
    expect(costs.m).toMatchObject({ cacheReadTokenCost: 1e-7, cacheWriteTokenCost: 0 });
    expect(costs.n).toMatchObject({ cacheReadTokenCost: null, cacheWriteTokenCost: null });
  });

  it.each<[object, string, string]>([
    [{ prompt_token_cost: undefined }, 'prompt_token_cost', 'missing'],
    [{ prompt_token_cost: null }, 'prompt_token_cost', 'float_type'],
    [{ prompt_token_cost: '1' }, 'prompt_token_cost', 'float_type'],
    [{ completion_token_cost: -1e-9 }, 'completion_token_cost', 'greater_than_equal'],
    [{ completion_token_cost: 1e10 }, 'completion_token_cost', 'less_than_equal'],
    [{ effective_date: 'soon' }, 'effective_date', 'datetime_parsing'],
    [{ provider_id: '' }, 'provider_id', 'value_error'],
    [{ prompt_token_cost_unit: 'a\nb' }, 'prompt_token_cost_unit', 'value_error'],
    [{ completion_token_cost_unit: 7 }, 'completion_token_cost_unit', 'string_type'],
    [{ llm_id: 'm' }, 'llm_id', 'extra_forbidden'],
  ])('%j is told what is wrong', (fields, field, type) => {
    expect(problemsOfPrice(fields)).toMatchObject([{ loc: ['body', 'costs', 'm', field], type }]);
  });

  it('must be finite', () => {
    const text = createText({ m: price }).replace('0.000001', '1e400');
    expect(problems(costCreateBody, text)).toMatchObject([
      { loc: ['body', 'costs', 'm', 'prompt_token_cost'], type: 'float_type' },
    ]);
  });

  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, price]));
  it.each<[string, unknown, string[], string, string]>([
    ['no costs', undefined, ['costs'], 'missing', 'required'],
    ['a list', [price], ['costs'], 'dict_type', 'object'],
    ['no model', {}, ['costs'], 'too_short', 'at least one'],
    ['too many models', many(101), ['costs'], 'too_long', 'at most 100'],
    ['a model without a name', { '': price }, ['costs', ''], 'value_error', '1 to 256 printable'],
    [
      'a model with a long name',
      { ['x'.repeat(257)]: price },
      ['costs', `${'x'.repeat(200)}…`],
      'value_error',
      '1 to 256 printable',
    ],
    [
      'a model with a control character',
      { 'a\u0000b': price },
      ['costs', 'a\u0000b'],
      'value_error',
      '1 to 256 printable',
    ],
    ['a price that is none', { m: 7 }, ['costs', 'm'], 'dict_type', 'object'],
    ['the name of a prototype', JSON.parse('{"__proto__": {}}'), ['costs'], 'value_error', '__proto__'],
  ])('with %s are refused', (_name, costs, place, type, msg) => {
    expect(problems(costCreateBody, createText(costs))).toEqual([
      { loc: ['body', ...place], msg: expect.stringContaining(msg), type },
    ]);
  });

  it('accept a hundred models, also with names that every object has as keys', () => {
    const names = { ...many(98), constructor: price, toString: price };
    expect(Object.keys(parseBody(costCreateBody, createText(names)).costs)).toHaveLength(100);
  });
});

describe('a query for prices', () => {
  const findProblems = (fields: object) =>
    problems(costQueryBody, JSON.stringify({ project_id: 'acme/shop', ...fields }));

  const allFields = expect.stringMatching(/"id", "llm_id", .*"provider_id"/);
  it.each<[object, string[], string, unknown]>([
    [{ fields: ['id', 'price'] }, ['fields', '1'], 'literal_error', allFields],
    [
      { sort_by: [{ field: 'model', direction: 'asc' }] },
      ['sort_by', '0', 'field'],
      'value_error',
      expect.stringContaining('the fields are id, llm_id,'),
    ],
    [
      { sort_by: [{ field: 'id', direction: 'up' }] },
      ['sort_by', '0', 'direction'],
      'literal_error',
      expect.anything(),
    ],
    [{ sort_by: [{ field: 'id' }] }, ['sort_by', '0', 'direction'], 'missing', expect.anything()],
    [
      { sort_by: Array.from({ length: 51 }, () => ({ field: 'id', direction: 'asc' })) },
      ['sort_by'],
      'too_long',
      'should be at most 50 keys',
    ],
    [{ limit: -1 }, ['limit'], 'greater_than_equal', expect.anything()],
    [{ offset: 1.5 }, ['offset'], 'int_type', expect.anything()],
    [{ query: { $expr: { $like: [] } } }, ['query', '$expr', '$like'], 'value_error', expect.anything()],
    [{ filter: {} }, ['filter'], 'extra_forbidden', expect.anything()],
    [{ project_id: 'acme' }, ['project_id'], 'value_error', expect.anything()],
  ])('%j is told what is wrong', (fields, place, type, msg) => {
    expect(findProblems(fields)).toEqual([{ loc: ['body', ...place], msg, type }]);
  });
});

const body = z.strictObject({ query: purgeByIds });
const parseIds = (query: unknown) => parseBody(body, JSON.stringify({ query })).query;

const field = { $getField: 'id' };
const eq = (id: unknown) => ({ $eq: [field, { $literal: id }] });
const expr = (operation: unknown) => ({ $expr: operation });

describe('a purge', () => {
  it.each<[string, unknown, string[]]>([
    ['an id', expr(eq('a')), ['a']],
    ['an id, its operands the other way round', expr({ $eq: [{ $literal: 'a' }, field] }), ['a']],
    ['ids', expr({ $or: [eq('a'), { $eq: [{ $literal: 'b' }, field] }] }), ['a', 'b']],
    ['an id twice', expr({ $or: [eq('a'), eq('b'), eq('a')] }), ['a', 'b']],
    ['nothing', expr({ $or: [] }), []],
    ['an id that looks like a field', expr(eq('$getField')), ['$getField']],
  ])('names %s', (_name, query, ids) => {
    expect(parseIds(query)).toEqual(ids);
  });

  it('names up to 1,000 ids', () => {
    const many = (count: number) => expr({ $or: Array.from({ length: count }, (_, i) => eq(`id-${i}`)) });
    expect(parseIds(many(1000))).toHaveLength(1000);
    expect(() => parseIds(many(1001))).toThrow(ServiceError);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['text', 'id'],
    ['a list', [expr(eq('a'))]],
    ['nothing', {}],
    ['no $expr', eq('a')],
    ['more than $expr', { ...expr(eq('a')), more: 1 }],
    ['another field', expr({ $eq: [{ $getField: 'llm_id' }, { $literal: 'a' }] })],
    ['two fields', expr({ $eq: [field, field] })],
    ['two literals', expr({ $eq: [{ $literal: 'id' }, { $literal: 'a' }] })],
    ['one operand', expr({ $eq: [field] })],
    ['three operands', expr({ $eq: [field, { $literal: 'a' }, { $literal: 'b' }] })],
    ['a number', expr(eq(7))],
    ['an empty id', expr(eq(''))],
    ['another operator', expr({ $gt: [field, { $literal: 'a' }] })],
    ['$and', expr({ $and: [eq('a')] })],
    ['$or in $or', expr({ $or: [{ $or: [eq('a')] }] })],
    ['$or beside $eq', expr({ $or: [eq('a')], ...eq('b') })],
    ['an $or with anything else in it', expr({ $or: [eq('a'), { $not: [eq('b')] }] })],
    ['$or of no list', expr({ $or: eq('a') })],
    ['inherited operators', JSON.parse('{"$expr": {"__proto__": {"$or": []}}}')],
  ])('by %s is told how to name ids', (_name, query) => {
    const detail = [
      { loc: ['body', 'query'], msg: expect.stringContaining('"$getField": "id"'), type: 'value_error' },
    ];
    expect(() => parseIds(query)).toThrow(expect.objectContaining({ status: 422, detail }));
  });

  it('is refused without a query, and the error says so', () => {
    const detail = [{ loc: ['body', 'query'], msg: 'this field is required', type: 'missing' }];
    expect(() => parseBody(body, '{}')).toThrow(expect.objectContaining({ status: 422, detail }));
  });
});

const schema = getBodySchema(callsStats);
const callsUsageBody = getBodySchema(callsUsage);
const good = { project_id: 'acme/shop', start: '2026-10-01', end: '2026-11-01' };

const refusal = (change: object): string => {
  try {
    parseValue(schema, { ...good, ...change });
    return 'taken';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.detail.map(({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`).join('; ');
  }
};

describe('the body of /calls/stats', () => {
  it.each([
    [
      { timezone: 'Mars/Olympus' },
      'timezone should be the IANA name of a time zone, such as UTC or Europe/Berlin',
    ],
    [{ granularity: 0 }, expect.stringContaining('granularity should be 1 or more')],
    [
      { granularity: 90_000 },
      'granularity should be seconds: less than 86400, or whole days such as 86400 or 604800 for a week',
    ],
    [{ granularity: 2 }, 'granularity makes more than 10000 buckets: write more seconds, such as 21600'],
    [{ end: '2026-09-30' }, 'end should be later than start'],
    [
      { start: '2200-01-01', end: null },
      'start should be earlier than now, where the buckets end without an end',
    ],
    [{ group_by: ['op_name', 'status', 'thread_id'] }, 'group_by should be at most 2 fields'],
    [{ group_by: ['status', 'status'] }, 'group_by should name each field once'],
    [
      { group_by: ['preview'] },
      expect.stringContaining(
        'group_by.0 there is no such field; the fields are agent, tool, status, source, id,',
      ),
    ],
    [
      { call_metrics: [{ metric: 'latency_ms', percentiles: [101] }] },
      'call_metrics.0.percentiles.0 should be 100 or less',
    ],
    [
      { usage_metrics: [{ metric: 'tokens' }] },
      expect.stringContaining('usage_metrics.0.metric should be one of "input_tokens"'),
    ],
    [
      { call_metrics: [{ metric: 'call_count', aggregations: ['median'] }] },
      expect.stringContaining('should be one of "sum"'),
    ],
  ])('with %j says what to write instead', (change, expected) => {
    expect(refusal(change)).toEqual(expected);
  });
});

describe('the body of /calls/usage', () => {
  it('takes a thousand ids, each once, and no more', () => {
    const ids = Array.from({ length: 1000 }, (_, i) => `c${i}`);
    const body = { project_id: 'acme/shop', call_ids: [...ids.slice(1), 'c1'] };
    expect(parseValue(callsUsageBody, body).callIds).toEqual(ids.slice(1));
    expect(() => parseValue(callsUsageBody, { ...body, call_ids: [...ids, 'more'] })).toThrow(
      'at most 1000 ids',
    );
  });

  it('takes the traces of the calls, none if they are not given', () => {
    const body = { project_id: 'acme/shop', call_ids: ['a'] };
    expect(parseValue(callsUsageBody, body).traceIds).toEqual([]);
    expect(parseValue(callsUsageBody, { ...body, trace_ids: ['t', 't', 'u'] }).traceIds).toEqual(['t', 'u']);
  });
});

const threadsBody = getBodySchema(threadsStreamQuery);
const parse = (body: object) => parseBody(threadsBody, JSON.stringify(body));
const project_id = 'acme/shop';

const findProblems = (body: object) => {
  try {
    parse(body);
  } catch (error) {
    if (error instanceof ServiceError) return error.detail;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('the body of a query over threads', () => {
  it('names the sortable fields when it sorts by another one', () => {
    expect(findProblems({ project_id, sort_by: [{ field: 'first_turn_id', direction: 'asc' }] })).toEqual([
      {
        loc: ['body', 'sort_by', '0', 'field'],
        msg: 'should be one of "thread_id", "turn_count", "start_time", "last_updated", "p50_turn_duration_ms", "p99_turn_duration_ms"',
        type: 'literal_error',
      },
    ]);
  });

  it.each<[string, object, string[], string]>([
    ['no project', { project_id: undefined }, ['project_id'], 'missing'],
    ['a project that is none', { project_id: 'acme' }, ['project_id'], 'value_error'],
    [
      'a direction that is none',
      { sort_by: [{ field: 'thread_id', direction: 'up' }] },
      ['sort_by', '0', 'direction'],
      'literal_error',
    ],
    ['no direction', { sort_by: [{ field: 'thread_id' }] }, ['sort_by', '0', 'direction'], 'missing'],
    ['a negative limit', { limit: -1 }, ['limit'], 'greater_than_equal'],
    ['a broken offset', { offset: 1.5 }, ['offset'], 'int_type'],
    [
      'a time that is none',
      { filter: { after_datetime: 'yesterday' } },
      ['filter', 'after_datetime'],
      'datetime_parsing',
    ],
    [
      'a time as a number',
      { filter: { before_datetime: 1790812800 } },
      ['filter', 'before_datetime'],
      'string_type',
    ],
    ['an id that is no text', { filter: { thread_ids: [1] } }, ['filter', 'thread_ids', '0'], 'string_type'],
    ['a filter of calls', { filter: { op_names: [] } }, ['filter', 'op_names'], 'extra_forbidden'],
    ['a field of calls', { columns: [] }, ['columns'], 'extra_forbidden'],
  ])('with %s is refused', (_name, changes, loc, type) => {
    expect(findProblems({ project_id, ...changes })).toMatchObject([{ loc: ['body', ...loc], type }]);
  });
});
