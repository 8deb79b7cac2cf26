import type { FunctionWorker } from './worker.ts';

/** How many workers all functions may have together, and how long workers live without work. */
export interface PoolLimits {
  /** The most workers, but that each function may have one. */
  readonly maxWorkers: number;
  /** How long a worker may be idle, in ms. */
  readonly idleMs: number;
  /** How long the only worker of its function may be idle, in ms. The next request is quicker. */
  readonly lastIdleMs: number;
}

/**
 * A worker takes some 25 to 45 MB. Sixteen are enough for four connections
 * (docs/local.md#memory).
 */
export const defaultPoolLimits: PoolLimits = { maxWorkers: 16, idleMs: 30_000, lastIdleMs: 600_000 };

/** What the pool asks the function of an idle worker. */
export interface Resting {
  /** Whether it is the only worker of its function. */
  readonly isLast: () => boolean;
  /** Ends the worker, which {@link WorkerPool.left} has to follow. */
  readonly retire: () => void;
}

/** Counts the workers of all functions, and retires those that nobody needs. */
export class WorkerPool {
  readonly #limits: PoolLimits;
  #size = 0;
  /** The idle workers, the one that has been so for longest first. */
  readonly #resting = new Map<FunctionWorker, Resting & { timer: NodeJS.Timeout }>();

  constructor(limits: PoolLimits = defaultPoolLimits) {
    this.#limits = limits;
  }

  /** The number of workers. */
  get size(): number {
    return this.#size;
  }

  /**
   * Makes room for one more worker, for which an idle one may have to go.
   *
   * @param isFirst whether its function has none yet, for which there is always room
   * @returns whether there is room
   */
  enter(isFirst: boolean): boolean {
    const [oldest] = this.#resting.values();
    if (this.#size >= this.#limits.maxWorkers) oldest?.retire();
    const room = isFirst || this.#size < this.#limits.maxWorkers;
    if (room) this.#size++;
    return room;
  }

  /** A worker has ended. */
  left(worker: FunctionWorker): void {
    this.wake(worker);
    this.#size--;
  }

  /** A worker has nothing to do. It retires after a while, or at once if there are too many. */
  rest(worker: FunctionWorker, resting: Resting): void {
    const { maxWorkers, idleMs, lastIdleMs } = this.#limits;
    if (this.#size > maxWorkers) {
      resting.retire();
      return;
    }
    const entry = { ...resting, timer: setTimeout(() => this.#tire(worker, lastIdleMs), idleMs).unref() };
    this.#resting.set(worker, entry);
  }

  /** A worker has something to do again. */
  wake(worker: FunctionWorker): void {
    clearTimeout(this.#resting.get(worker)?.timer);
    this.#resting.delete(worker);
  }

  #tire(worker: FunctionWorker, lastIdleMs: number): void {
    const entry = this.#resting.get(worker);
    if (entry?.isLast()) entry.timer = setTimeout(entry.retire, lastIdleMs).unref();
    else entry?.retire();
  }
}
