import { describe, expect, it } from 'vitest';
import { getBodySchema } from '../../../../../api/endpoint.ts';
import { feedbackQuery } from '../../../../../api/feedback.ts';
import { plan, planSummary } from '../../../../../core/records/feedback/query.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';
import { project } from '../../../../support/values/calls.ts';
import { callRef } from '../../../../support/values/feedback.ts';

const toPlan = (body: object) =>
  plan(parseBody(getBodySchema(feedbackQuery), JSON.stringify({ project_id: project, ...body }))).plan;

const field = (name: string) => ({ $getField: name });
const literal = (value: unknown) => ({ $literal: value });
const eq = (name: string, value: unknown) => ({ $eq: [field(name), literal(value)] });
const where = (...operands: object[]) => ({ query: { $expr: { $and: operands } } });
const among = (name: string, values: unknown[]) => ({ $in: [field(name), values.map(literal)] });
const many = (count: number) => Array.from({ length: count }, (_, i) => `v${i}`);

describe('a plan', () => {
  it.each<[string, object, unknown]>([
    ['nothing', {}, { kind: 'project' }],
    ['an id', where(eq('id', 'a')), { kind: 'ids', values: ['a'] }],
    ['ids', where(among('id', ['a', 'b', 'a', ''])), { kind: 'ids', values: ['a', 'b'] }],
    ['an id among others', where(eq('id', 'a'), eq('svc_ref', 'r')), { kind: 'ids', values: ['a'] }],
    ['two ids that exclude each other', where(eq('id', 'a'), eq('id', 'b')), { kind: 'nothing' }],
    ['a ref', where(eq('svc_ref', callRef('c'))), { kind: 'refs', values: [callRef('c')] }],
    [
      'refs of a type',
      where(among('svc_ref', ['r', 's']), eq('feedback_type', 't')),
      { kind: 'refs', values: ['r', 's'] },
    ],
    ['a type', where({ $eq: [literal('t'), field('feedback_type')] }), { kind: 'types', values: ['t'] }],
    ['either of two', { query: { $expr: { $or: [eq('id', 'a'), eq('id', 'b')] } } }, { kind: 'project' }],
    ['more ids than are looked up', where(among('id', many(1001))), { kind: 'project' }],
    ['more refs than are looked up', where(among('svc_ref', many(201))), { kind: 'project' }],
    ['no id', where(among('id', [])), { kind: 'nothing' }],
    ['no record', { limit: 0 }, { kind: 'nothing' }],
    ['not a ref', where({ $not: [eq('svc_ref', 'r')] }), { kind: 'project' }],
    ['a part of the payload called id', where(eq('payload.id', 'a')), { kind: 'project' }],
  ])('for %s looks where that is', (_name, body, source) => {
    expect(toPlan(body).source).toEqual(source);
  });

  it('keeps to the time that is asked for', () => {
    const between = where(
      { $gte: [field('created_at'), literal('2026-10-01T00:00:00Z')] },
      { $gt: [literal('2026-10-01T00:00:01Z'), field('created_at')] },
    );
    const from = Date.UTC(2026, 9, 1) * 1000;
    expect(toPlan(between)).toMatchObject({ bounds: { from, to: from + 999_999 }, enough: null });
    expect(toPlan({ ...between, limit: 5, offset: 2 }).enough).toBe(7);
    const never = where(
      { $gt: [field('created_at'), literal(2)] },
      { $lt: [field('created_at'), literal(1)] },
    );
    expect(toPlan(never).source).toEqual({ kind: 'nothing' });
  });

  it.each([
    [[], 'free', false],
    [['created_at asc'], 'free', false],
    [['created_at desc'], 'free', true],
    [['created_at desc', 'id asc', 'payload.n asc'], 'free', true],
    [['created_at desc', 'id desc'], 'sort', false],
    [['id asc'], 'sort', false],
    [['payload.n desc'], 'sort', false],
  ])('takes the order %j as the source has it, where it can', (keys, order, descending) => {
    const sort_by = keys.map((key) => ({ field: key.split(' ')[0], direction: key.split(' ')[1] }));
    expect(toPlan({ sort_by })).toMatchObject({ order, descending });
  });

  it.each([
    [{}, true],
    [{ fields: ['id', 'created_at'] }, false],
    [{ fields: ['id', 'payload.n'] }, true],
    [{ fields: ['id'], sort_by: [{ field: 'payload.n', direction: 'asc' }] }, true],
    [{ fields: ['id'], ...where(eq('payload.n', 1)) }, true],
    [{ fields: ['id'], ...where(eq('creator', 'x')) }, false],
  ])('for %j knows whether payloads are needed', (body, payloads) => {
    expect(toPlan(body).payloads).toBe(payloads);
  });

  it('is logged without ids, refs or literals', () => {
    const summary = planSummary(
      toPlan(where(eq('id', 'secret'), eq('payload.x', 'secret'), eq('creator', 'secret'))),
    );
    expect(summary).toMatchObject({
      source: '1 ids',
      onHeaders: ['$eq(id, ?)', '$eq(creator, ?)'],
      onPayloads: ['$eq(payload.x, ?)'],
    });
    expect(JSON.stringify(summary)).not.toContain('secret');
  });
});
