import { describe, expect, it } from 'vitest';
import { getBodySchema } from '../../../../api/endpoint.ts';
import {
  feedbackBatchCreate,
  feedbackCreate,
  feedbackPurge,
  feedbackReplace,
} from '../../../../api/feedback.ts';
import { ServiceError } from '../../../../foundations/wire/index.ts';
import { type BodySchema, parseBody } from '../../../../foundations/wire/schema.ts';
import { callRef, makeFeedback } from '../../../support/values/feedback.ts';

/** The places and kinds of a body's problems. */
const problems = (schema: BodySchema<unknown>, body: unknown): [string, string][] => {
  try {
    parseBody(schema, JSON.stringify(body));
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.status).toBe(422);
    return error.detail.map(({ loc, type }) => [loc.slice(1).join('.'), type]);
  }
};

const create = getBodySchema(feedbackCreate);
const object = 'svc:///acme/shop/object/answer:abc';
const op = 'svc:///acme/shop/op/judge:abc';
const call = callRef('c');

describe('the body of a creation', () => {
  it.each(['project_id', 'svc_ref', 'feedback_type', 'payload'])('requires %s', (field) => {
    const { [field]: _, ...rest } = makeFeedback();
    expect(problems(create, rest)).toEqual([[field, 'missing']]);
  });

  it.each([
    ['svc_ref', [object, `${object}/attr/x/index/0`, op, call, 'svc:///other/one/call/c'], []],
    ['annotation_ref', [object, `${object}/key/a`, null], [op, call]],
    ['runnable_ref', [op, object, null], [call, `${op}/attr/x`]],
    ['call_ref', [call, null], [object, op, `svc:///acme/shop/call/${'x'.repeat(257)}`]],
    ['trigger_ref', [object, null], [op, call]],
  ])('accepts in %s the refs of its kind, and no others', (field, good, bad) => {
    for (const ref of good) expect(problems(create, makeFeedback({ [field]: ref })), String(ref)).toEqual([]);
    for (const ref of [
      ...bad,
      'nothing',
      '',
      'wb:///acme/shop/call/c',
      'svc:///acme/call/c',
      `${object}\u0000`,
    ])
      expect(problems(create, makeFeedback({ [field]: ref })), ref).toEqual([[field, 'value_error']]);
    expect(problems(create, makeFeedback({ [field]: 7 }))).toEqual([[field, 'string_type']]);
  });

  it('with an annotation has a value, and refers to what was asked', () => {
    const answer = (fields: object) =>
      makeFeedback({
        feedback_type: 'annotation.answer',
        annotation_ref: object,
        payload: { value: 1 },
        ...fields,
      });
    expect(problems(create, answer({}))).toEqual([]);
    expect(problems(create, answer({ payload: { value: null, note: 'none' } }))).toEqual([]);
    expect(problems(create, answer({ payload: {} }))).toEqual([['payload', 'value_error']]);
    for (const fields of [{ annotation_ref: null }, { feedback_type: 'wandb.annotation.other' }])
      expect(problems(create, answer(fields))).toEqual([['annotation_ref', 'value_error']]);
  });

  it('lists the refs that a field accepts', () => {
    const bad = () => parseBody(create, JSON.stringify(makeFeedback({ call_ref: object })));
    expect(bad).toThrow('should be a ref such as svc:///acme/shop/call/<call id>');
  });

  it.each([
    [{ payload: [] }, 'payload', 'dict_type'],
    [{ payload: 'text' }, 'payload', 'dict_type'],
    [{ payload: null }, 'payload', 'dict_type'],
    [{ feedback_type: '' }, 'feedback_type', 'value_error'],
    [{ id: '' }, 'id', 'value_error'],
    [{ id: 'a\nb' }, 'id', 'value_error'],
    [{ creator: 7 }, 'creator', 'string_type'],
    [{ creator: 'x'.repeat(1025) }, 'creator', 'value_error'],
    [{ project_id: 'acme' }, 'project_id', 'value_error'],
    [{ feedback_id: 'x' }, 'feedback_id', 'extra_forbidden'],
    [{ created_at: '2026-10-01' }, 'created_at', 'extra_forbidden'],
  ])('refuses %j', (fields, place, type) => {
    expect(problems(create, makeFeedback(fields))).toEqual([[place, type]]);
  });
});

describe('the body of a batch', () => {
  const batch = getBodySchema(feedbackBatchCreate);

  it('names both positions of a repeated id', () => {
    const items = [{}, { id: 'a' }, { id: 'b' }, { id: 'a' }].map(makeFeedback);
    expect(problems(batch, { batch: items })).toEqual([
      ['batch.1.id', 'value_error'],
      ['batch.3.id', 'value_error'],
    ]);
    expect(() => parseBody(batch, JSON.stringify({ batch: items }))).toThrow('stands in item 3 as well');
  });

  it('accepts one id for records of two projects', () => {
    const items = [{ id: 'a' }, { id: 'a', project_id: 'acme/lab' }].map(makeFeedback);
    expect(problems(batch, { batch: items })).toEqual([]);
  });

  it('names the position of any problem', () => {
    const items = [{}, { payload: 1 }, { svc_ref: 'x' }].map(makeFeedback);
    expect(problems(batch, { batch: items })).toEqual([
      ['batch.1.payload', 'dict_type'],
      ['batch.2.svc_ref', 'value_error'],
    ]);
    expect(problems(batch, {})).toEqual([['batch', 'missing']]);
  });
});

describe('the body of a replacement', () => {
  it('requires the id of what it replaces', () => {
    const replace = getBodySchema(feedbackReplace);
    expect(problems(replace, makeFeedback())).toEqual([['feedback_id', 'missing']]);
    expect(problems(replace, makeFeedback({ feedback_id: '' }))).toEqual([['feedback_id', 'value_error']]);
    expect(problems(replace, makeFeedback({ feedback_id: 'a' }))).toEqual([]);
  });
});

describe('the body of a purge', () => {
  it('accepts ids and nothing else', () => {
    const purge = getBodySchema(feedbackPurge);
    const query = { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: 'note' }] } };
    expect(problems(purge, { project_id: 'acme/shop', query })).toEqual([['query', 'value_error']]);
    expect(problems(purge, { project_id: 'acme/shop' })).toEqual([['query', 'missing']]);
  });
});
