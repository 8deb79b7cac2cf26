import { isJsonObject, type JsonValue } from '../../foundations/wire/index.ts';
import { type CallHeader, latencyMs } from '../../records/calls/index.ts';
import { type Costs, type ModelCost, type Tokens, tokensOf } from '../../records/costs/index.ts';
import { Numbers } from './numbers.ts';
import {
  type CostMetric,
  costMetrics,
  type TokenMetric,
  tokenMetrics,
  type UsageMetric,
  usageMetrics,
} from './request.ts';

/** What cells keep, beside counts and sums. */
export interface Keeping {
  /** Whether they can tell percentiles of latencies. */
  readonly latencies: boolean;
  /** Whether they have the usage of models. */
  readonly usage: boolean;
  /** The metrics of usage whose percentiles they can tell. */
  readonly sketched: ReadonlySet<UsageMetric>;
}

/** What rollups keep. Costs are left out, since prices change. */
export const kept: Keeping = { latencies: true, usage: true, sketched: new Set() };

/** How many models of one call are counted: the first ones, as for costs. */
const maxModels = 1000;

const readers: Readonly<Record<TokenMetric, (tokens: Tokens) => number>> = {
  input_tokens: ({ prompt }) => prompt,
  output_tokens: ({ completion }) => completion,
  total_tokens: ({ total }) => total,
  cache_read_input_tokens: ({ cacheRead }) => cacheRead,
  cache_creation_input_tokens: ({ cacheWrite }) => cacheWrite,
};

const costReaders: Readonly<Record<CostMetric, (cost: ModelCost) => number>> = {
  input_cost: (cost) => cost.prompt_tokens_total_cost,
  output_cost: (cost) => cost.completion_tokens_total_cost,
  total_cost: (cost) => cost.prompt_tokens_total_cost + cost.completion_tokens_total_cost,
};

/** What calls used of one model: its metrics, each over the calls that used it. */
export type ModelCell = Readonly<Record<UsageMetric, Numbers>>;

const newModelCell = ({ sketched }: Keeping): ModelCell => {
  const numbers = (metric: UsageMetric): [UsageMetric, Numbers] => [
    metric,
    new Numbers(sketched.has(metric)),
  ];
  return Object.fromEntries(usageMetrics.map(numbers)) as ModelCell;
};

/** Counts of some calls. Merging cells gives the cell of all their calls. */
export class Cell {
  calls = 0;
  errors = 0;
  /** Of finished calls, in whole milliseconds. */
  readonly latency: Numbers;
  readonly models = new Map<string, ModelCell>();
  readonly #keeping: Keeping;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
    this.latency = new Numbers(keeping.latencies);
  }

  /** The cell of a model, made if there is none yet. */
  model(name: string): ModelCell {
    const known = this.models.get(name);
    if (known) return known;
    const made = newModelCell(this.#keeping);
    this.models.set(name, made);
    return made;
  }

  /**
   * Adds a call.
   *
   * @param usage its `summary.usage`, whatever it is
   * @param costs what it cost, by model
   * @param failed the model that a call without usage was to use, if it failed
   */
  add(header: CallHeader, usage: JsonValue, costs: Costs, failed?: string): void {
    this.calls++;
    if (header.end?.status === 'error') this.errors++;
    const latency = latencyMs(header);
    if (latency !== null) this.latency.add(latency);
    if (failed !== undefined) this.#addCall(this.model(failed), header, latency);
    if (!this.#keeping.usage || !isJsonObject(usage)) return;
    for (const [name, used] of Object.entries(usage).slice(0, maxModels)) {
      if (!isJsonObject(used)) continue;
      const cell = this.model(name);
      this.#addCall(cell, header, latency);
      const tokens = tokensOf(used);
      for (const metric of tokenMetrics) cell[metric].add(readers[metric](tokens));
      const cost = Object.hasOwn(costs, name) ? costs[name] : undefined;
      if (cost) for (const metric of costMetrics) cell[metric].add(costReaders[metric](cost));
    }
  }

  #addCall(cell: ModelCell, { end }: CallHeader, latency: number | null): void {
    cell.error_count.add(end?.status === 'error' ? 1 : 0);
    if (latency !== null) cell.latency_ms.add(latency);
  }

  /** Adds all calls of another cell, which keeps at least as much. */
  merge(other: Cell): void {
    this.calls += other.calls;
    this.errors += other.errors;
    this.latency.merge(other.latency);
    if (!this.#keeping.usage) return;
    for (const [name, theirs] of other.models) {
      const ours = this.model(name);
      for (const metric of usageMetrics) ours[metric].merge(theirs[metric]);
    }
  }
}
