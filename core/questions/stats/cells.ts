import type { ModelCost } from '../../../api/queries.ts';
import type { CallSource } from '../../../api/shared/header-fields.ts';
import { readTokens, type Tokens } from '../../../api/shared/usage.ts';
import {
  type CostMetric,
  costMetrics,
  type TokenMetric,
  tokenMetrics,
  type UsageMetric,
  usageMetrics,
} from '../../../api/stats.ts';
import { isJsonObject, type JsonValue } from '../../../foundations/wire/index.ts';
import { type CallHeader, getSource, getStatus, latencyMs } from '../../records/calls/index.ts';
import { type Costs, sumCost } from '../../records/costs/index.ts';

/** What cells keep, beside counts and sums. */
export interface Keeping {
  /** Whether they can tell percentiles of latencies. */
  readonly latencies: boolean;
  /** Whether they have the traces that their calls are of. */
  readonly traces: boolean;
  /** Whether they can tell percentiles of how long calls waited. */
  readonly waits: boolean;
  /** Whether they have the usage of models. */
  readonly usage: boolean;
  /** The metrics of usage whose percentiles they can tell. */
  readonly sketched: ReadonlySet<UsageMetric>;
}

/** What rollups keep. Costs are left out, since prices change, as are traces, which hours share, and waits. */
export const kept: Keeping = {
  latencies: true,
  traces: false,
  waits: false,
  usage: true,
  sketched: new Set(),
};

/** How many models of one call are counted: the first ones, as for costs. */
const maxModels = 1000;

const readers: Readonly<Record<TokenMetric, (tokens: Tokens) => number>> = {
  input_tokens: ({ prompt }) => prompt,
  output_tokens: ({ completion }) => completion,
  total_tokens: ({ total }) => total,
  cache_read_input_tokens: ({ cacheRead }) => cacheRead,
  cache_creation_input_tokens: ({ cacheWrite }) => cacheWrite,
  reasoning_tokens: ({ reasoning }) => reasoning,
};

const costReaders: Readonly<Record<CostMetric, (cost: ModelCost) => number>> = {
  input_cost: (cost) => cost.prompt_tokens_total_cost,
  output_cost: (cost) => cost.completion_tokens_total_cost,
  total_cost: sumCost,
  cache_read_input_cost: ({ cache_read_tokens_total_cost: cost = 0 }) => cost,
  cache_creation_input_cost: ({ cache_creation_tokens_total_cost: cost = 0 }) => cost,
  reasoning_cost: ({ reasoning_tokens_total_cost: cost = 0 }) => cost,
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
  /** Of calls that waited for a person, in whole milliseconds. */
  readonly waited: Numbers;
  /** The ids of their traces; null if they are not kept. */
  readonly traces: Set<string> | null;
  readonly models = new Map<string, ModelCell>();
  readonly #keeping: Keeping;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
    this.latency = new Numbers(keeping.latencies);
    this.waited = new Numbers(keeping.waits);
    this.traces = keeping.traces ? new Set() : null;
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
    if (typeof header.end?.waited === 'number') this.waited.add(header.end.waited);
    this.traces?.add(header.start.traceId);
    if (failed !== undefined) this.#addCall(this.model(failed), header, latency);
    if (!this.#keeping.usage || !isJsonObject(usage)) return;
    for (const [name, used] of Object.entries(usage).slice(0, maxModels)) {
      if (!isJsonObject(used)) continue;
      const cell = this.model(name);
      this.#addCall(cell, header, latency);
      const tokens = readTokens(used);
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
    this.waited.merge(other.waited);
    for (const id of other.traces ?? []) this.traces?.add(id);
    if (!this.#keeping.usage) return;
    for (const [name, theirs] of other.models) {
      const ours = this.model(name);
      for (const metric of usageMetrics) ours[metric].merge(theirs[metric]);
    }
  }
}

/** What is known of numbers that were added: exact but for percentiles. */
export class Numbers {
  count = 0;
  sum = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  /** Null if no percentiles are wanted. */
  readonly sketch: Sketch | null;

  constructor(withSketch: boolean) {
    this.sketch = withSketch ? new Sketch() : null;
  }

  /** Adds a number, which is finite. */
  add(value: number): void {
    this.count++;
    this.sum += value;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    this.sketch?.add(value);
  }

  /** Adds all that others have. If this one has a sketch, so must the other. */
  merge(other: Numbers): void {
    this.count += other.count;
    this.sum += other.sum;
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
    if (this.sketch && other.sketch) this.sketch.merge(other.sketch);
  }
}

/*
 * A sketch of a distribution with a bounded relative error: DDSketch (Masson, Rim, Lee, VLDB 2019),
 * with sparse bins. Bin k holds the values from gamma^(k−1), exclusive, to gamma^k, inclusive.
 */

/** The largest relative error of a value that is read back. */
const relativeError = 0.01;

const gamma = (1 + relativeError) / (1 - relativeError);
const logGamma = Math.log(gamma);

/** Bins of one sign, by their numbers. */
export type Bins = Map<number, number>;

const toBin = (value: number): number => Math.ceil(Math.log(value) / logGamma);
/** The value that is within the error of all values of a bin. */
const getMiddle = (bin: number): number => (2 * gamma ** bin) / (gamma + 1);

const increase = (bins: Bins, bin: number, count: number): void => {
  bins.set(bin, (bins.get(bin) ?? 0) + count);
};

/**
 * Counts of numbers, by size. Merging adds counts, so it makes no difference in which order or
 * grouping sketches are merged.
 */
class Sketch {
  readonly positive: Bins = new Map();
  readonly negative: Bins = new Map();
  zeros = 0;

  /** Adds a number, which is finite. */
  add(value: number): void {
    if (value === 0) this.zeros++;
    else increase(value > 0 ? this.positive : this.negative, toBin(Math.abs(value)), 1);
  }

  /** Adds all that another sketch has. */
  merge(other: Sketch): void {
    for (const [bin, count] of other.positive) increase(this.positive, bin, count);
    for (const [bin, count] of other.negative) increase(this.negative, bin, count);
    this.zeros += other.zeros;
  }

  /**
   * The percentiles of what was added, by linear interpolation between neighbours: each within the
   * relative error of the exact value.
   *
   * @param percentiles from 0 to 100
   * @param range the smallest and the largest number that was added
   * @returns in the order of `percentiles`
   */
  percentiles(percentiles: readonly number[], [min, max]: readonly [number, number]): number[] {
    const sorted = this.#sorted();
    const count = sorted.reduce((sum, [, binCount]) => sum + binCount, 0);
    const at = (rank: number): number => {
      if (rank <= 0) return min;
      if (rank >= count - 1) return max;
      let left = rank;
      for (const [value, binCount] of sorted) {
        if (left < binCount) return Math.min(max, Math.max(min, value));
        left -= binCount;
      }
      return max;
    };
    return percentiles.map((percentile) => {
      const rank = (percentile / 100) * (count - 1);
      const low = at(Math.floor(rank));
      const high = at(Math.ceil(rank));
      return low + (high - low) * (rank - Math.floor(rank));
    });
  }

  /** Values with their counts, ascending. */
  #sorted(): [value: number, count: number][] {
    const ascending = (bins: Bins) => [...bins].sort(([a], [b]) => a - b);
    return [
      ...ascending(this.negative)
        .reverse()
        .map(([bin, count]): [number, number] => [-getMiddle(bin), count]),
      ...(this.zeros > 0 ? [[0, this.zeros] as [number, number]] : []),
      ...ascending(this.positive).map(([bin, count]): [number, number] => [getMiddle(bin), count]),
    ];
  }
}

/** What rollups tell calls apart by. */
export interface Dimensions {
  readonly opName: string;
  readonly userId: string;
  readonly status: string;
  readonly source: CallSource;
}

/** The calls of some time that do not differ in their dimensions. */
export interface Group extends Dimensions {
  readonly cell: Cell;
}

export const toDimensions = (header: CallHeader): Dimensions => ({
  opName: header.start.opName,
  userId: header.start.userId,
  status: getStatus(header),
  source: getSource(header.start),
});

/** Groups by their dimensions. */
export class Groups {
  readonly #groups = new Map<string, Group>();
  readonly #keeping: Keeping;

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
  }

  /** The cell of a group, made if there is none yet. */
  cell(dimensions: Dimensions): Cell {
    const key = `${dimensions.source}\n${dimensions.status}\n${dimensions.userId}\n${dimensions.opName}`;
    const known = this.#groups.get(key);
    if (known) return known.cell;
    const cell = new Cell(this.#keeping);
    this.#groups.set(key, { ...dimensions, cell });
    return cell;
  }

  /** All groups, in the order of their first calls. */
  get all(): Group[] {
    return [...this.#groups.values()];
  }
}
