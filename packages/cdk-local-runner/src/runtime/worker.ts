import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { threadCodeSync } from 'aws-stand-in/thread-code';
import type { FunctionSpec } from '../template/stack.ts';

/** The data that a worker thread starts with. */
export interface WorkerSetup {
  /** The path of the handler's module. */
  readonly module: string;
  /** The name of the handler among the module's exports. */
  readonly export: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMb: number;
}

/** Messages to a worker, which runs one invocation at a time. */
export type ToWorker =
  | {
      readonly type: 'invoke';
      readonly requestId: string;
      /** The event as JSON. */
      readonly event: string;
      /** When the function's time is up, in ms since 1970. */
      readonly deadline: number;
    }
  /** The reader has taken these bytes of the answer. */
  | { readonly type: 'taken'; readonly bytes: number }
  /** The rest of the answer is not needed. */
  | { readonly type: 'abandon' }
  /** No invocation has come for a while: memory that is not needed can go. */
  | { readonly type: 'trim' };

/** An error as the handler threw it. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

/** Messages from a worker. */
export type FromWorker =
  /** The module is loaded and invocations may come. */
  | { readonly type: 'ready' }
  /** A chunk of the answer. */
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  /** The answer is complete. `idle` says whether the handler has also ended. */
  | { readonly type: 'end'; readonly idle: boolean }
  /** The handler failed, before or during its answer. */
  | { readonly type: 'error'; readonly error: ThrownError; readonly idle: boolean }
  /** The handler has ended, some time after its answer. */
  | { readonly type: 'idle' };

/**
 * A function failed: its handler threw, it timed out, or its process ended. The message is the
 * handler's own.
 */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  /** The name of the error that the handler threw. */
  readonly type: string;

  constructor({ name, message, stack }: ThrownError) {
    super(message);
    this.type = name;
    if (stack !== undefined) this.stack = stack;
  }
}

/** All workers of a function are busy, and its queue of invocations is full. */
export class FunctionThrottled extends Error {
  override readonly name = 'FunctionThrottled';
}

class Mailbox<Message> {
  readonly #messages: Message[] = [];
  #waiting: ((message: Message) => void) | undefined;

  send(message: Message): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(message);
    else this.#messages.push(message);
  }

  /** Removes the oldest message as soon as there is one. Only one caller may wait. */
  next(): Promise<Message> {
    const message = this.#messages.shift();
    if (message !== undefined) return Promise.resolve(message);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}

let code: string | undefined;

/** What a worker thread runs: `bootstrap.ts` with its imports, made once. */
const bootstrapCode = (): string => {
  if (code !== undefined) return code;
  code = threadCodeSync(resolve(import.meta.dirname, 'bootstrap.ts'));
  // `bootstrap.ts` collects garbage with it. Threads take no flags of V8 of their own.
  setFlagsFromString('--expose-gc');
  return code;
};

/** A function's answer as it comes. It throws FunctionError if the function fails, also midway. */
export type Output = AsyncGenerator<Uint8Array, void, void>;

/** A worker's messages about an invocation, and the abort of its reader with the reason. */
type Progress =
  | Exclude<FromWorker, { type: 'ready' | 'idle' }>
  | { readonly type: 'abandoned'; readonly reason: unknown };

export interface ContainerOptions {
  readonly spec: FunctionSpec;
  /** Variables beside the function's own. */
  readonly environment: Readonly<Record<string, string>>;
  /** Takes each line that the function writes. */
  readonly log: (line: string) => void;
}

/** What runs a function, one invocation at a time. One that is dead is not used again. */
export interface Container {
  /** Resolves when the function is loaded. Rejects with a FunctionError if that fails. */
  readonly started: Promise<void>;
  /** Whether it has ended or is about to. */
  readonly dead: boolean;
  /**
   * Invokes the function, which must be loaded and idle.
   *
   * @param event the event as JSON
   * @param signal says that the answer is no longer needed, which then throws the signal's reason
   * @param idle is called when the handler has ended or the container is dead. The handler may go on
   * after its answer
   */
  invoke(event: string, signal: AbortSignal, idle: () => void): Output;
  /** Gives back what memory it can. It is idle. @default - it keeps its memory */
  trim?(): void;
  /** Ends it and its invocation. */
  terminate(reason: string): Promise<unknown>;
}

/** Starts a container. */
export type StartContainer = (options: ContainerOptions) => Container;

/** Node itself needs about as much to start. */
const minMemoryMb = 256;

/**
 * What V8 may take for new objects, in MB: three semi-spaces. Lambda lets it have some of 5 % of a
 * function's memory ({@link youngMbOnLambda}), and many threads that share a process would soon hold that.
 * With 12 MB a scan of headers takes a sixth more processor time.
 */
const youngMb = 48;

/** What V8 may take for new objects on Lambda, in MB: three semi-spaces. */
export const youngMbOnLambda = ({ memoryMb }: FunctionSpec): number => Math.ceil(3 * 0.05 * memoryMb);

/** The file of a module: the first that exists, in Lambda's order of extensions. */
const findModule = (path: string): string => {
  const files = ['.js', '.mjs', '.cjs'].map((extension) => path + extension);
  return files.find((file) => existsSync(file)) ?? `${path}.js`;
};

const toSetup = ({ folder, handler, name, arn, memoryMb }: FunctionSpec): WorkerSetup => {
  const dot = handler.lastIndexOf('.');
  return {
    module: findModule(join(folder, handler.slice(0, dot))),
    export: handler.slice(dot + 1),
    functionName: name,
    functionArn: arn,
    memoryMb,
  };
};

/** The environment of a function, as far as Lambda's own names go that somebody reads. */
export const createEnvironment = ({ spec, environment }: ContainerOptions): Record<string, string> => ({
  ...environment,
  ...spec.environment,
  AWS_LAMBDA_FUNCTION_NAME: spec.name,
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(spec.memoryMb),
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  LAMBDA_TASK_ROOT: spec.folder,
  _HANDLER: spec.handler,
  TZ: ':UTC',
});

/** Calls back with each line; the last one needs no line end. */
export const forwardLines = (stream: Readable, log: (line: string) => void): void => {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const pieces = (rest + text).split('\n');
    rest = pieces.pop() ?? '';
    for (const line of pieces) log(line);
  });
  stream.on('end', () => {
    if (rest) log(rest);
  });
};

/** How much is read before the worker is told. It waits once it is 64 KiB ahead. */
const reportedBytes = 32 * 1024;

/** A worker thread that runs a function's bundle. */
export class FunctionWorker implements Container {
  readonly started: Promise<void>;
  readonly #spec: FunctionSpec;
  readonly #worker: Worker;
  #start: { resolve: () => void; reject: (error: FunctionError) => void } | undefined;
  #invocation: { mailbox: Mailbox<Progress>; finish: () => void } | undefined;
  #dead = false;

  /** @param maxYoungMb what V8 may take for new objects, in MB */
  constructor(options: ContainerOptions, maxYoungMb = youngMb) {
    this.#spec = options.spec;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.started = promise;
    this.#start = { resolve, reject };
    this.#worker = new Worker(bootstrapCode(), {
      eval: true,
      workerData: toSetup(options.spec),
      env: createEnvironment(options),
      resourceLimits: {
        maxOldGenerationSizeMb: Math.max(minMemoryMb, options.spec.memoryMb),
        maxYoungGenerationSizeMb: maxYoungMb,
      },
      stdout: true,
      stderr: true,
    });
    forwardLines(this.#worker.stdout, options.log);
    forwardLines(this.#worker.stderr, options.log);
    this.#worker.on('message', (message: FromWorker) => this.#receive(message));
    this.#worker.on('error', (error) => this.#die(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', (code) => this.#die(new Error(`Runtime exited with code ${code}`)));
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** If the answer is no longer needed, a streaming handler finds its stream destroyed. */
  invoke(event: string, signal: AbortSignal, idle: () => void): Output {
    const mailbox = new Mailbox<Progress>();
    const timeoutMs = this.#spec.timeoutSeconds * 1000;
    const timer = setTimeout(() => this.#timeOut(), timeoutMs);
    const abandon = () => mailbox.send({ type: 'abandoned', reason: signal.reason });
    signal.addEventListener('abort', abandon, { once: true });
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abandon);
      this.#invocation = undefined;
      idle();
    };
    this.#invocation = { mailbox, finish };
    this.#post({ type: 'invoke', requestId: randomUUID(), event, deadline: Date.now() + timeoutMs });
    if (signal.aborted) abandon();
    // The thread may have ended since it was chosen.
    if (this.#dead) this.#receive({ type: 'error', error: new Error('Runtime exited'), idle: true });
    return this.#output(mailbox);
  }

  trim(): void {
    this.#post({ type: 'trim' });
  }

  terminate(reason: string): Promise<number> {
    this.#die(new Error(reason));
    return this.#worker.terminate();
  }

  #timeOut(): void {
    this.terminate(`Task timed out after ${this.#spec.timeoutSeconds.toFixed(2)} seconds`);
  }

  /** Yields the answer. Reports to the worker how much was read, and when the reader stops. */
  async *#output(mailbox: Mailbox<Progress>): Output {
    let complete = false;
    let taken = 0;
    const report = (message: ToWorker) => {
      if (this.#invocation?.mailbox === mailbox) this.#post(message);
    };
    try {
      for (;;) {
        const progress = await mailbox.next();
        complete = progress.type === 'end';
        if (progress.type === 'end') return;
        if (progress.type === 'error') throw new FunctionError(progress.error);
        if (progress.type === 'abandoned') throw progress.reason;
        yield progress.bytes;
        taken += progress.bytes.length;
        if (taken < reportedBytes) continue;
        report({ type: 'taken', bytes: taken });
        taken = 0;
      }
    } finally {
      if (!complete) report({ type: 'abandon' });
    }
  }

  #receive(message: FromWorker): void {
    if (message.type === 'ready') {
      this.#start?.resolve();
      this.#start = undefined;
      return;
    }
    if (message.type !== 'idle') this.#invocation?.mailbox.send(message);
    if (message.type === 'idle' || (message.type !== 'bytes' && message.idle)) this.#invocation?.finish();
  }

  #die(error: Error): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#start?.reject(new FunctionError(error));
    this.#receive({ type: 'error', error, idle: true });
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }
}
