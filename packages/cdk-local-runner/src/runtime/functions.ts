import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionSpec } from '../template/stack.ts';
import {
  type Container,
  type ContainerOptions,
  FunctionThrottled,
  FunctionWorker,
  type Output,
  type StartContainer,
} from './worker.ts';

/** How many workers all functions may have together, and how long workers live without work. */
export interface PoolLimits {
  /**
   * How many workers there may be before an invocation has to wait for {@link patientMs} until there is one
   * more: what computes gets no quicker by more workers than cores, but what waits for others does.
   * @default - as many as there may be
   */
  readonly quickWorkers?: number;
  /** The most workers, but that each function may have one, and that some wait for their readers. */
  readonly maxWorkers: number;
  /** The most workers beside those, while as many wait for readers who are behind. */
  readonly maxHeld: number;
  /** How long nothing of an answer may be taken while other requests wait for a worker, in ms. */
  readonly stalledMs: number;
  /**
   * How long a worker may be idle before it gives back the memory of its last invocations, in ms. It ends then
   * if there are more than the quick ones, and its function has another.
   */
  readonly trimMs: number;
  /** How long a worker may be idle, in ms. */
  readonly idleMs: number;
  /** How long the only worker of its function may be idle, in ms. The next request is quicker. */
  readonly lastIdleMs: number;
}

/**
 * A worker takes some 25 to 45 MB, one in the middle of a large answer twice that. Sixteen are enough for
 * four connections (docs/local.md#memory).
 */
export const defaultPoolLimits: PoolLimits = {
  quickWorkers: 2 * availableParallelism(),
  maxWorkers: 16,
  maxHeld: 8,
  // A connection's buffers hold some MB, so a slow reader makes room for more only now and then.
  stalledMs: 15_000,
  trimMs: 2000,
  idleMs: 30_000,
  lastIdleMs: 600_000,
};

/** How long a reader takes nothing before its worker counts as held, in ms. Others take what comes at once. */
const heldMs = 100;

/** How long an invocation waits before there are more workers than are made quickly, in ms. */
const patientMs = 1000;

/** How often functions look for room for the invocations that wait, in ms. */
const lookMs = 100;

/** An answer was given up, because its reader took nothing of it and other requests waited. */
export class ReaderStalled extends Error {
  override readonly name = 'ReaderStalled';
}

/** Ends an answer that its reader does not take. */
type GiveUp = (reason: ReaderStalled) => void;

/** What the pool asks the function of an idle worker. */
interface Resting {
  /** Whether it is the only worker of its function. */
  readonly isLast: () => boolean;
  /** Ends the worker, which {@link WorkerPool.left} has to follow. */
  readonly retire: () => void;
}

/**
 * Counts the workers of all functions, and retires those that nobody needs. A worker whose reader is behind
 * is *held*: it has nothing to do until the reader takes something, and others may work meanwhile.
 */
export class WorkerPool {
  readonly #limits: PoolLimits;
  #size = 0;
  /** What readers have not taken yet, the one that is behind for longest first. */
  readonly #untaken = new Map<Container, { readonly since: number; readonly giveUp: GiveUp }>();
  /** The idle workers, the one that has been so for longest first. */
  readonly #resting = new Map<Container, Resting & { timer: NodeJS.Timeout; trimming: NodeJS.Timeout }>();

  constructor(limits: PoolLimits = defaultPoolLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  get #quickWorkers(): number {
    return this.#limits.quickWorkers ?? this.#limits.maxWorkers;
  }

  /**
   * Makes room for one more worker. An idle one may have to go for it, at first one whose function has
   * another; if there is none, so has the answer whose reader is behind for longest. Its worker is free a
   * moment later.
   *
   * @param isFirst whether its function has none yet, for which there is always room
   * @param waitedMs how long the invocation has waited that it is for
   * @returns whether there is room
   */
  enter(isFirst: boolean, waitedMs = patientMs): boolean {
    const isMany = this.#size >= this.#quickWorkers;
    if (!isFirst && waitedMs < patientMs && isMany) return false;
    if (isMany) [...this.#resting.values()].find(({ isLast }) => !isLast())?.retire();
    const [oldest] = this.#resting.values();
    if (!this.#hasRoom()) oldest?.retire();
    const room = isFirst || this.#hasRoom();
    if (room) this.#size++;
    else this.#endStalled();
    return room;
  }

  /** How many of these workers are held. */
  heldAmong(workers: Iterable<Container>): number {
    const until = performance.now() - heldMs;
    let held = 0;
    for (const worker of workers) if ((this.#untaken.get(worker)?.since ?? until) < until) held++;
    return held;
  }

  /** A worker has given its reader something. */
  gave(worker: Container, giveUp: GiveUp): void {
    this.#untaken.set(worker, { since: performance.now(), giveUp });
  }

  /** The reader has taken what its worker gave, or has gone. */
  taken(worker: Container): void {
    this.#untaken.delete(worker);
  }

  #hasRoom(): boolean {
    const { maxWorkers, maxHeld } = this.#limits;
    return this.#size - Math.min(maxHeld, this.heldAmong(this.#untaken.keys())) < maxWorkers;
  }

  #endStalled(): void {
    const [first] = this.#untaken;
    if (!first) return;
    const [worker, { since, giveUp }] = first;
    const { stalledMs } = this.#limits;
    if (performance.now() - since < stalledMs) return;
    this.taken(worker);
    const seconds = stalledMs / 1000;
    giveUp(new ReaderStalled(`nothing of the answer was read for ${seconds} s while other requests waited`));
  }

  /** A worker has ended. */
  left(worker: Container): void {
    this.wake(worker);
    this.taken(worker);
    this.#size--;
  }

  /** A worker has nothing to do. It retires after a while, or at once if there are too many. */
  rest(worker: Container, resting: Resting): void {
    const { maxWorkers, trimMs, idleMs, lastIdleMs } = this.#limits;
    if (this.#size > maxWorkers) {
      resting.retire();
      return;
    }
    this.#resting.set(worker, {
      ...resting,
      timer: setTimeout(() => this.#tire(worker, lastIdleMs), idleMs).unref(),
      trimming: setTimeout(() => {
        if (this.#size > this.#quickWorkers && !resting.isLast()) resting.retire();
        else worker.trim?.();
      }, trimMs).unref(),
    });
  }

  /** A worker has something to do again. */
  wake(worker: Container): void {
    const entry = this.#resting.get(worker);
    clearTimeout(entry?.timer);
    clearTimeout(entry?.trimming);
    this.#resting.delete(worker);
  }

  #tire(worker: Container, lastIdleMs: number): void {
    const entry = this.#resting.get(worker);
    if (entry?.isLast()) entry.timer = setTimeout(entry.retire, lastIdleMs).unref();
    else entry?.retire();
  }
}

/** How far a function scales. */
export interface Concurrency {
  /** The most workers, which is the most concurrent invocations. */
  readonly maxWorkers: number;
  /** The most invocations in the queue. */
  readonly maxWaiting: number;
}

const defaultConcurrency: Concurrency = { maxWorkers: 12, maxWaiting: 2000 };

/** Runs functions in threads of this process. */
const startThread: StartContainer = (options) => new FunctionWorker(options);

interface Waiting {
  /** Since when, on the clock of `performance`. */
  readonly since: number;
  readonly start: (worker: Container) => void;
  readonly fail: (error: Error) => void;
}

/**
 * A Lambda function whose invocations share a few workers. Workers start on demand and one at a
 * time, because a start takes longer than most invocations. They retire when nobody needs them.
 */
export class LambdaFunction {
  readonly #options: ContainerOptions;
  readonly #concurrency: Concurrency;
  readonly #pool: WorkerPool;
  readonly #startContainer: StartContainer;
  readonly #workers = new Set<Container>();
  #idle: Container[] = [];
  #waiting: Waiting[] = [];
  #starting = false;
  /** Looks for room while invocations wait: readers fall behind, and other functions' workers retire. */
  #look: NodeJS.Timeout | undefined;

  /** @param pool what bounds the workers of all functions together */
  constructor(
    options: ContainerOptions,
    concurrency = defaultConcurrency,
    pool = new WorkerPool(),
    startContainer = startThread,
  ) {
    this.#options = options;
    this.#startContainer = startContainer;
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
   * @param signal takes the invocation out of the queue, or lets the function know that nobody needs
   * its answer any more
   * @param giveUp ends an answer of which nobody takes anything. @default - it is never ended
   * @returns the answer as it comes: JSON, or the bytes that a streaming handler writes
   * @throws FunctionThrottled if the queue is full; FunctionError if the function cannot be loaded;
   * the signal's reason if it aborts in the queue
   */
  async invoke(event: string, signal: AbortSignal, giveUp?: GiveUp): Promise<Output> {
    const worker = await this.#worker(signal);
    const reading = { over: false };
    const output = worker.invoke(event, signal, () => {
      this.#pool.taken(worker);
      reading.over = true;
      this.#release(worker);
    });
    return giveUp ? this.#watched(output, worker, reading, giveUp) : output;
  }

  /** Tells the pool while the reader is behind. The last of an answer is there when its worker is free. */
  async *#watched(output: Output, worker: Container, reading: { over: boolean }, giveUp: GiveUp): Output {
    try {
      for await (const bytes of output) {
        if (!reading.over) this.#pool.gave(worker, giveUp);
        yield bytes;
        if (!reading.over) this.#pool.taken(worker);
      }
    } finally {
      if (!reading.over) this.#pool.taken(worker);
    }
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

  async #worker(signal: AbortSignal): Promise<Container> {
    signal.throwIfAborted();
    const idle = this.#takeIdle();
    if (idle) return idle;
    if (this.#waiting.length < this.#concurrency.maxWaiting) return this.#wait(signal);
    throw new FunctionThrottled(`${this.name} is busy: ${this.#waiting.length} invocations are in its queue`);
  }

  /** Takes the most recently used worker, because its caches are the warmest. */
  #takeIdle(): Container | undefined {
    const worker = this.#idle.pop();
    if (worker && !worker.dead) this.#pool.wake(worker);
    if (!worker?.dead) return worker;
    this.#remove(worker);
    return this.#takeIdle();
  }

  #wait(signal: AbortSignal): Promise<Container> {
    const { promise, resolve, reject } = Promise.withResolvers<Container>();
    const waiting: Waiting = { since: performance.now(), start: resolve, fail: reject };
    const leave = () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      reject(signal.reason);
    };
    this.#waiting.push(waiting);
    signal.addEventListener('abort', leave, { once: true });
    this.#grow();
    this.#look ??= setInterval(() => this.#grow(), lookMs);
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Starts a worker if invocations wait and the limits allow one more. */
  #grow(): void {
    const [first] = this.#waiting;
    if (!first) {
      clearInterval(this.#look);
      this.#look = undefined;
      return;
    }
    const working = this.#workers.size - this.#pool.heldAmong(this.#workers);
    if (this.#starting || working >= this.#concurrency.maxWorkers) return;
    if (!this.#pool.enter(this.#workers.size === 0, performance.now() - first.since)) return;
    this.#starting = true;
    const worker = this.#startContainer(this.#options);
    this.#workers.add(worker);
    worker.started
      .catch((error: Error) => this.#waiting.shift()?.fail(error))
      .finally(() => {
        this.#starting = false;
        this.#release(worker);
      });
  }

  /** Hands a free worker its next invocation, or replaces it if its thread has ended. */
  #release(worker: Container): void {
    if (worker.dead) this.#remove(worker);
    else this.#assign(worker);
    this.#grow();
  }

  #assign(worker: Container): void {
    const next = this.#waiting.shift();
    if (next) {
      next.start(worker);
      return;
    }
    this.#idle.push(worker);
    this.#pool.rest(worker, {
      isLast: () => this.#workers.size === 1,
      retire: () => this.#retire(worker),
    });
  }

  #retire(worker: Container): void {
    this.#idle = this.#idle.filter((other) => other !== worker);
    this.#remove(worker);
    worker.terminate('Runtime was idle');
  }

  #remove(worker: Container): void {
    if (this.#workers.delete(worker)) this.#pool.left(worker);
  }
}

/** The functions of a stack. */
export interface Functions {
  /** @throws Error if the stack has no such function */
  getFunction(spec: Pick<FunctionSpec, 'arn'>): LambdaFunction;
  /**
   * Waits up to three seconds until no function is busy, because some work on after their answers.
   */
  waitUntilIdle(): Promise<void>;
  /** Ends the threads of all functions at once, as a crash would. */
  kill(): Promise<void>;
}

interface FunctionsOptions {
  readonly specs: readonly FunctionSpec[];
  /** Variables for every function, beside its own. */
  readonly environment: Readonly<Record<string, string>>;
  /** Takes each line that a function writes, with the function's name. */
  readonly log: (source: string, line: string) => void;
  readonly concurrency?: Concurrency;
  /** The bounds on the workers of all functions together. @default - `defaultPoolLimits` */
  readonly poolLimits?: PoolLimits;
  /** What runs the functions. @default - threads */
  readonly startContainer?: StartContainer;
}

const graceMs = 3000;

/** Makes the functions of a stack. Each starts at its first invocation. */
export const makeFunctions = ({
  specs,
  environment,
  log,
  concurrency,
  poolLimits,
  startContainer,
}: FunctionsOptions): Functions => {
  const pool = new WorkerPool(poolLimits);
  const functions = new Map(
    specs.map((spec) => [
      spec.arn,
      new LambdaFunction(
        { spec, environment, log: (line) => log(spec.name, line) },
        concurrency,
        pool,
        startContainer,
      ),
    ]),
  );
  return {
    getFunction: ({ arn }) => {
      const found = functions.get(arn);
      if (!found) throw new Error(`the stack has no function ${arn}`);
      return found;
    },
    waitUntilIdle: async () => {
      const until = performance.now() + graceMs;
      const busy = () => [...functions.values()].some((lambda) => lambda.busy);
      while (busy() && performance.now() < until) await sleep(10);
    },
    kill: async () => {
      await Promise.all([...functions.values()].map((lambda) => lambda.kill()));
    },
  };
};
