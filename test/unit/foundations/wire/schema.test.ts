import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { callBatch, callStart } from '../../../../api/calls.ts';
import { getBodySchema } from '../../../../api/endpoint.ts';
import { callsStreamQuery } from '../../../../api/queries.ts';
import { type ErrorDetail, ServiceError } from '../../../../foundations/wire/index.ts';
import {
  type BodySchema,
  integerWith,
  listSchema,
  parseBody,
  parseTolerantly,
} from '../../../../foundations/wire/schema.ts';

const startBody = getBodySchema(callStart);
const batchBody = callBatch();
const queryBody = getBodySchema(callsStreamQuery);
const start = { project_id: 'acme/shop', op_name: 'op', started_at: '2026-10-01T00:00:00Z' };

const problems = (schema: BodySchema<unknown>, body: unknown): readonly ErrorDetail[] => {
  try {
    parseBody(schema, typeof body === 'string' ? body : JSON.stringify(body));
  } catch (error) {
    if (error instanceof ServiceError && error.status === 422) return error.detail;
    throw error;
  }
  return [];
};
const problemsOfStart = (fields: object) => problems(startBody, { start: { ...start, ...fields } });
const at = (...path: string[]) => ['body', ...path];

describe('a body that is not JSON', () => {
  it.each([
    ['', [], 'is empty'],
    ['\ufeff{}', ['0'], 'begins with a byte order mark'],
    ['{', ['1'], 'from character 1 on'],
    ['{"start": [1, 2', ['15'], 'from character 15 on'],
    ['{"a":1}x', ['7'], 'from character 7 on'],
    ['{"start": nope}', [], 'unexpected o in it'],
    ['"open', ['5'], 'from character 5 on'],
    ['xat position 99', [], 'unexpected x in it'],
  ])('%j is refused with the position of the error', (text, place, msg) => {
    expect(problems(startBody, text)).toEqual([
      { loc: ['body', ...place], msg: expect.stringContaining(msg), type: 'json_invalid' },
    ]);
  });

  it.each(['[]', 'null', '1', '"text"', 'true'])('%s is refused because it is not an object', (text) => {
    expect(problems(startBody, text)).toMatchObject([{ loc: ['body'], type: 'dict_type' }]);
  });
});

describe('a start', () => {
  it.each<[object, string, string]>([
    [{ op_name: undefined }, 'op_name', 'missing'],
    [{ op_name: null }, 'op_name', 'string_type'],
    [{ op_name: 7 }, 'op_name', 'string_type'],
    [{ op_name: '' }, 'op_name', 'value_error'],
    [{ op_name: 'a\u0001b' }, 'op_name', 'value_error'],
    [{ op_name: 'x'.repeat(1025) }, 'op_name', 'value_error'],
    [{ display_name: '\ud800' }, 'display_name', 'value_error'],
    [{ project_id: 'acme' }, 'project_id', 'value_error'],
    [{ project_id: 'acme/..' }, 'project_id', 'value_error'],
    [{ id: '' }, 'id', 'value_error'],
    [{ id: 'x'.repeat(257) }, 'id', 'value_error'],
    [{ id: 'a\nb' }, 'id', 'value_error'],
    [{ started_at: 'yesterday' }, 'started_at', 'datetime_parsing'],
    [{ started_at: 1790812800 }, 'started_at', 'string_type'],
    [{ inputs: [] }, 'inputs', 'dict_type'],
    [{ attributes: 'x' }, 'attributes', 'dict_type'],
    [{ svc_run_step: 1.5 }, 'svc_run_step', 'int_type'],
    [{ svc_run_step: 2 ** 53 }, 'svc_run_step', 'less_than_equal'],
    [{ svc_user_id: 7 }, 'svc_user_id', 'string_type'],
    [{ surprise: 1 }, 'surprise', 'extra_forbidden'],
    [{ ['k'.repeat(5000)]: 1 }, `${'k'.repeat(200)}…`, 'extra_forbidden'],
    [{ wb_run_id: 'x' }, 'wb_run_id', 'extra_forbidden'],
  ])('with %j is told of %s: %s', (fields, field, type) => {
    expect(problemsOfStart(fields)).toMatchObject([{ loc: at('start', field), type }]);
  });

  it('is refused with all its problems at once', () => {
    const found = problems(startBody, { start: { op_name: 1, surprise: 2 } });
    expect(new Set(found.map(({ loc }) => loc.at(-1)))).toEqual(
      new Set(['project_id', 'op_name', 'started_at', 'surprise']),
    );
  });

  it('is refused if it nests too deeply, but not with 500 levels', () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const withInputs = (inputs: string) => JSON.stringify({ start }).replace('}}', `,"inputs":${inputs}}}`);
    expect(problems(startBody, withInputs(nested(500)))).toEqual([]);
    expect(problems(startBody, withInputs(nested(513)))).toMatchObject([
      { loc: at('start', 'inputs'), type: 'recursion_loop' },
    ]);
    expect(problems(startBody, withInputs(nested(100_000)))).toMatchObject([{ type: 'recursion_loop' }]);
  });

  it('is refused with a number beyond doubles, but not with the largest double', () => {
    const withInputs = (inputs: string) => JSON.stringify({ start }).replace('}}', `,"inputs":${inputs}}}`);
    expect(problems(startBody, withInputs('{"a":[1e308,-1e308,5e-324]}'))).toEqual([]);
    expect(problems(startBody, withInputs('{"a":[1e400]}'))).toMatchObject([
      { loc: at('start', 'inputs'), type: 'finite_number' },
    ]);
  });

  it('accepts null for every optional field, and a user id that is not its own', () => {
    const optional = [
      'id',
      'display_name',
      'trace_id',
      'parent_id',
      'thread_id',
      'turn_id',
      'attributes',
      'inputs',
      'svc_run_id',
    ];
    expect(
      problemsOfStart({
        ...Object.fromEntries(optional.map((field) => [field, null])),
        svc_user_id: 'mallory',
      }),
    ).toEqual([]);
  });
});

describe('a batch', () => {
  const batch = (...items: unknown[]) => problems(batchBody, { batch: items });

  it('names the wrong item by its position', () => {
    const good = { mode: 'start', req: { start } };
    expect(batch(good, { mode: 'start', req: { start: { ...start, op_name: undefined } } })).toMatchObject([
      { loc: at('batch', '1', 'req', 'start', 'op_name'), type: 'missing' },
    ]);
    expect(batch({ mode: 'end', req: { end: { project_id: 'a/b', ended_at: '2026-10-01' } } })).toMatchObject(
      [{ loc: at('batch', '0', 'req', 'end', 'id'), type: 'missing' }],
    );
  });

  it('accepts starts and ends and nothing else', () => {
    expect(batch({ mode: 'stop', req: {} })).toMatchObject([
      { loc: at('batch', '0', 'mode'), type: 'union_tag_invalid' },
    ]);
    expect(batch({ mode: 'start', req: { end: {} } })).not.toEqual([]);
    expect(batch('x')).toMatchObject([{ loc: at('batch', '0') }]);
    expect(batch()).toEqual([]);
  });

  it('is refused with the first hundred places if it is wrong everywhere', () => {
    expect(batch(...Array.from({ length: 500 }, () => ({ mode: 'start', req: { start: {} } })))).toHaveLength(
      100,
    );
  });
});

describe('a query', () => {
  const query = (fields: object) => problems(queryBody, { project_id: 'acme/shop', ...fields });

  it.each<[object, string[], string]>([
    [{ limit: -1 }, ['limit'], 'greater_than_equal'],
    [{ limit: 1.5 }, ['limit'], 'int_type'],
    [{ limit: '10' }, ['limit'], 'int_type'],
    [{ offset: -5 }, ['offset'], 'greater_than_equal'],
    [{ filter: { op_name: [] } }, ['filter', 'op_name'], 'extra_forbidden'],
    [{ filter: { wb_user_ids: [] } }, ['filter', 'wb_user_ids'], 'extra_forbidden'],
    [{ filter: { op_names: 'x' } }, ['filter', 'op_names'], 'list_type'],
    [{ filter: { svc_run_ids: [1] } }, ['filter', 'svc_run_ids', '0'], 'string_type'],
    [{ columns: ['id', 'nope.x'] }, ['columns', '1'], 'value_error'],
    [{ columns: [`inputs${'.a'.repeat(300)}`] }, ['columns', '0'], 'string_too_long'],
    [{ columns: Array.from({ length: 501 }, () => 'id') }, ['columns'], 'too_long'],
    [{ sort_by: [{ field: 'started_at', direction: 'up' }] }, ['sort_by', '0', 'direction'], 'literal_error'],
    [{ sort_by: [{ field: 'nope', direction: 'asc' }] }, ['sort_by', '0', 'field'], 'value_error'],
    [
      { sort_by: [{ field: 'storage_size_bytes', direction: 'asc' }] },
      ['sort_by', '0', 'field'],
      'value_error',
    ],
    [{ query: { $expr: {} } }, ['query', '$expr'], 'value_error'],
    [{ query: {} }, ['query', '$expr'], 'missing'],
    [{ query: { $expr: { $and: [] }, limit: 1 } }, ['query', 'limit'], 'extra_forbidden'],
    [{ include_costs: 'yes' }, ['include_costs'], 'bool_type'],
    [{ expand_columns: ['x'] }, ['expand_columns', '0'], 'value_error'],
  ])('with %j is told of %j: %s', (fields, path, type) => {
    expect(query(fields)).toMatchObject([{ loc: at(...path), type }]);
  });

  it('may leave out every field but the project, or set it to null', () => {
    expect(query({})).toEqual([]);
    expect(
      query({
        filter: null,
        limit: null,
        offset: null,
        sort_by: null,
        query: null,
        columns: null,
        include_costs: false,
      }),
    ).toEqual([]);
  });
});

describe('the size that a record was received as', () => {
  it('is that of its JSON', () => {
    const record = { ...start, inputs: { a: 'é' }, attributes: {}, svc_run_id: 'r' };
    const parsed = parseBody(startBody, JSON.stringify({ start: record })).start;
    const payload =
      Buffer.byteLength(JSON.stringify(record.inputs)) + Buffer.byteLength(JSON.stringify(record.attributes));
    expect(parsed.envelopeBytes + payload).toBe(Buffer.byteLength(JSON.stringify(record)));
    const bare = parseBody(startBody, JSON.stringify({ start })).start;
    expect(bare.envelopeBytes + '{}{}'.length).toBe(Buffer.byteLength(JSON.stringify(start)));
  });
});

const schema = z.strictObject({
  name: z.string(),
  list: z.optional(z.array(z.strictObject({ id: z.int(), more: z.optional(z.strictObject({})) }))),
});

describe('a body with unknown fields', () => {
  it('is read without them, and they are named once each', () => {
    const body = {
      name: 'a',
      x: 1,
      list: [
        { id: 1, y: [2] },
        { id: 2, y: 3, more: { z: {} } },
      ],
    };
    expect(parseTolerantly(schema, body)).toEqual({
      value: { name: 'a', list: [{ id: 1 }, { id: 2, more: {} }] },
      passedOver: ['list.*.y', 'list.*.more.z', 'x'],
    });
  });

  it('is refused for what else is wrong with it, and for nothing more', () => {
    expect.assertions(1);
    try {
      parseTolerantly(schema, { name: 1, x: 1 });
    } catch (error) {
      expect(error instanceof ServiceError && error.detail).toEqual([
        { loc: ['body', 'name'], msg: 'should be a string', type: 'string_type' },
      ]);
    }
  });

  it('may call one __proto__', () => {
    const body: unknown = JSON.parse('{"name":"a","__proto__":{"polluted":1}}');
    expect(parseTolerantly(schema, body)).toEqual({ value: { name: 'a' }, passedOver: ['__proto__'] });
  });
});

it('a body without any is read as ever', () => {
  expect(parseTolerantly(schema, { name: 'a' })).toEqual({ value: { name: 'a' }, passedOver: [] });
});

describe('a bound', () => {
  const value = (schema: z.ZodMiniType) => z.strictObject({ value: schema });
  const list = z.array(z.number());

  it.each<[string, z.ZodMiniType, unknown, msg: string, type: string]>([
    ['a short list', listSchema(z.number(), 9, { least: 2 }), [1], 'should be at least 2 items', 'too_short'],
    ['an empty list', listSchema(z.number(), 9, { least: 1 }), [], 'should not be empty', 'too_short'],
    [
      'a long list',
      listSchema(z.number(), 1, { noun: 'ids' }),
      [1, 2],
      'should be at most 1 ids',
      'too_long',
    ],
    ['a bare short list', list.check(z.minLength(2)), [1], 'should have at least 2 items', 'too_short'],
    ['a bare long list', list.check(z.maxLength(1)), [1, 2], 'should have at most 1 items', 'too_long'],
    ['its own words', list.check(z.maxLength(1, 'one is enough')), [1, 2], 'one is enough', 'too_long'],
    ['a text', z.string().check(z.minLength(1)), '', 'should have at least 1 characters', 'string_too_short'],
    [
      'a long text',
      z.string().check(z.maxLength(1)),
      'ab',
      'should have at most 1 characters',
      'string_too_long',
    ],
    ['a low number', integerWith(z.minimum(1)), 0, 'should be 1 or more', 'greater_than_equal'],
    ['a high number', integerWith(z.maximum(1)), 2, 'should be 1 or less', 'less_than_equal'],
    ['an exclusive bound', z.number().check(z.gt(0)), 0, 'should be more than 0', 'greater_than'],
    ['the other one', z.number().check(z.lt(1)), 1, 'should be less than 1', 'less_than'],
  ])('of %s is named', (_, schema, wrong, msg, type) => {
    expect(problems(value(schema), { value: wrong })).toEqual([{ loc: at('value'), msg, type }]);
  });
});
