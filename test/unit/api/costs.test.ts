import { describe, expect, it } from 'vitest';
import { costCreate, costQuery } from '../../../api/costs.ts';
import { bodyOf } from '../../../api/endpoint.ts';
import { type ErrorDetail, ServiceError } from '../../../core/foundations/wire/index.ts';
import { type BodySchema, parseBody } from '../../../core/foundations/wire/parse-body.ts';
import { bodyInWeave } from '../../../weave/api/changes.ts';

const costCreateBody = bodyOf(costCreate);
const costQueryBody = bodyOf(costQuery);
const weaveCreateBody = bodyInWeave(costCreate.path, costCreateBody);

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
  it('have those of cached tokens in Weave’s dialect alone, where 0 says nothing', () => {
    const said = { cache_read_input_token_cost: 1e-7, cache_creation_input_token_cost: 0 };
    const { costs } = parseBody(weaveCreateBody, createText({ m: { ...price, ...said } }));
    expect(costs.m).toMatchObject({ cacheReadTokenCost: 1e-7, cacheWriteTokenCost: undefined });
    expect(problemsOfPrice(said)).toHaveLength(2);
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
  const problemsOf = (fields: object) =>
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
    expect(problemsOf(fields)).toEqual([{ loc: ['body', ...place], msg, type }]);
  });
});
