import { extname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Schema } from '../../../foundations/json-schema/read.ts';
import { unavailable } from '../../../foundations/wire/index.ts';

/** What a check looks at, and with what. */
export type ToCheckThread =
  | { readonly kind: 'regex'; readonly pattern: string; readonly text: string }
  | { readonly kind: 'schema'; readonly schema: Schema; readonly text: string };

/** What the thread says of the one check that it has. */
export type FromCheckThread =
  /** It has what it needs and begins: its time runs from now on. */
  | { readonly type: 'began' }
  | { readonly type: 'done'; readonly passes: boolean; readonly reason?: string | undefined }
  | { readonly type: 'failed'; readonly message: string };

/** What became of a check. */
export interface Checked {
  readonly passes: boolean;
  readonly reason?: string | undefined;
}

/** The time that a check may take, in milliseconds. */
const checkMs = 250;
/** The memory that a check may take, in MB: a million characters of JSON take some 60 as values. */
const memoryMb = { old: 128, young: 16 } as const;
/** The time that the thread may take to start and to load, in milliseconds. A busy machine is slow. */
const startMs = 30_000;

/** A check that cannot be made as it is: that is for whoever made it, and no failure of the service. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

/** Beside the bundle, or beside this file: lib/bundles.ts puts it there. */
const file = join(import.meta.dirname, `check-thread${extname(import.meta.filename)}`);

/** The code of the error of a thread that took more memory than it may. */
const outOfMemory = 'ERR_WORKER_OUT_OF_MEMORY';

/**
 * Runs checks in a thread, one after another, and ends the thread when one takes too long: nothing
 * else ends an expression that is at work. The thread starts with the first check, and another after
 * one that was ended.
 */
class CheckRunner {
  #thread: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Makes a check as soon as those before it are made.
   *
   * @throws CheckFailed if it takes too much time or memory, or cannot be made; ServiceError 503 if
   * the thread does not start
   */
  run(check: ToCheckThread): Promise<Checked> {
    const next = this.#last.then(() => this.#run(check));
    this.#last = next.catch(() => {});
    return next;
  }

  async #run(check: ToCheckThread): Promise<Checked> {
    const thread = this.#start();
    thread.ref();
    const { promise, resolve, reject } = Promise.withResolvers<Checked>();
    let isOver = false;
    const endAfter = (ms: number, error: Error) =>
      setTimeout(async () => {
        // What came while this thread was busy counts: its message is read first.
        await turn();
        await turn();
        if (isOver) return;
        reject(error);
        await this.#end(thread);
      }, ms);
    let timer = endAfter(startMs, unavailable('the thread of checks did not start in time'));
    const receive = (message: FromCheckThread): void => {
      if (message.type === 'began') {
        clearTimeout(timer);
        timer = endAfter(checkMs, new CheckFailed(`the check took longer than ${checkMs} ms`));
        return;
      }
      isOver = true;
      if (message.type === 'done') resolve({ passes: message.passes, reason: message.reason });
      else reject(new CheckFailed(message.message));
    };
    const fail = (error: Error & { readonly code?: string }): void =>
      reject(
        error.code === outOfMemory
          ? new CheckFailed(`the check took more than ${memoryMb.old} MB of memory`)
          : error,
      );
    const exit = (): void => reject(new Error('the thread of checks has ended'));
    thread.on('message', receive).on('error', fail).on('exit', exit);
    try {
      thread.postMessage(check);
      return await promise;
    } finally {
      isOver = true;
      clearTimeout(timer);
      thread.off('message', receive).off('error', fail).off('exit', exit);
      // Nobody waits for it, so a process may end.
      thread.unref();
    }
  }

  #start(): Worker {
    if (this.#thread) return this.#thread;
    const thread = new Worker(file, {
      resourceLimits: { maxOldGenerationSizeMb: memoryMb.old, maxYoungGenerationSizeMb: memoryMb.young },
    });
    const forget = () => {
      if (this.#thread === thread) this.#thread = undefined;
    };
    thread.on('error', forget).on('exit', forget);
    this.#thread = thread;
    return thread;
  }

  async #end(thread: Worker): Promise<void> {
    this.#thread = undefined;
    await thread.terminate();
  }
}

const runner = new CheckRunner();

/** Makes a check in the thread of this process: see {@link CheckRunner.run}. */
export const runCheck = (check: ToCheckThread): Promise<Checked> => runner.run(check);
