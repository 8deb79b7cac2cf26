import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { StandIn, StandInOptions } from 'aws-stand-in';
import type { FromStore, StoreSetup } from './worker.ts';

/** The file of the data in a store's folder. */
export const storeFile = 'store.sqlite';

/** What V8 may take for new objects, in MB, whatever its flags give to other threads of the process. */
const youngMb = 24;

/**
 * Starts a store in a thread of this process, on a free port of the loopback address.
 *
 * @param signal cancels the start
 * @throws Error if its file cannot be used, e.g. because the disk is full; the signal's reason
 */
export const startStore = async ({
  folder,
  signing,
  notify = () => {},
  signal,
}: StandInOptions & { readonly signal?: AbortSignal } = {}): Promise<StandIn> => {
  signal?.throwIfAborted();
  if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 });
  // It loads esbuild, and most who import this module start no store.
  const { threadCode } = await import('aws-stand-in/thread-code');
  const code = await threadCode(join(import.meta.dirname, 'worker.ts')).catch(async (error) => {
    // Ctrl-C in a terminal ends esbuild as well, perhaps before this process has noticed it.
    await sleep(100);
    signal?.throwIfAborted();
    throw error;
  });
  signal?.throwIfAborted();
  const setup: StoreSetup = {
    ...(folder !== undefined && { file: resolve(folder, storeFile) }),
    ...(signing && { signing }),
  };
  const worker = new Worker(code, {
    eval: true,
    // Not those of this process: they may say that scripts are modules.
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
    workerData: setup,
  });
  const ready = Promise.withResolvers<number>();
  worker.on('message', (message: FromStore) => {
    if (message.type === 'ready') ready.resolve(message.port);
    else notify(message.line);
  });
  worker.once('error', ready.reject);
  const port = await ready.promise;
  const ended = once(worker, 'exit');
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: async () => {
      worker.postMessage('stop');
      await ended;
    },
  };
};
