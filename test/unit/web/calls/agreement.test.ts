import { describe, expect, it } from 'vitest';
import { computeAgreement } from '../../../../web/calls/agreement.ts';

/** Krippendorff's example: what four observers said of twelve units; 0 stands for nothing. */
const observers = [
  [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
  [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
  [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
  [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
];
const units = (observers[0] ?? []).map((_, unit) =>
  observers.flatMap((answers) => answers.filter((value, at) => at === unit && value > 0)),
);

describe('agreement', () => {
  it('is that of the example in the paper, for numbers and for labels', () => {
    expect(computeAgreement(units)).toMatchObject({ items: 11, alpha: expect.closeTo(0.849, 3) });
    const labels = units.map((values) => values.map((value) => `label ${value}`));
    expect(computeAgreement(labels)).toMatchObject({ alpha: expect.closeTo(0.743, 3) });
  });

  it('of two people is the share of items on which they agree, and what of it is no chance', () => {
    // Their kappa is 0.4: they agree on 14 of 20, and would on 10 by chance.
    const items = [
      ...Array.from({ length: 7 }, () => [true, true]),
      ...Array.from({ length: 7 }, () => [false, false]),
      ...Array.from({ length: 3 }, () => [true, false]),
      ...Array.from({ length: 3 }, () => [false, true]),
    ];
    expect(computeAgreement(items)).toEqual({ items: 20, share: 0.7, alpha: expect.closeTo(0.415, 3) });
  });

  it('takes no notice of what one person alone answered, nor of an order', () => {
    expect(computeAgreement([['a'], []])).toBeUndefined();
    expect(computeAgreement([['a', 'b'], ['a', 'a'], ['b']])).toEqual(
      computeAgreement([
        ['a', 'a'],
        ['b', 'a'],
      ]),
    );
  });

  it('has nothing to say of chance if all answers are the same', () => {
    expect(
      computeAgreement([
        ['a', 'a'],
        ['a', 'a', 'a'],
      ]),
    ).toEqual({ items: 2, share: 1, alpha: undefined });
  });
});
