import { expect, it } from 'vitest';
import { allTokensText, costText, kindsText, tookText, waitText } from '../../../../web/data/format.ts';

it.each([
  [0, '$0'],
  [2, '$2.00'],
  [0.0021, '$0.0021'],
  [0.03, '$0.0300'],
  [0.00002, '<$0.0001'],
])('%d dollars are %s', (dollars, text) => {
  expect(costText(dollars)).toBe(text);
  expect(costText(new Map([['USD', dollars]]))).toBe(text);
});

it.each([
  ['EUR', '€2.00'],
  ['CHF', '2.00 CHF'],
  ['CAD', 'CA$2.00'],
  ['credits', '2.00 credits'],
  ['', '2.00'],
])('an amount in %j is no amount in dollars', (unit, text) => {
  expect(costText(new Map([[unit, 2]]))).toBe(text);
});

it('a cost in several units has an amount for each', () => {
  const cost = new Map([
    ['USD', 1.2],
    ['EUR', 3.5],
  ]);
  expect(costText(cost)).toBe('$1.20 + €3.50');
});

it('a duration says how much of it was waiting for a person', () => {
  expect(tookText(14_200)).toBe('14.2 s');
  expect(tookText(14_200, 12_000)).toBe('14.2 s, 12.0 s of it waiting');
  expect(tookText(14_200, 15_000)).toBe('14.2 s, 14.2 s of it waiting');
  expect([undefined, true as const, 12_000].map(waitText)).toEqual([
    '',
    'waits for a person',
    'waited 12.0 s',
  ]);
});

it('tokens say which of them were cached, and which were reasoning', () => {
  const plain = { total: 408, cached: 0, reasoning: 0 };
  const used = { total: 12_345, cached: 6100, reasoning: 244 };
  expect([plain, { ...plain, reasoning: 244 }, used].map(kindsText)).toEqual([
    '',
    '244 reasoning',
    '6.1K cached, 244 reasoning',
  ]);
  expect([plain, { ...plain, total: 1, cached: 1 }, used].map(allTokensText)).toEqual([
    '408 tokens',
    '1 token, of which 1 were cached',
    '12,345 tokens, of which 6,100 were cached and 244 were reasoning',
  ]);
});
