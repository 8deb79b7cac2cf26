import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { literalOf, typedText } from '../../../../web/data/literal.ts';

describe('a typed text', () => {
  it.each([
    ['12', 12],
    ['true', true],
    ['null', null],
    ['"12"', '12'],
    ['gpt-4o', 'gpt-4o'],
    ['{"a":1}', '{"a":1}'],
  ])('%s is taken for what it means', (text, value) => {
    expect(literalOf(text)).toBe(value);
  });

  it.each(['5', ' 5', '\t-1e3\n', 'true', ' null', '"quoted"', '4 apples', '', 'plain'])(
    'means the text %j if it is typed for it',
    (text) => {
      expect(literalOf(typedText(text))).toBe(text);
    },
  );

  it('means any text that it is typed for', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.json());
    fc.assert(fc.property(texts, (text) => literalOf(typedText(text)) === text));
  });

  it('has no quotes where it needs none', () => {
    expect(['4 apples', 'gpt-4o', '2026-10-01'].map(typedText)).toEqual(['4 apples', 'gpt-4o', '2026-10-01']);
  });
});
