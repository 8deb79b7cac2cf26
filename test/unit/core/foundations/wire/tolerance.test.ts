import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { ServiceError } from '../../../../../core/foundations/wire/index.ts';
import { parseTolerantly } from '../../../../../core/foundations/wire/tolerance.ts';

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
