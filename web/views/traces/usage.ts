import { type CallRow, type Cost, costOf, sumUsage, type Usage } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { Answer } from '../../api/contract.ts';
import { type Condition, costPath, type TracesSearch } from '../search.ts';

/** What a row stands for used, and how much of it failed. */
export interface RowFigures {
  readonly usage: Usage | undefined;
  /** How many calls failed; undefined where nobody counts. */
  readonly errors?: number | undefined;
}

/** How many traces a list asks for at once, if it needs all. */
export const chunkSize = 50;

type ModelUsage = Answer<'/calls/usage'>['call_usage'][string][string];

const usageOf = (usage: ModelUsage): Usage => {
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  return {
    input: prompt_tokens,
    output: completion_tokens,
    total: total_tokens,
    cost: costOf(usage),
  };
};

/** What roots used with all below them, by their ids. */
export const readUsage = async (
  client: Client,
  project: string,
  roots: readonly Root[],
  signal: AbortSignal,
) => {
  const call_ids = roots.map(({ id }) => id);
  const trace_ids = [...new Set(roots.map(({ trace_id }) => trace_id))];
  const request = { project_id: project, call_ids, trace_ids, include_costs: true };
  const { call_usage, error_counts } = await client.ask('/calls/usage', request, signal);
  return new Map(
    Object.entries(call_usage).map(([id, models]): [string, RowFigures] => [
      id,
      { usage: sumUsage(Object.values(models).map(usageOf)), errors: error_counts[id] },
    ]),
  );
};

/** A root whose usage is asked for. */
export type Root = Pick<CallRow, 'id' | 'trace_id'>;

/** As many rows are asked for at once, at least. A request costs more than what they read. */
const minRows = 16;

/** Which rows are in sight, by their places, and whether no more are on their way. */
export interface Sight {
  readonly first: number;
  readonly last: number;
  readonly settled: boolean;
}

/**
 * The batches in which a list asks for the usage of its traces. It asks for rows in sight, and each
 * once, whatever comes before it or behind.
 */
export class UsageBatches {
  #batches = new Map<string, readonly Root[]>();

  /**
   * The batches that rows in sight belong to. Those in none make a new one, with the rows behind
   * them if they are few. While rows come in, it waits until they are enough.
   */
  inSight(rows: readonly CallRow[], { first, last, settled }: Sight): (readonly Root[])[] {
    const seen = rows.slice(Math.max(0, first), last + 1);
    const missing = this.#missing(seen);
    if (missing.length > 0 && (settled || missing.length >= minRows)) {
      const behind = this.#missing(rows.slice(last + 1, last + minRows));
      this.#add([...missing, ...behind.slice(0, Math.max(0, minRows - missing.length))], rows);
    }
    return [...new Set(seen.flatMap(({ id }) => [this.#batches.get(id) ?? []]))].filter(
      ({ length }) => length > 0,
    );
  }

  #missing(rows: readonly CallRow[]): readonly CallRow[] {
    return rows.filter(({ id }) => !this.#batches.has(id));
  }

  #add(roots: readonly CallRow[], rows: readonly CallRow[]): void {
    // A live list loses its oldest rows.
    if (this.#batches.size > 2 * rows.length) this.#forget(new Set(rows.map(({ id }) => id)));
    const batch = roots.map(({ id, trace_id }) => ({ id, trace_id }));
    for (const { id } of batch) this.#batches.set(id, batch);
  }

  #forget(kept: ReadonlySet<string>): void {
    this.#batches = new Map([...this.#batches].filter(([id]) => kept.has(id)));
  }
}

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
export const costTestOf = ({ where = [] }: Pick<TracesSearch, 'where'>): CostTest | undefined => {
  const conditions = where.filter(({ path }) => path === costPath);
  if (conditions.length === 0) return undefined;
  return (figures) => conditions.every((condition) => passes(condition, figures?.usage?.cost));
};
