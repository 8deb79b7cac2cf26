import type { TraceTotals } from '../../../api/queries.ts';
import { readTokens } from '../../../api/shared/usage.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
} from '../../../foundations/wire/index.ts';
import type { CallHeader } from '../../records/calls/index.ts';
import type { Costs } from '../../records/costs/index.ts';

/** Gives what a call's usage costs, by model, at the prices in force when the call started. */
export type ComputeCosts = (usage: JsonObject, startedAt: Micros) => JsonObject;

/** What the calls of one trace add up to. */
export class Figures {
  #calls = 0;
  #errors = 0;
  #errorsBelow = 0;
  #input = 0;
  #output = 0;
  #cacheRead = 0;
  #cacheWrite = 0;
  #reasoning = 0;
  #cost = 0;
  #waited = 0;

  /**
   * Adds a call.
   *
   * @param usage its `summary.usage`, whatever it is
   * @param computeCosts gives what usage costs, by model
   */
  add({ start, end }: CallHeader, usage: JsonValue, computeCosts: ComputeCosts): void {
    this.#calls++;
    if (end?.status === 'error') {
      this.#errors++;
      if (start.parentId !== null) this.#errorsBelow++;
    }
    if (typeof end?.waited === 'number') this.#waited += end.waited;
    if (!isJsonObject(usage)) return;
    for (const used of Object.values(usage)) {
      if (!isJsonObject(used)) continue;
      const tokens = readTokens(used);
      this.#input += tokens.prompt;
      this.#output += tokens.completion;
      this.#cacheRead += tokens.cacheRead;
      this.#cacheWrite += tokens.cacheWrite;
      this.#reasoning += tokens.reasoning;
    }
    for (const cost of Object.values(computeCosts(usage, start.startedAt) as Costs))
      this.#cost += cost.prompt_tokens_total_cost + cost.completion_tokens_total_cost;
  }

  /** Whether a call below a root has failed. */
  get hasErrorsBelow(): boolean {
    return this.#errorsBelow > 0;
  }

  /** As they are answered. */
  get totals(): TraceTotals {
    return {
      call_count: this.#calls,
      error_count: this.#errors,
      input_tokens: this.#input,
      output_tokens: this.#output,
      cache_read_tokens: this.#cacheRead,
      cache_write_tokens: this.#cacheWrite,
      reasoning_tokens: this.#reasoning,
      total_cost: this.#cost,
      waited_ms: this.#waited,
    };
  }
}
