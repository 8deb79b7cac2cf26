/** The thread of the embedded store. */

import { parentPort, workerData } from 'node:worker_threads';
import type { Signing } from 'aws-stand-in';
import { startServer } from './server.ts';

/** What the thread starts with. */
export interface StoreSetup {
  /** The file of the data; in memory if absent. */
  readonly file?: string;
  /** What requests have to be signed with; any signature will do if absent. */
  readonly signing?: Signing;
}

/** Messages of the thread. */
export type FromStore =
  | { readonly type: 'ready'; readonly port: number }
  /** A line for whoever runs the store. */
  | { readonly type: 'tell'; readonly line: string };

const setup: StoreSetup = workerData;

const post = (message: FromStore): void => parentPort?.postMessage(message);

const run = async (): Promise<void> => {
  const server = await startServer({ ...setup, notify: (line) => post({ type: 'tell', line }) });
  parentPort?.once('message', async () => {
    await server.stop();
    process.exit(0);
  });
  post({ type: 'ready', port: server.port });
};

run().catch((error: unknown) => {
  // The thread's own way to fail, which whoever started it sees.
  setImmediate(() => {
    throw error;
  });
});
