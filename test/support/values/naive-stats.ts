import { readTokens } from '../../../api/shared/usage.ts';
import { computeCosts, type Price, priceBook } from '../../../core/records/costs/index.ts';
import { valueAt } from '../../../foundations/expression/index.ts';
import { type JsonObject, type ProjectId, parseTime } from '../../../foundations/wire/index.ts';

/** The local day or, in UTC, the hour of a time. */
export const toPeriod = (time: string, granularity: number, timezone: string): string =>
  granularity === 86_400
    ? new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(new Date(time))
    : time.slice(0, 13);

/** Exact percentile by linear interpolation. */
export const exactPercentile = (values: readonly number[], percentile: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (percentile / 100) * (sorted.length - 1);
  const low = sorted[Math.floor(rank)] ?? 0;
  const high = sorted[Math.ceil(rank)] ?? 0;
  return low + (high - low) * (rank - Math.floor(rank));
};

/** The value of a field or an attribute by which calls are grouped, as JSON. */
export const groupAt = (call: JsonObject, path: string): string =>
  JSON.stringify(valueAt(call, path.split('.')) ?? null);

/** What calls of one period and group come to, value by value. */
export interface Naive {
  calls: number;
  errors: number;
  readonly latencies: number[];
  readonly tokens: Map<string, number[]>;
  readonly costs: Map<string, number>;
}

/** Counts calls as they are answered by a query, by period and a field, the plain way. */
export const naiveStats = (
  calls: readonly JsonObject[],
  { granularity, timezone, groupBy }: { granularity: number; timezone: string; groupBy: string | undefined },
  projectId: ProjectId,
  prices: readonly Price[],
): Map<string, Naive> => {
  const book = priceBook(projectId, prices, () => undefined);
  const found = new Map<string, Naive>();
  for (const call of calls) {
    const summary = call.summary as {
      usage?: JsonObject;
      svc: { status: string; latency_ms: number | null };
    };
    const group =
      groupBy === 'status' ? JSON.stringify(summary.svc.status) : groupBy ? groupAt(call, groupBy) : '';
    const key = `${toPeriod(String(call.started_at), granularity, timezone)} ${group}`;
    const naive = found.get(key) ?? {
      calls: 0,
      errors: 0,
      latencies: [],
      tokens: new Map<string, number[]>(),
      costs: new Map<string, number>(),
    };
    found.set(key, naive);
    naive.calls++;
    if (summary.svc.status === 'error') naive.errors++;
    if (summary.svc.latency_ms !== null) naive.latencies.push(summary.svc.latency_ms);
    const costs = computeCosts(summary.usage ?? {}, parseTime(String(call.started_at)) ?? 0, book);
    for (const [model, used] of Object.entries(summary.usage ?? {})) {
      const { prompt } = readTokens(used as JsonObject);
      naive.tokens.set(model, [...(naive.tokens.get(model) ?? []), prompt]);
      const cost = costs[model];
      if (!cost) continue;
      const total = cost.prompt_tokens_total_cost + cost.completion_tokens_total_cost;
      naive.costs.set(model, (naive.costs.get(model) ?? 0) + total);
    }
  }
  return found;
};
