import { describe, expect, it } from 'vitest';
import { getPresence, parseQuery, type RecordKind } from '../../../../foundations/expression/index.ts';

const kind: RecordKind = { name: 'Some', fields: ['a', 'b'], nested: ['a'], times: new Set() };
const field = { $getField: 'a' };
const none = { $literal: null };

const asked = ($expr: unknown): string | undefined => {
  const parsed = parseQuery(kind, { $expr });
  if ('problem' in parsed) throw new Error(parsed.problem.msg);
  const presence = getPresence(parsed.expression);
  return presence && `${presence.path.text} ${presence.isThere ? 'is there' : 'is not there'}`;
};

describe('what an expression says of a value being there', () => {
  it.each([
    [{ $eq: [field, none] }, 'a is not there'],
    [{ $eq: [none, field] }, 'a is not there'],
    [{ $ne: [field, none] }, 'a is there'],
    [{ $not: [{ $eq: [field, none] }] }, 'a is there'],
    [{ $not: [{ $not: [{ $ne: [none, { $getField: 'a.b' }] }] }] }, 'a.b is there'],
    [{ $in: [field, [none, none]] }, 'a is not there'],
    [{ $convert: { input: field, to: 'exists' } }, 'a is there'],
    [{ $not: [{ $convert: { input: field, to: 'exists' } }] }, 'a is not there'],
    [{ $in: [field, [none, { $literal: 1 }]] }, undefined],
    [{ $in: [field, []] }, undefined],
    [{ $gt: [field, none] }, undefined],
    [{ $eq: [field, { $literal: 1 }] }, undefined],
    [{ $eq: [none, none] }, undefined],
    [{ $convert: { input: field, to: 'bool' } }, undefined],
    [field, undefined],
    [{ $or: [{ $eq: [field, none] }] }, undefined],
  ])('is, of %j: %s', (expression, expected) => {
    expect(asked(expression)).toBe(expected);
  });
});
