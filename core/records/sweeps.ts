import { joinBytes } from '../../foundations/encoding/index.ts';
import {
  asText,
  deleteItems,
  getItems,
  type RequestBudget,
  type Store,
  setText,
  type Table,
} from '../../foundations/storage/index.ts';
import type { TableKey } from '../../foundations/storage/tables.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { toPartition } from './partitions.ts';

/*
 * Work on all that a project holds takes longer than a request may. So a request does what it can, keeps how
 * far it is in the table `bookkeeping`, and the next one goes on from there. What was done since it was kept
 * last is done again, which changes nothing.
 *
 *   sweep   k  sweeps   s  project 0 "delete" or "retain"   j: how far it is, as JSON
 */

/** Where a project's data is. */
export interface ProjectStores {
  readonly calls: Store;
  readonly feedback: Store;
  readonly objects: Store;
  readonly costs: Store;
  readonly bookkeeping: Table;
}

/** What is done to all that a project holds. */
export type SweepKind = 'delete' | 'retain';

const progressText = 'j';

/** How often progress is kept, in milliseconds. */
const keepEveryMs = 2000;
/** How long it counts, in milliseconds: what is stored later is behind where an old sweep was. */
const keptMs = 30 * 60_000;
/** How long before its deadline a request begins nothing more, in milliseconds, and as a share of its time. */
const marginMs = 12_000;
const marginShare = 1 / 4;

export const sweepKey = (project: ProjectId, kind: SweepKind): TableKey<'bookkeeping'> => ({
  k: toPartition('sweeps'),
  s: joinBytes(project, 0, kind),
});

/** How a sweep does one kind of work: it yields after each step that takes a while. */
export type SweepStep = () => AsyncIterable<unknown>;

/** How far a sweep is. `next` is the number of the kind of work that it is at. */
export interface SweepState {
  next: number;
  /** When it was kept last, in milliseconds since 1970; absent before. */
  keptAt?: number;
}

/** A sweep of a project, from where the request before has left it. */
export class Sweep<State extends SweepState> {
  readonly state: State;
  /** Whether nobody has begun it before. */
  readonly isNew: boolean;
  readonly #table: Table;
  readonly #key: TableKey<'bookkeeping'>;
  readonly #budget: RequestBudget;
  #keptAt = Date.now();

  private constructor(
    table: Table,
    key: TableKey<'bookkeeping'>,
    kept: State | undefined,
    begin: () => State,
    budget: RequestBudget,
  ) {
    this.#table = table;
    this.#key = key;
    this.state = kept ?? begin();
    this.isNew = kept === undefined;
    this.#budget = budget;
  }

  /**
   * Reads how far a sweep is.
   *
   * @param begin gives the state of a new one
   * @param isOf whether a state that was kept is of this sweep. @default - it is
   */
  static async load<State extends SweepState>(
    table: Table,
    key: TableKey<'bookkeeping'>,
    begin: () => State,
    budget: RequestBudget,
    isOf: (state: State) => boolean = () => true,
  ): Promise<Sweep<State>> {
    const [item] = await getItems(table, [key], budget, { consistent: true });
    const text = asText(item?.[progressText]);
    const kept = text === undefined ? undefined : (JSON.parse(text) as State);
    const counts = kept && Date.now() < (kept.keptAt ?? 0) + keptMs && isOf(kept);
    return new Sweep(table, key, counts ? kept : undefined, begin, budget);
  }

  /**
   * Does one kind of work after the other, as long as there is time.
   *
   * @returns whether all is done
   * @throws ServiceError 503 when storage does not answer in time; the next request goes on
   */
  async run(steps: readonly SweepStep[]): Promise<boolean> {
    const { deadline } = this.#budget;
    const until = deadline - Math.min(marginMs, (deadline - Date.now()) * marginShare);
    for (; this.state.next < steps.length; this.state.next++) {
      for await (const _ of steps[this.state.next]?.() ?? []) {
        if (Date.now() >= until) {
          await this.keep();
          return false;
        }
        if (Date.now() >= this.#keptAt + keepEveryMs) await this.keep();
      }
      await this.keep();
    }
    return true;
  }

  /** Keeps how far it is. */
  async keep(): Promise<void> {
    this.state.keptAt = Date.now();
    const value = JSON.stringify(this.state);
    await setText(this.#table, { key: this.#key, attribute: progressText, value }, this.#budget);
    this.#keptAt = Date.now();
  }

  /** Forgets how far it was, with other items. */
  async forget(others: readonly TableKey<'bookkeeping'>[] = []): Promise<void> {
    await deleteItems(this.#table, [this.#key, ...others], this.#budget);
  }
}
