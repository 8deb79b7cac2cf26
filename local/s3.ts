import { startFauxqs } from 'fauxqs';
import type { LocalStore } from './store.ts';

/**
 * Starts an S3 in this process, on a free port.
 *
 * @param dataDir where it keeps its data; in memory if undefined
 */
export const startS3 = async (dataDir?: string): Promise<LocalStore> => {
  const server = await startFauxqs({
    port: 0,
    host: '127.0.0.1',
    logger: false,
    ...(dataDir !== undefined && { dataDir }),
  });
  return { endpoint: `http://127.0.0.1:${server.port}`, stop: () => server.stop() };
};
