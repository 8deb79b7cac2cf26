import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import {
  cachedShare,
  familyOf,
  spendingIn,
  spendingMetrics,
  spendingOf,
  sumAmounts,
  sumSpending,
} from '../../../../../web/calls/figures/spending.ts';

const used = {
  prompt_tokens: 1000,
  prompt_tokens_details: { cached_tokens: 600 },
  cache_creation_input_tokens: 100,
  completion_tokens: 50,
  completion_tokens_details: { reasoning_tokens: 20 },
};
const cost = {
  prompt_tokens_total_cost: 5.6,
  cache_read_tokens_total_cost: 0.6,
  cache_creation_tokens_total_cost: 2,
  completion_tokens_total_cost: 2.5,
  reasoning_tokens_total_cost: 1,
};
const call = (id: string, parent_id: string | null, summary: object = {}): CallRow =>
  ({ id, parent_id, summary }) as CallRow;
const calls = [
  call('root', null),
  call('a', 'root', { usage: { dear: used }, svc: { costs: { dear: cost } } }),
  call('b', 'a', { usage: { dear: used, unpriced: { input_tokens: 7 } }, svc: { costs: { dear: cost } } }),
  call('other', null, { usage: { dear: used } }),
];

describe('where money went', () => {
  it('is told of calls by kinds of tokens, none of which is part of another', () => {
    const byModel = spendingOf(calls.slice(0, 3));
    expect([...byModel.keys()]).toEqual(['dear', 'unpriced']);
    const { tokens, costs } = byModel.get('dear') ?? {};
    expect(tokens).toEqual({ input: 600, cacheRead: 1200, cacheWrite: 200, output: 60, reasoning: 40 });
    expect(costs && sumAmounts(costs)).toBeCloseTo(2 * (5.6 + 2.5), 9);
    expect(costs?.input).toBeCloseTo(6, 9);
    expect(byModel.get('unpriced')).toEqual({
      tokens: { input: 7, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
      costs: undefined,
    });
    expect(sumSpending(byModel)?.tokens.input).toBe(607);
    expect([...byModel.values()].map((spending) => cachedShare(spending.tokens))).toEqual([0.6, 0]);
  });

  it('is the same by statistics', () => {
    const values = [2000, 1200, 200, 100, 40, 11.2, 1.2, 4, 5, 2];
    const bucket = Object.fromEntries(spendingMetrics.map((metric, i) => [`sum_${metric}`, values[i]]));
    const byModel = spendingIn([{ timestamp: '', model: 'dear', ...bucket }]);
    expect(byModel.get('dear')).toEqual(spendingOf(calls.slice(0, 3)).get('dear'));
  });

  it('is that of a call with all calls below it', () => {
    const idsOf = (id: string) => familyOf(calls, id).map((member) => member.id);
    expect([idsOf('root'), idsOf('a'), idsOf('b'), idsOf('none')]).toEqual([
      ['root', 'a', 'b'],
      ['a', 'b'],
      ['b'],
      [],
    ]);
  });
});
