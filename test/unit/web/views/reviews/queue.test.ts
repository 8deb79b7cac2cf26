import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import {
  computeStanding,
  findProblem,
  isFor,
  isOfHeaders,
  parseField,
  type Question,
  reviewsIn,
} from '../../../../../web/views/reviews/queue.ts';

const record = (call: string, user: string, field: string, value: boolean | number | string, n = 0) => ({
  id: `${call} ${user} ${field} ${n}`,
  project_id: 'acme/shop',
  svc_ref: `svc:///acme/shop/call/${call}`,
  feedback_type: `annotation.${field}`,
  payload: { value },
  creator: null,
  svc_user_id: user,
  created_at: `2026-10-01T00:00:0${n}Z`,
});
const calls = ['a', 'b', 'c'].map((id) => ({ id })) as CallRow[];
const queue = { reviews: 2, assignees: undefined };
const openIds = (standing: ReturnType<typeof computeStanding>) => standing.open.map(({ id }) => id).sort();

describe('a queue', () => {
  it('has a call for a person until they have reviewed it, or as many others as it asks for', () => {
    const reviews = reviewsIn([
      record('a', 'ada', 'good', true),
      record('a', 'ada', 'why', 'short'),
      record('b', 'ada', 'good', true),
      record('b', 'bob', 'good', false),
    ]);
    const [ada, cyd] = ['ada', 'cyd'].map((person) => computeStanding(queue, calls, reviews, person));
    expect(ada && openIds(ada)).toEqual(['c']);
    expect(ada).toMatchObject({ own: 2, done: 1 });
    expect(cyd && openIds(cyd)).toEqual(['a', 'c']);
  });

  it('has nothing for whoever is not to review', () => {
    const standing = computeStanding({ reviews: 1, assignees: ['bob'] }, calls, new Map(), 'ada');
    expect(standing.open).toEqual([]);
  });

  it('has an order of its own for everybody, the same each time', () => {
    const many = Array.from({ length: 50 }, (_, n) => ({ id: `call-${n}` })) as CallRow[];
    const getOrder = (person: string) =>
      computeStanding(queue, many, new Map(), person).open.map(({ id }) => id);
    expect(getOrder('ada')).toEqual(getOrder('ada'));
    expect(getOrder('ada')).not.toEqual(getOrder('bob'));
    expect(getOrder('ada').toSorted()).toEqual(getOrder('bob').toSorted());
  });
});

describe('the calls of a queue', () => {
  const field = ($getField: string) => ({ $eq: [{ $getField }, { $literal: { $getField: 'inputs' } }] });

  it('are counted at little cost unless its filter looks into payloads or feedback', () => {
    expect(isOfHeaders(undefined)).toBe(true);
    expect(isOfHeaders({ $expr: { $and: [field('summary.svc.status'), field('attributes.user.id')] } })).toBe(
      true,
    );
    const ofTool = ['attributes.tool.name', 'summary.weave.waited_ms', 'wb_run_id'].map(field);
    expect(isOfHeaders({ $expr: { $or: ofTool } })).toBe(true);
    for (const path of ['inputs.question', 'summary.svc.feedback', 'attributes.tags'])
      expect(isOfHeaders({ $expr: { $and: [field('op_name'), { $not: [field(path)] }] } }), path).toBe(false);
  });
});

describe('reviews', () => {
  it('have the last answer of each person, and belong to a creator before the key', () => {
    const reviews = reviewsIn([
      record('a', 'ada', 'good', true, 1),
      record('a', 'ada', 'good', false, 2),
      { ...record('a', 'ada', 'good', true, 3), creator: 'eve' },
      { ...record('a', 'ada', 'other', true), feedback_type: 'thumbs' },
    ]);
    const people = reviews.get('a');
    expect([...(people?.keys() ?? [])]).toEqual(['ada', 'eve']);
    expect(people?.get('ada')).toEqual({
      values: new Map([['good', false]]),
      records: ['a ada good 1', 'a ada good 2'],
      at: '2026-10-01T00:00:02Z',
    });
  });
});

describe('a field', () => {
  const ref = 'weave:///acme/shop/object/helpful:v0';

  it('is read as Weave’s SDK stores it', () => {
    const value = {
      _type: 'AnnotationSpec',
      _class_name: 'AnnotationSpec',
      _bases: ['Object', 'BaseModel'],
      name: null,
      description: 'Did it help?',
      field_schema: { type: 'integer', minimum: 1, maximum: 5 },
      op_scope: ['weave:///acme/shop/op/chat:*'],
      unique_among_creators: true,
    };
    const field = parseField(ref, value);
    expect(field).toEqual({
      id: 'helpful',
      ref,
      name: 'helpful',
      description: 'Did it help?',
      question: { kind: 'number', whole: true, minimum: 1, maximum: 5 },
      ops: ['weave:///acme/shop/op/chat:*'],
    });
    expect(field && isFor(field, 'weave:///acme/shop/op/chat:abc')).toBe(true);
    expect(field && isFor(field, 'weave:///acme/shop/op/chats:abc')).toBe(false);
    expect(parseField(ref, { ...value, field_schema: { type: 'object' } })).toBeUndefined();
  });

  it.each<[Question, boolean | number | string, string | undefined]>([
    [{ kind: 'boolean' }, true, undefined],
    [{ kind: 'labels', labels: ['a', 'b'] }, 'c', 'should be one of the labels'],
    [{ kind: 'number', whole: true, minimum: 1, maximum: 5 }, 2.5, 'should be a whole number'],
    [{ kind: 'number', whole: false, minimum: 1, maximum: 5 }, 6, 'should be at most 5'],
    [
      { kind: 'number', whole: false, minimum: undefined, maximum: undefined },
      Number.NaN,
      'should be a number',
    ],
    [{ kind: 'text', most: 3 }, 'four', 'should have at most 3 characters'],
  ])('%j takes %j, or says why not', (question, value, problem) => {
    expect(findProblem(question, value)).toBe(problem);
  });
});
