import { type CallRow, type Cost, getCost, sumUsage, type Usage } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { Answer } from '../../api/contract.ts';
import { type Condition, costPath, type TracesSearch } from '../../navigation/search.ts';
import type { Seen } from './sight.ts';

/** What a row stands for used, and how much of it failed. */
export interface RowFigures {
  readonly usage: Usage | undefined;
  /** How many calls failed; undefined where nobody counts. */
  readonly errors?: number | undefined;
  /** How many calls there are; undefined where nobody counts. */
  readonly calls?: number | undefined;
}

/**
 * What the service added up of a root's trace, if it was asked to.
 *
 * @param unit that of all prices; the empty text if there are several
 */
export const getTotals = ({ summary }: CallRow, unit = 'USD'): RowFigures | undefined => {
  const totals = summary?.svc?.trace_totals;
  if (!totals) return undefined;
  const { call_count, error_count, input_tokens, output_tokens, total_cost } = totals;
  const { cache_read_tokens: cached, reasoning_tokens: reasoning } = totals;
  const total = input_tokens + output_tokens;
  const cost = total_cost > 0 ? new Map([[unit, total_cost]]) : undefined;
  const isUsed = total > 0 || cost !== undefined;
  return {
    usage: isUsed
      ? { input: input_tokens, output: output_tokens, total, cached, reasoning, cost }
      : undefined,
    errors: error_count,
    calls: call_count,
  };
};

/** How many traces a list asks for at once, if it needs all. */
export const chunkSize = 50;

type ModelUsage = Answer<'/calls/usage'>['call_usage'][string][string];

const toUsage = (usage: ModelUsage): Usage => {
  const { prompt_tokens, completion_tokens, total_tokens, cache_read_input_tokens, reasoning_tokens } = usage;
  return {
    input: prompt_tokens,
    output: completion_tokens,
    total: total_tokens,
    cached: cache_read_input_tokens,
    reasoning: reasoning_tokens,
    cost: getCost(usage),
  };
};

/** What roots used with all below them, by their ids. */
export const readUsage = async (
  client: Client,
  project: string,
  roots: readonly Seen[],
  signal: AbortSignal,
) => {
  const call_ids = roots.map(({ id }) => id);
  const trace_ids = [...new Set(roots.map(({ trace_id }) => trace_id))];
  const request = { project_id: project, call_ids, trace_ids, include_costs: true };
  const { call_usage, error_counts } = await client.ask('/calls/usage', request, signal);
  return new Map(
    Object.entries(call_usage).map(([id, models]): [string, RowFigures] => [
      id,
      { usage: sumUsage(Object.values(models).map(toUsage)), errors: error_counts[id] },
    ]),
  );
};

/*
 * The filter by cost. Costs follow from prices when calls are read, and no query can add them up.
 * So the page reads the rows that pass all other filters, looks up what each cost, and leaves out
 * the rest.
 */

/** Whether a row belongs to the list, by what it cost. */
export type CostTest = (figures: RowFigures | undefined) => boolean;

const passes = ({ op, value }: Condition, cost: Cost | undefined): boolean => {
  if (op === 'exists') return cost !== undefined;
  if (op === 'is missing') return cost === undefined;
  if (cost === undefined) return false;
  const amounts = [...cost.values()];
  const limit = Number(value);
  return op === 'above'
    ? amounts.some((amount) => amount > limit)
    : amounts.every((amount) => amount < limit);
};

/** The test of a list that is filtered by cost; undefined for any other. */
export const costTest = ({ where = [] }: Pick<TracesSearch, 'where'>): CostTest | undefined => {
  const conditions = where.filter(({ path }) => path === costPath);
  if (conditions.length === 0) return undefined;
  return (figures) => conditions.every((condition) => passes(condition, figures?.usage?.cost));
};
