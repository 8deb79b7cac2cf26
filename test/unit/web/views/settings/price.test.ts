import { describe, expect, it } from 'vitest';
import { emptyPrice, perMillion, typedPrice } from '../../../../../web/views/settings/price.ts';

const form = { ...emptyPrice, model: ' m ', input: '0.15', output: '0,6' };

describe('a typed price', () => {
  it('is for one token, as the service has it', () => {
    expect(typedPrice(form)).toEqual({
      model: 'm',
      terms: {
        prompt_token_cost: 0.15 / 1e6,
        completion_token_cost: 0.6 / 1e6,
        prompt_token_cost_unit: 'USD',
        completion_token_cost_unit: 'USD',
      },
    });
  });

  it.each([
    [{ model: '' }, 'Enter the model'],
    [{ input: '' }, 'Enter both prices'],
    [{ output: '-1' }, 'Enter both prices'],
    [{ output: 'much' }, 'Enter both prices'],
    [{ input: '1e20' }, 'Enter prices up to 1000000000000000 per million tokens'],
    [{ from: 'yesterday' }, 'The time is invalid'],
  ])('says what is wrong with %j', (change, problem) => {
    expect(typedPrice({ ...form, ...change })).toEqual({ problem: expect.stringContaining(problem) });
  });
});

it('prices stand as they were typed, for a million tokens', () => {
  expect([0.15 / 1e6, 2.5 / 1e6, 0, 75 / 1e6, 1e-12].map(perMillion)).toEqual([
    '0.15',
    '2.5',
    '0',
    '75',
    '0.000001',
  ]);
});
