import { FunctionThrottled } from './errors.ts';
import { FunctionWorker, type Output, type WorkerOptions } from './worker.ts';

/** How far a function scales. */
export interface Concurrency {
  /** The most workers, so invocations at a time. */
  readonly maxWorkers: number;
  /** The most invocations that wait for a worker. */
  readonly maxWaiting: number;
}

const defaultConcurrency: Concurrency = { maxWorkers: 12, maxWaiting: 2000 };

/** An invocation that waits for a worker. */
interface Waiting {
  readonly begin: (worker: FunctionWorker) => void;
  readonly fail: (error: Error) => void;
}

/**
 * A Lambda function: its invocations share a few workers, which start when they are needed, one at
 * a time, since every start takes longer than most invocations.
 */
export class LambdaFunction {
  readonly #options: WorkerOptions;
  readonly #concurrency: Concurrency;
  readonly #workers = new Set<FunctionWorker>();
  #idle: FunctionWorker[] = [];
  #waiting: Waiting[] = [];
  #starting = false;

  constructor(options: WorkerOptions, concurrency: Concurrency = defaultConcurrency) {
    this.#options = options;
    this.#concurrency = concurrency;
  }

  /** The function's name, as its log and its environment have it. */
  get name(): string {
    return this.#options.spec.name;
  }

  /**
   * Invokes the function once a worker is free.
   *
   * @param event the event as JSON
   * @param signal ends the waiting, or tells the function that nobody wants its answer any more
   * @returns the answer as it comes: JSON, or what a streaming handler writes
   * @throws FunctionThrottled where too many wait already
   * @throws FunctionError where the function cannot be loaded
   * @throws the signal's reason where it comes while waiting
   */
  async invoke(event: string, signal: AbortSignal): Promise<Output> {
    const worker = await this.#worker(signal);
    return worker.invoke(event, signal, () => this.#release(worker));
  }

  /** Whether a worker is at work, be it that its answer has gone out already. */
  get busy(): boolean {
    return this.#workers.size > this.#idle.length;
  }

  /** Ends all workers with what they are doing; the next invocation starts a new one. */
  async kill(reason = 'Runtime was killed'): Promise<void> {
    const workers = [...this.#workers];
    this.#idle = [];
    await Promise.all(workers.map((worker) => worker.terminate(reason)));
  }

  async #worker(signal: AbortSignal): Promise<FunctionWorker> {
    signal.throwIfAborted();
    const idle = this.#takeIdle();
    if (idle) return idle;
    if (this.#waiting.length < this.#concurrency.maxWaiting) return this.#wait(signal);
    throw new FunctionThrottled(`${this.name} is busy, and ${this.#waiting.length} invocations wait for it`);
  }

  /** The worker that was busy last, whose caches are the warmest. */
  #takeIdle(): FunctionWorker | undefined {
    const worker = this.#idle.pop();
    if (!worker?.dead) return worker;
    this.#workers.delete(worker);
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

  /** Starts a worker for those who wait, where one more may be. */
  #grow(): void {
    const full = this.#workers.size >= this.#concurrency.maxWorkers;
    if (this.#starting || full || this.#waiting.length === 0) return;
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

  /** Gives a worker that is free, or whose thread has ended, its next work or its successor. */
  #release(worker: FunctionWorker): void {
    if (worker.dead) this.#workers.delete(worker);
    else this.#hand(worker);
    this.#grow();
  }

  #hand(worker: FunctionWorker): void {
    const next = this.#waiting.shift();
    if (next) next.begin(worker);
    else this.#idle.push(worker);
  }
}
