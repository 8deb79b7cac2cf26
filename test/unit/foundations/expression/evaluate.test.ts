import { describe, expect, it } from 'vitest';
import { compile, parseQuery, type RecordKind, valueAt } from '../../../../foundations/expression/index.ts';
import type { JsonObject, JsonValue } from '../../../../foundations/wire/index.ts';

const kind: RecordKind = {
  name: 'Thing',
  fields: ['name', 'data', 'at', 'none'],
  nested: ['data'],
  times: new Set(['at']),
};

const record: JsonObject = {
  name: 'answer',
  at: '2026-10-01T12:00:00.000001Z',
  none: null,
  data: {
    one: 1,
    half: 0.5,
    zero: 0,
    text: 'Ünïcode 😀 text',
    digits: ' 12.9 ',
    empty: '',
    yes: true,
    no: false,
    null: null,
    list: [1, 'two', { three: 3 }],
    object: { a: 1, b: [2] },
    'gpt-4.1': { total: 7 },
    emptyList: [],
  },
};

const field = (path: string) => ({ $getField: path });
const literal = (value: JsonValue) => ({ $literal: value });
const convert = (input: object, to: string) => ({ $convert: { input, to } });

const holds = (expression: object): boolean => {
  const parsed = parseQuery(kind, { $expr: expression });
  if ('problem' in parsed) throw new Error(JSON.stringify(parsed.problem));
  return compile<JsonObject>(
    kind,
    parsed.expression,
    (path) => (from) => valueAt(from[path.field], path.steps),
  )(record);
};

describe('a comparison', () => {
  it.each<[string, JsonValue, JsonValue, string]>([
    ['numbers as numbers', 10, 9, '$gt'],
    ['texts by code point', '😀', '\uffff', '$gt'],
    ['false before true', true, false, '$gt'],
    ['equal numbers', 1, 1.0, '$gte'],
    ['lists as JSON', [1, { a: 1 }], [1, { a: 1 }], '$eq'],
    ['objects whatever the order of their keys', { a: 1, b: 2 }, { b: 2, a: 1 }, '$eq'],
    ['different types as different', 1, '1', '$ne'],
    ['a list and an object as different', [], {}, '$ne'],
  ])('takes %s', (_, left, right, operator) => {
    expect(holds({ [operator]: [literal(left), literal(right)] })).toBe(true);
  });

  it.each(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte'])('%s with a missing value is false', (operator) => {
    for (const missing of ['data.nope', 'data.null', 'none', 'data.list.7', 'data.one.x']) {
      expect(holds({ [operator]: [field(missing), literal(1)] })).toBe(false);
      expect(holds({ [operator]: [literal('x'), field(missing)] })).toBe(false);
    }
  });

  it.each(['$gt', '$gte', '$lt', '$lte'])('%s of different types, lists or objects is false', (operator) => {
    for (const other of [1, true, [1], { a: 1 }])
      expect(holds({ [operator]: [field('data.text'), literal(other)] })).toBe(false);
    expect(holds({ [operator]: [field('data.list'), field('data.list')] })).toBe(false);
  });

  it('with a null literal tests whether there is a value', () => {
    expect(holds({ $eq: [field('data.nope'), literal(null)] })).toBe(true);
    expect(holds({ $eq: [literal(null), field('none')] })).toBe(true);
    expect(holds({ $ne: [field('none'), literal(null)] })).toBe(false);
    expect(holds({ $ne: [field('data.zero'), literal(null)] })).toBe(true);
  });

  it('reads a literal beside a time as a time', () => {
    const at = (operator: string, value: JsonValue) => holds({ [operator]: [field('at'), literal(value)] });
    expect(at('$eq', '2026-10-01T14:00:00.000001+02:00')).toBe(true);
    expect(at('$gt', '2026-10-01T12:00:00Z')).toBe(true);
    expect(at('$lt', 1790856000.00001)).toBe(true);
    expect(holds({ $lt: [literal('2026-10-01'), field('at')] })).toBe(true);
    expect(holds({ $in: [field('at'), [literal(7), literal('2026-10-01T12:00:00.000001')]] })).toBe(true);
  });
});

describe('$and, $or and $not', () => {
  it('accept operands as operations: false, 0, empty texts and missing values are false', () => {
    for (const falsy of ['data.no', 'data.zero', 'data.empty', 'data.null', 'data.nope'])
      expect(holds({ $or: [field(falsy)] })).toBe(false);
    for (const truthy of ['data.yes', 'data.half', 'data.text', 'data.emptyList', 'data.object'])
      expect(holds({ $and: [field(truthy), literal('x')] })).toBe(true);
    expect(holds({ $not: [field('data.nope')] })).toBe(true);
    expect(holds(literal('x'))).toBe(true);
  });

  it('of no operands are true and false, as all and any of an empty list', () => {
    expect([holds({ $and: [] }), holds({ $or: [] })]).toEqual([true, false]);
  });

  it('can be compared, being true or false', () => {
    expect(holds({ $eq: [{ $not: [field('data.no')] }, literal(true)] })).toBe(true);
  });
});

describe('$in', () => {
  it('holds if one option is equal', () => {
    expect(holds({ $in: [field('name'), [literal('x'), literal('answer')]] })).toBe(true);
    expect(holds({ $in: [field('name'), []] })).toBe(false);
    expect(holds({ $in: [field('data.one'), [literal('1'), field('data.zero')]] })).toBe(false);
    expect(holds({ $in: [field('data.object'), [literal({ b: [2], a: 1 })]] })).toBe(true);
    expect(holds({ $in: [field('none'), [literal(null)]] })).toBe(true);
  });
});

describe('$contains', () => {
  const contains = (input: object, substr: JsonValue, insensitive = false) =>
    holds({ $contains: { input, substr: literal(substr), case_insensitive: insensitive } });

  it('finds a text in a text, and an item in a list', () => {
    expect(contains(field('data.text'), '😀')).toBe(true);
    expect(contains(field('data.text'), 'ünÏCODE')).toBe(false);
    expect(contains(field('data.text'), 'ünÏCODE', true)).toBe(true);
    expect(contains(field('data.list'), 'two')).toBe(true);
    expect(contains(field('data.list'), { three: 3 })).toBe(true);
    expect(contains(field('data.list'), 'tw')).toBe(false);
    expect(contains(field('data.one'), 1)).toBe(false);
    expect(contains(field('data.text'), '')).toBe(true);
    expect(contains(field('data.nope'), '')).toBe(false);
  });

  it('reads a text as a text, not as an expression', () => {
    for (const text of ['.*', '(', '[a-z]+', '\\']) expect(contains(field('data.text'), text)).toBe(false);
  });
});

describe('$convert', () => {
  it.each<[path: string, to: string, expected: JsonValue]>([
    ['data.digits', 'double', 12.9],
    ['data.digits', 'int', 12],
    ['data.yes', 'double', 1],
    ['data.half', 'int', 0],
    ['data.half', 'string', '0.5'],
    ['data.yes', 'string', 'true'],
    ['data.object', 'string', '{"a":1,"b":[2]}'],
    ['data.zero', 'bool', false],
    ['data.half', 'bool', true],
    ['data.one', 'exists', true],
    ['data.null', 'exists', false],
    ['data.nope', 'exists', false],
    ['data.empty', 'exists', true],
  ])('of %s to %s', (path, to, expected) => {
    expect(holds({ $eq: [convert(field(path), to), literal(expected)] })).toBe(true);
  });

  it.each([
    ['data.text', 'double'],
    ['data.empty', 'int'],
    ['data.object', 'double'],
    ['data.text', 'bool'],
    ['data.null', 'string'],
  ])('of %s to %s gives nothing', (path, to) => {
    expect(holds({ $eq: [convert(field(path), to), literal(null)] })).toBe(true);
  });

  it.each(['0x10', 'Infinity', '1e999', '--1', '1_000'])('does not read the text %s as a number', (text) => {
    expect(holds({ $eq: [convert(literal(text), 'double'), literal(null)] })).toBe(true);
  });
});

describe('$getField', () => {
  it('descends into objects and lists, through keys with dots', () => {
    expect(holds({ $eq: [field('data.list.2.three'), literal(3)] })).toBe(true);
    expect(holds({ $eq: [field('data.gpt-4.1.total'), literal(7)] })).toBe(true);
    expect(holds({ $eq: [field('data.list.length'), literal(null)] })).toBe(true);
  });

  it.each([
    'data.__proto__',
    'data.constructor',
    'data.constructor.name',
    'data.list.__proto__',
    'data.text.length',
  ])('finds nothing at %s', (path) => {
    expect(holds({ $eq: [field(path), literal(null)] })).toBe(true);
  });
});
