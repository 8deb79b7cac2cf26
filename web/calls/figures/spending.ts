import { readTokens } from '../../../api/shared/usage.ts';
import type { CallRow } from '../../api/calls.ts';
import type { Stats } from '../../api/contract.ts';
import { isObject } from '../../data/values.ts';

/** Kinds of tokens, none of which is part of another. */
export const tokenKinds = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

export type TokenKind = (typeof tokenKinds)[number];

/** A number of tokens, or what they cost, by kind. */
type Amounts = Readonly<Record<TokenKind, number>>;

/** What a model used. */
export interface Spending {
  readonly tokens: Amounts;
  /** Undefined if the model has no price. */
  readonly costs: Amounts | undefined;
}

export type SpendingByModel = ReadonlyMap<string, Spending>;

/** Amounts as the service has them: the cached ones are among the input, reasoning is among the output. */
interface Nested {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** Sums of doubles may miss zero by a little. */
const apart = ({ input, cacheRead, cacheWrite, output, reasoning }: Nested): Amounts => ({
  input: Math.max(0, input - cacheRead - cacheWrite),
  cacheRead,
  cacheWrite,
  output: Math.max(0, output - reasoning),
  reasoning,
});

export const sumAmounts = (amounts: Amounts): number =>
  tokenKinds.reduce((sum, kind) => sum + amounts[kind], 0);

/** The share of the tokens of prompts that came from a cache. */
export const cachedShare = ({ input, cacheRead, cacheWrite }: Amounts): number => {
  const prompt = input + cacheRead + cacheWrite;
  return prompt === 0 ? 0 : cacheRead / prompt;
};

const add = (a: Amounts, b: Amounts): Amounts => ({
  input: a.input + b.input,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning,
});

/** The sum of two; undefined is nothing. */
const addSpending = (a: Spending | undefined, b: Spending): Spending => ({
  tokens: a ? add(a.tokens, b.tokens) : b.tokens,
  costs: a?.costs && b.costs ? add(a.costs, b.costs) : (a?.costs ?? b.costs),
});

/** The sum of all models; undefined for none. */
export const sumSpending = (byModel: SpendingByModel): Spending | undefined => {
  let sum: Spending | undefined;
  for (const spending of byModel.values()) sum = addSpending(sum, spending);
  return sum;
};

/** What calls used themselves, by model, the most expensive first. */
export const spendingOf = (calls: Iterable<CallRow>): SpendingByModel => {
  const byModel = new Map<string, Spending>();
  for (const { summary } of calls) {
    const costs = summary?.svc?.costs ?? {};
    for (const [model, used] of Object.entries(isObject(summary?.usage) ? summary.usage : {})) {
      if (!isObject(used)) continue;
      const tokens = readTokens(used);
      const cost = Object.hasOwn(costs, model) ? costs[model] : undefined;
      const own: Spending = {
        tokens: apart({ ...tokens, input: tokens.prompt, output: tokens.completion }),
        costs:
          cost &&
          apart({
            input: cost.prompt_tokens_total_cost,
            cacheRead: cost.cache_read_tokens_total_cost ?? 0,
            cacheWrite: cost.cache_creation_tokens_total_cost ?? 0,
            output: cost.completion_tokens_total_cost,
            reasoning: cost.reasoning_tokens_total_cost ?? 0,
          }),
      };
      byModel.set(model, addSpending(byModel.get(model), own));
    }
  }
  return sorted(byModel);
};

/** The metrics of statistics that tell where money goes. */
export const spendingMetrics = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'input_cost',
  'cache_read_input_cost',
  'cache_creation_input_cost',
  'output_cost',
  'reasoning_cost',
] as const;

/** What statistics that were asked for these metrics say, by model, the most expensive first. */
export const spendingIn = (buckets: Stats['usage_buckets']): SpendingByModel => {
  const byModel = new Map<string, Spending>();
  for (const bucket of buckets) {
    if (typeof bucket.model !== 'string') continue;
    const sum = (metric: (typeof spendingMetrics)[number]): number | undefined => {
      const value = bucket[`sum_${metric}`];
      return typeof value === 'number' ? value : undefined;
    };
    const nested = (unit: 'tokens' | 'cost'): Amounts =>
      apart({
        input: sum(`input_${unit}`) ?? 0,
        cacheRead: sum(`cache_read_input_${unit}`) ?? 0,
        cacheWrite: sum(`cache_creation_input_${unit}`) ?? 0,
        output: sum(`output_${unit}`) ?? 0,
        reasoning: sum(`reasoning_${unit}`) ?? 0,
      });
    // Without a price there are no costs to sum up.
    const costs = nested('cost');
    const own = { tokens: nested('tokens'), costs: sumAmounts(costs) > 0 ? costs : undefined };
    byModel.set(bucket.model, addSpending(byModel.get(bucket.model), own));
  }
  return sorted(byModel);
};

const sorted = (byModel: SpendingByModel): SpendingByModel => {
  const rank = ({ costs }: Spending): number => (costs ? sumAmounts(costs) : -1);
  return new Map([...byModel].sort(([, a], [, b]) => rank(b) - rank(a)));
};

/** A call and all calls below it. */
export const familyOf = (calls: readonly CallRow[], id: string): CallRow[] => {
  const children = Map.groupBy(calls, ({ parent_id }) => parent_id);
  const met = new Set(calls.filter((call) => call.id === id));
  for (const { id: parent } of met) for (const child of children.get(parent) ?? []) met.add(child);
  return [...met];
};
