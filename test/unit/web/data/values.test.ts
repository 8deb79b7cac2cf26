import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLiteral, parseToWrite, typedText, valueAt } from '../../../../web/data/values.ts';

it('numbers are written as they were read', () => {
  const text = '{"a":1.0,"b":[12345678901234567890,-0,1e2,0.1],"c":{"d":3,"e":"1.0"},"f":null}';
  expect(JSON.stringify(parseToWrite(text))).toBe(text);
});

describe('a typed text', () => {
  it.each([
    ['12', 12],
    ['true', true],
    ['null', null],
    ['"12"', '12'],
    ['gpt-4o', 'gpt-4o'],
    ['{"a":1}', '{"a":1}'],
  ])('%s is taken for what it means', (text, value) => {
    expect(parseLiteral(text)).toBe(value);
  });

  it.each(['5', ' 5', '\t-1e3\n', 'true', ' null', '"quoted"', '4 apples', '', 'plain'])(
    'means the text %j if it is typed for it',
    (text) => {
      expect(parseLiteral(typedText(text))).toBe(text);
    },
  );

  it('means any text that it is typed for', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.json());
    fc.assert(fc.property(texts, (text) => parseLiteral(typedText(text)) === text));
  });

  it('has no quotes where it needs none', () => {
    expect(['4 apples', 'gpt-4o', '2026-10-01'].map(typedText)).toEqual(['4 apples', 'gpt-4o', '2026-10-01']);
  });
});

it.each([
  ['a.b.0', 1],
  ['a.b', [1]],
  ['usage.gpt-4.1.tokens', 5],
  ['usage.gpt-4.2.tokens', undefined],
  ['constructor.name', undefined],
])('%s leads to %j', (path, expected) => {
  expect(valueAt({ a: { b: [1] }, usage: { 'gpt-4.1': { tokens: 5 } } }, path)).toEqual(expected);
});
