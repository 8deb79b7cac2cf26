import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttributeValue } from '../../../../../core/doors/otel/span.ts';
import { nested, toJson } from '../../../../../core/doors/otel/values.ts';

const toNested = (attributes: Readonly<Record<string, AttributeValue>>): unknown =>
  JSON.parse(JSON.stringify(nested(Object.entries(attributes))));

describe('attributes', () => {
  it('nest at the dots of their keys', () => {
    expect(toNested({ 'a.b.c': 1, 'a.d': 2, e: 3 })).toEqual({ a: { b: { c: 1 }, d: 2 }, e: 3 });
  });

  it('keep a value beside what nests below it', () => {
    expect(toNested({ a: 1, 'a.b': 2 })).toEqual({ a: { value: 1, b: 2 } });
    expect(toNested({ 'a.b': 2, a: { c: 1 } })).toEqual({ a: { value: { c: 1 }, b: 2 } });
    expect(toNested({ a: 1, 'a.value': 2 })).toEqual({ a: { value_: 1, value: 2 } });
  });

  it('keep the last of two values under one key', () => {
    expect(
      nested([
        ['a', 1],
        ['a', 2],
      ]),
    ).toEqual({ a: 2 });
  });

  it('take keys with empty parts, colons and names of prototypes', () => {
    const made = nested(
      Object.entries(JSON.parse('{"__proto__.x": 1, "constructor": 2, "": 3, "a..b:c": 4}')),
    );
    expect(JSON.stringify(made)).toBe('{"__proto__":{"x":1},"constructor":2,"":3,"a":{"":{"b:c":4}}}');
    expect({}).not.toHaveProperty('x');
  });

  it('nest 32 levels, and keep the rest of a key together', () => {
    const key = Array.from({ length: 40 }, (_, i) => `k${i}`).join('.');
    const text = JSON.stringify(nested([[key, 1]]));
    expect(text.split('{')).toHaveLength(33);
    expect(text).toContain('"k31.k32.k33.k34.k35.k36.k37.k38.k39":1');
  });

  it('never lose a value, whatever the keys', () => {
    const key = fc.array(fc.constantFrom('a', 'b', 'value', 'value_', ''), { maxLength: 4 });
    fc.assert(
      fc.property(fc.uniqueArray(key.map((parts) => parts.join('.'))), (keys) => {
        const text = JSON.stringify(nested(keys.map((name, i) => [name, `#${i}#`])));
        for (const i of keys.keys()) expect(text).toContain(`"#${i}#"`);
      }),
    );
  });
});

describe('a value', () => {
  it.each<[string, AttributeValue, unknown]>([
    ['an object as text', ' {"a": [1]}', { a: [1] }],
    ['a list as text', '[1, "x"]', [1, 'x']],
    ['a number as text', '007', '007'],
    ['a word as text', 'true', 'true'],
    ['text that only begins like JSON', '[not JSON', '[not JSON'],
    ['text within a list', ['{"a": 1}'], ['{"a": 1}']],
    ['bytes', Uint8Array.of(255, 0), '/wA='],
    ['an integer beyond doubles', 2n ** 60n, '1152921504606846976'],
    ['infinity', Number.NEGATIVE_INFINITY, '-Infinity'],
    ['what is no number', [Number.NaN], ['NaN']],
    ['nothing', null, null],
  ])('that is %s is kept', (_, value, expected) => {
    expect(toJson(value)).toEqual(expected);
  });

  it('that is JSON of any depth can be written', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(toJson(deep)).toBe(deep);
    expect(toJson('[1e400]')).toBe('[1e400]');
  });
});
