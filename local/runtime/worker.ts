import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type { FunctionSpec } from '../template/functions.ts';
import { FunctionError } from './errors.ts';
import { Mailbox } from './mailbox.ts';
import type { FromWorker, ToWorker, WorkerSetup } from './messages.ts';

/**
 * A function's answer as it comes; it throws FunctionError where the function fails, be it in the
 * middle.
 */
export type Output = AsyncGenerator<Uint8Array, void, void>;

/** What a worker says of an invocation, and that its reader has gone, with the reason. */
type Progress =
  | Exclude<FromWorker, { type: 'ready' | 'idle' }>
  | { readonly type: 'abandoned'; readonly reason: unknown };

/** Runs a function in a thread of its own. */
export interface WorkerOptions {
  readonly spec: FunctionSpec;
  /** Beside the function's own environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Takes each line that the function writes. */
  readonly log: (line: string) => void;
}

/** Less than Node itself needs to start would be no help. */
const leastMemoryMb = 256;

const bootstrap = new URL('./bootstrap.ts', import.meta.url);

/**
 * The file of a module: of those that there are, the first in the order in which Lambda looks for
 * them.
 */
const moduleOf = (path: string): string => {
  const files = ['.js', '.mjs', '.cjs'].map((extension) => path + extension);
  return files.find((file) => existsSync(file)) ?? `${path}.js`;
};

const setupOf = ({ folder, handler, name, arn, memoryMb }: FunctionSpec): WorkerSetup => {
  const dot = handler.lastIndexOf('.');
  return {
    module: moduleOf(join(folder, handler.slice(0, dot))),
    export: handler.slice(dot + 1),
    functionName: name,
    functionArn: arn,
    memoryMb,
  };
};

const environmentOf = ({ spec, environment }: WorkerOptions): Record<string, string> => ({
  ...environment,
  ...spec.environment,
  AWS_LAMBDA_FUNCTION_NAME: spec.name,
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(spec.memoryMb),
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  LAMBDA_TASK_ROOT: spec.folder,
  _HANDLER: spec.handler,
  TZ: ':UTC',
});

/** Calls back with each line; one without an end counts once the stream ends. */
const lines = (stream: Readable, log: (line: string) => void): void => {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) log(line);
  });
  stream.on('end', () => {
    if (rest) log(rest);
  });
};

/**
 * A worker thread that runs one function's bundle, one invocation at a time. It is never reused
 * after a failure of the thread: whoever holds it looks at {@link dead}.
 */
export class FunctionWorker {
  /** Resolves once the function is loaded; rejects with a FunctionError where that fails. */
  readonly started: Promise<void>;
  readonly #spec: FunctionSpec;
  readonly #worker: Worker;
  #start: { resolve: () => void; reject: (error: FunctionError) => void } | undefined;
  #invocation: { mailbox: Mailbox<Progress>; over: () => void } | undefined;
  #dead = false;

  constructor(options: WorkerOptions) {
    this.#spec = options.spec;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.started = promise;
    this.#start = { resolve, reject };
    this.#worker = new Worker(bootstrap, {
      workerData: setupOf(options.spec),
      env: environmentOf(options),
      resourceLimits: { maxOldGenerationSizeMb: Math.max(leastMemoryMb, options.spec.memoryMb) },
      stdout: true,
      stderr: true,
    });
    lines(this.#worker.stdout, options.log);
    lines(this.#worker.stderr, options.log);
    this.#worker.on('message', (message: FromWorker) => this.#receive(message));
    this.#worker.on('error', (error) => this.#die(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', (code) => this.#die(new Error(`Runtime exited with code ${code}`)));
  }

  /** Whether the thread has ended, or is about to. */
  get dead(): boolean {
    return this.#dead;
  }

  /**
   * Invokes the function, which must have started and be idle.
   *
   * @param event the event as JSON
   * @param signal tells that nobody wants the answer any more: a streaming handler finds its stream
   * destroyed, and the answer throws the signal's reason
   * @param idle is called once the function is idle again, or dead: it may work on when its answer
   * has ended, or is not wanted
   */
  invoke(event: string, signal: AbortSignal, idle: () => void): Output {
    const mailbox = new Mailbox<Progress>();
    const timeoutMs = this.#spec.timeoutSeconds * 1000;
    const timer = setTimeout(() => this.#timeOut(), timeoutMs);
    const abandon = () => mailbox.send({ type: 'abandoned', reason: signal.reason });
    signal.addEventListener('abort', abandon, { once: true });
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abandon);
      this.#invocation = undefined;
      idle();
    };
    this.#invocation = { mailbox, over };
    this.#post({ type: 'invoke', requestId: randomUUID(), event, deadline: Date.now() + timeoutMs });
    if (signal.aborted) abandon();
    // It may have died since it was chosen.
    if (this.#dead) this.#receive({ type: 'error', error: new Error('Runtime exited'), idle: true });
    return this.#output(mailbox);
  }

  /** Ends the thread, and with it what it is doing. */
  terminate(reason: string): Promise<number> {
    this.#die(new Error(reason));
    return this.#worker.terminate();
  }

  #timeOut(): void {
    this.terminate(`Task timed out after ${this.#spec.timeoutSeconds.toFixed(2)} seconds`);
  }

  /** Tells the worker how far its reader has come, and when it stops. */
  async *#output(mailbox: Mailbox<Progress>): Output {
    let complete = false;
    const tell = (message: ToWorker) => {
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
        tell({ type: 'taken', bytes: progress.bytes.length });
      }
    } finally {
      if (!complete) tell({ type: 'abandon' });
    }
  }

  #receive(message: FromWorker): void {
    if (message.type === 'ready') {
      this.#start?.resolve();
      this.#start = undefined;
      return;
    }
    if (message.type !== 'idle') this.#invocation?.mailbox.send(message);
    if (message.type === 'idle' || (message.type !== 'bytes' && message.idle)) this.#invocation?.over();
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
