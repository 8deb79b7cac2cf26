import { describe, expect, it } from 'vitest';
import { parseQuery, type RecordKind } from '../../../../foundations/expression/index.ts';

const kind: RecordKind = {
  name: 'Thing',
  fields: ['name', 'at', 'data'],
  nested: ['data'],
  times: new Set(['at']),
};
const findProblem = (expression: unknown) => {
  const parsed = parseQuery(kind, { $expr: expression });
  return 'problem' in parsed ? parsed.problem : undefined;
};
const field = { $getField: 'name' };
const time = { $getField: 'at' };

describe('a query that is not an expression is refused with its problem and place', () => {
  it.each<[unknown, string[], string]>([
    [null, [], 'dict_type'],
    ['name', [], 'such as {"$literal": "name"}'],
    [{}, [], 'one operator, not none'],
    [{ $eq: [field, field], $ne: [field, field] }, [], 'one operator, not 2'],
    [{ $like: [field] }, ['$like'], 'there is no operator $like'],
    [{ constructor: [] }, ['constructor'], 'there is no operator constructor'],
    [{ $eq: field }, ['$eq'], 'a list of operands'],
    [{ $eq: [field] }, ['$eq'], 'a list of 2'],
    [{ $gt: [field, field, field] }, ['$gt'], 'a list of 2'],
    [{ $not: [] }, ['$not'], 'a list of 1'],
    [{ $and: field }, ['$and'], 'a list of operands'],
    [{ $and: [{ $or: [{ $eq: [field, 'x'] }] }] }, ['$and', '0', '$or', '0', '$eq', '1'], '"$literal": "x"'],
    [{ $in: [field, field] }, ['$in', '1'], 'a list of operands'],
    [{ $in: [field, [{ $literal: 1 }, 2]] }, ['$in', '1', '1'], 'such as {"$literal": 2}'],
    [{ $getField: 1 }, ['$getField'], 'a dotted path'],
    [{ $getField: '' }, ['$getField'], 'there is no such field'],
    [
      { $getField: '__proto__.x' },
      ['$getField'],
      'the fields are name, at, data, and dotted paths into data',
    ],
    [{ $getField: 'name.x' }, ['$getField'], 'there is nothing below name'],
    [{ $getField: `data.${'x'.repeat(600)}` }, ['$getField'], 'at most 512'],
    [{ $contains: [field, field] }, ['$contains'], 'an object with input, substr'],
    [{ $contains: { input: field } }, ['$contains', 'substr'], 'required'],
    [{ $contains: { input: field, substr: field, flags: 'i' } }, ['$contains', 'flags'], 'no such field'],
    [
      { $contains: { input: field, substr: field, case_insensitive: 1 } },
      ['$contains', 'case_insensitive'],
      'true or false',
    ],
    [{ $convert: { input: field, to: 'date' } }, ['$convert', 'to'], 'double, int, string, bool, exists'],
    [
      { $gt: [time, { $literal: 'soon' }] },
      ['$gt', '1', '$literal'],
      'datetime_parsing should be an ISO 8601',
    ],
    [{ $ne: [{ $literal: true }, time] }, ['$ne', '0', '$literal'], 'or seconds since 1970'],
    [{ $in: [time, [{ $literal: 1 }, { $literal: '' }]] }, ['$in', '1', '1', '$literal'], 'datetime_parsing'],
    [{ $literal: JSON.parse('1e400') }, ['$literal'], 'too large a number'],
  ])('%j', (expression, loc, text) => {
    const problem = findProblem(expression);
    expect(problem?.loc).toEqual(['$expr', ...loc]);
    expect(`${problem?.type} ${problem?.msg}`).toContain(text);
  });

  it('if it is not an object with $expr', () => {
    for (const json of [null, [], 'x', { $and: [] }, {}])
      expect(parseQuery(kind, json)).toHaveProperty('problem');
  });
});

describe('beside a time', () => {
  it.each([null, 0, 1790856000.5, '2026-10-01', '2026-10-01T14:00:00+02:00'])('%j is a literal', (value) => {
    expect(findProblem({ $eq: [time, { $literal: value }] })).toBeUndefined();
    expect(findProblem({ $in: [time, [{ $literal: value }]] })).toBeUndefined();
  });

  it('any text may stand where texts are compared', () => {
    const text = { $literal: '2026-1' };
    expect(findProblem({ $contains: { input: time, substr: text } })).toBeUndefined();
    expect(findProblem({ $lt: [{ $convert: { input: time, to: 'string' } }, text] })).toBeUndefined();
  });
});

describe('a large query', () => {
  const nested = (levels: number): unknown => {
    let expression: unknown = field;
    for (let i = 0; i < levels; i++) expression = { $not: [expression] };
    return expression;
  };

  it('may nest 999 operators and is refused beyond 1,000', () => {
    expect(findProblem(nested(999))).toBeUndefined();
    expect(findProblem(nested(1001))).toMatchObject({ type: 'recursion_loop' });
  });

  it('may have long lists of options and is refused with too many operators', () => {
    const options = Array.from({ length: 50_000 }, (_, i) => ({ $literal: `id-${i}` }));
    expect(findProblem({ $in: [field, options] })).toBeUndefined();
    expect(findProblem({ $or: Array.from({ length: 3000 }, () => ({ $not: [field] })) })).toMatchObject({
      type: 'too_long',
    });
  });
});
