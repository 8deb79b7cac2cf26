import { FunctionThrottled } from './errors.ts';
import { FunctionWorker, type Output, type WorkerOptions } from './worker.ts';
import { WorkerPool } from './worker-pool.ts';

/** How far a function scales. */
export interface Concurrency {
  /** The most workers, which is the most concurrent invocations. */
  readonly maxWorkers: number;
  /** The most invocations in the queue. */
  readonly maxWaiting: number;
}

const defaultConcurrency: Concurrency = { maxWorkers: 12, maxWaiting: 2000 };

/** An invocation in the queue. */
interface Waiting {
  readonly begin: (worker: FunctionWorker) => void;
  readonly fail: (error: Error) => void;
}

/**
 * A Lambda function whose invocations share a few workers. Workers start on demand and one at a
 * time, because a start takes longer than most invocations. They retire when nobody needs them.
 */
export class LambdaFunction {
  readonly #options: WorkerOptions;
  readonly #concurrency: Concurrency;
  readonly #pool: WorkerPool;
  readonly #workers = new Set<FunctionWorker>();
  #idle: FunctionWorker[] = [];
  #waiting: Waiting[] = [];
  #starting = false;

  /** @param pool what bounds the workers of all functions together */
  constructor(options: WorkerOptions, concurrency = defaultConcurrency, pool = new WorkerPool()) {
    this.#options = options;
    this.#concurrency = concurrency;
    this.#pool = pool;
  }

  /** The function's name in its log and environment. */
  get name(): string {
    return this.#options.spec.name;
  }

  /**
   * Invokes the function as soon as a worker is free.
   *
   * @param event the event as JSON
   * @param signal leaves the queue, or tells the function that its answer is no longer needed
   * @returns the answer as it comes: JSON, or the bytes that a streaming handler writes
   * @throws FunctionThrottled if the queue is full; FunctionError if the function cannot be loaded;
   * the signal's reason if it aborts in the queue
   */
  async invoke(event: string, signal: AbortSignal): Promise<Output> {
    const worker = await this.#worker(signal);
    return worker.invoke(event, signal, () => this.#release(worker));
  }

  /** Whether a worker is busy. It may be so after its answer has gone out. */
  get busy(): boolean {
    return this.#workers.size > this.#idle.length;
  }

  /** Ends all workers at once. The next invocation starts a new one. */
  async kill(reason = 'Runtime was killed'): Promise<void> {
    const workers = [...this.#workers];
    for (const worker of this.#idle) this.#remove(worker);
    this.#idle = [];
    await Promise.all(workers.map((worker) => worker.terminate(reason)));
  }

  async #worker(signal: AbortSignal): Promise<FunctionWorker> {
    signal.throwIfAborted();
    const idle = this.#takeIdle();
    if (idle) return idle;
    if (this.#waiting.length < this.#concurrency.maxWaiting) return this.#wait(signal);
    throw new FunctionThrottled(`${this.name} is busy: ${this.#waiting.length} invocations are in its queue`);
  }

  /** Takes the most recently used worker, because its caches are the warmest. */
  #takeIdle(): FunctionWorker | undefined {
    const worker = this.#idle.pop();
    if (worker && !worker.dead) this.#pool.wake(worker);
    if (!worker?.dead) return worker;
    this.#remove(worker);
    return this.#takeIdle();
  }

  #wait(signal: AbortSignal): Promise<FunctionWorker> {
    const { promise, resolve, reject } = Promise.withResolvers<FunctionWorker>();
    const waiting: Waiting = { begin: resolve, fail: reject };
    const leave = () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      reject(signal.reason);
    };
    this.#waiting.push(waiting);
    signal.addEventListener('abort', leave, { once: true });
    this.#grow();
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Starts a worker if invocations wait and the limits allow one more. */
  #grow(): void {
    const full = this.#workers.size >= this.#concurrency.maxWorkers;
    if (this.#starting || full || this.#waiting.length === 0) return;
    if (!this.#pool.enter(this.#workers.size === 0)) return;
    this.#starting = true;
    const worker = new FunctionWorker(this.#options);
    this.#workers.add(worker);
    worker.started
      .catch((error: Error) => this.#waiting.shift()?.fail(error))
      .finally(() => {
        this.#starting = false;
        this.#release(worker);
      });
  }

  /** Gives a free worker its next invocation, or replaces it if its thread has ended. */
  #release(worker: FunctionWorker): void {
    if (worker.dead) this.#remove(worker);
    else this.#assign(worker);
    this.#grow();
  }

  #assign(worker: FunctionWorker): void {
    const next = this.#waiting.shift();
    if (next) {
      next.begin(worker);
      return;
    }
    this.#idle.push(worker);
    this.#pool.rest(worker, {
      isLast: () => this.#workers.size === 1,
      retire: () => this.#retire(worker),
    });
  }

  /** Ends an idle worker. */
  #retire(worker: FunctionWorker): void {
    this.#idle = this.#idle.filter((other) => other !== worker);
    this.#remove(worker);
    worker.terminate('Runtime was idle');
  }

  #remove(worker: FunctionWorker): void {
    if (this.#workers.delete(worker)) this.#pool.left(worker);
  }
}
