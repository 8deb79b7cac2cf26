import { ForksPoolWorker, type PoolOptions, type PoolRunnerInitializer } from 'vitest/node';
import { forgetWorker, isFull } from './memory.ts';

let count = 0;

/**
 * A worker that ends once it takes too much memory. Vitest ends those of its pools `vmThreads` and `vmForks`
 * by their heap alone, which has no threads.
 */
class BoundedWorker extends ForksPoolWorker {
  override readonly name = 'bounded-forks';
  readonly #number = String(++count);

  constructor(options: PoolOptions) {
    super(options);
    // The worker tells its memory by this number.
    this.env = { ...options.env, TEST_WORKER: this.#number };
  }

  /** Vitest asks after each file whether the worker runs another. */
  canReuse(): boolean {
    return !isFull(this.#number);
  }

  override async stop(): Promise<void> {
    await super.stop();
    forgetWorker(this.#number);
  }
}

/** Runs files in processes, each many of them. */
export const boundedPool: PoolRunnerInitializer = {
  name: 'bounded-forks',
  createPoolWorker: (options) => new BoundedWorker(options),
};
