import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { purgeByIds } from '../../../api/purge.ts';
import { ServiceError } from '../../../core/foundations/wire/index.ts';
import { parseBody } from '../../../core/foundations/wire/parse-body.ts';

const body = z.strictObject({ query: purgeByIds });
const idsOf = (query: unknown) => parseBody(body, JSON.stringify({ query })).query;

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
    expect(idsOf(query)).toEqual(ids);
  });

  it('names up to 1,000 ids', () => {
    const many = (count: number) => expr({ $or: Array.from({ length: count }, (_, i) => eq(`id-${i}`)) });
    expect(idsOf(many(1000))).toHaveLength(1000);
    expect(() => idsOf(many(1001))).toThrow(ServiceError);
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
    expect(() => idsOf(query)).toThrow(expect.objectContaining({ status: 422, detail }));
  });

  it('is refused without a query, and the error says so', () => {
    const detail = [{ loc: ['body', 'query'], msg: 'this field is required', type: 'missing' }];
    expect(() => parseBody(body, '{}')).toThrow(expect.objectContaining({ status: 422, detail }));
  });
});
