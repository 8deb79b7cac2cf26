import { describe, expect, it } from 'vitest';
import { drawsText, scoreText, signedText, toVerdict } from '../../../../../web/views/evaluations/words.ts';

const chance = { difference: -0.1, low: -0.2, high: -0.03, share: 0.004, rows: 100, draws: 2000 };

describe('the words of a comparison', () => {
  it('write scores with as many digits as tell something', () => {
    expect([0, 1, 2 / 3, 12.5, 0.00042, -0.5, 1e-17].map(scoreText)).toEqual([
      '0',
      '1',
      '0.667',
      '12.5',
      '0.0004',
      '-0.5',
      '0',
    ]);
    expect(signedText(-0.25, scoreText)).toBe('−0.25');
    expect(signedText(0.25, scoreText)).toBe('+0.25');
    expect(signedText(1e-17, scoreText)).toBe('±0');
  });

  it('say whether a difference could be chance, and what the draws show', () => {
    expect(toVerdict(chance)).toEqual({ isChance: false, words: 'hardly chance' });
    expect(drawsText(chance, scoreText).replaceAll('\u00a0', ' ')).toBe(
      'between −0.2 and −0.03 in 95 % of the draws; 0.4 % show no fall',
    );
    const rise = { ...chance, difference: 0.1, low: -0.05, high: 0.2, share: 0.12 };
    expect(toVerdict(rise)).toEqual({ isChance: true, words: 'could be chance' });
    expect(drawsText(rise, scoreText).replaceAll('\u00a0', ' ')).toBe(
      'between −0.05 and +0.2 in 95 % of the draws; 12 % show no rise',
    );
    expect(drawsText({ ...chance, share: 0 }, scoreText)).toMatch(/every draw shows a fall$/);
    const none = { ...chance, difference: 0, low: 0, high: 0, share: 1 };
    expect(toVerdict(none)).toEqual({ isChance: true, words: 'no difference' });
    expect(drawsText(none, scoreText)).toBe('no row differs');
  });
});
