/** The thread of the embedded store: `workerData` is its file, undefined for memory. */

import { parentPort, workerData } from 'node:worker_threads';
import { startServer } from './server.ts';

const run = async (): Promise<void> => {
  const server = await startServer(typeof workerData === 'string' ? workerData : undefined);
  parentPort?.once('message', async () => {
    await server.stop();
    process.exit(0);
  });
  parentPort?.postMessage(server.port);
};

run().catch((error: unknown) => {
  // The thread's own way to fail, which whoever started it sees.
  setImmediate(() => {
    throw error;
  });
});
