import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sentenceAround } from '../../../../../core/doors/mcp/search-text.ts';

const around = (text: string, sought: string): string =>
  sentenceAround(text, text.indexOf(sought), sought.length);

describe('the sentence around a hit', () => {
  it.each([
    ['Hello. Your parcel is late. Sorry!', 'parcel', 'Your parcel is late.'],
    ['parcel', 'parcel', 'parcel'],
    ['one\ntwo parcels\nthree', 'parcel', 'two parcels'],
    ['It costs 3.50 EUR today. Bye.', 'EUR', 'It costs 3.50 EUR today.'],
    ['今日は。荷物が遅れています。', '荷物', '荷物が遅れています。'],
  ])('of %j is for %j', (text, sought, sentence) => {
    expect(around(text, sought)).toBe(sentence);
  });

  it('of a long text says that it goes on', () => {
    const text = `${'before '.repeat(100)}parcel${' after'.repeat(100)}`;
    expect(around(text, 'parcel')).toMatch(/^….{100,120}parcel.{150,200}…$/s);
  });

  it('is well-formed, short, and has the hit, whatever text it stands in', () => {
    const text = fc.string({ unit: 'binary', maxLength: 600 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const sentence = sentenceAround(`${before}parcel${after}`, before.length, 'parcel'.length);
        expect(sentence).toContain('parcel');
        expect(sentence.isWellFormed()).toBe(true);
        expect(sentence.length).toBeLessThan(350);
      }),
    );
  });
});
