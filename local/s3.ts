import { buildApp, startFauxqs } from 'fauxqs';
import { type LocalStore, localRegion } from './store.ts';

const options = { logger: false, defaultRegion: localRegion };

/**
 * Starts an S3 in this process, on a free port. In memory it listens on the loopback address alone; with a folder on
 * every address of the machine, as the library would have it.
 *
 * @param dataDir where it keeps its data; in memory if undefined
 */
export const startS3 = async (dataDir?: string): Promise<LocalStore> => {
  if (dataDir === undefined) {
    const app = buildApp(options);
    const endpoint = await app.listen({ port: 0, host: '127.0.0.1' });
    return { endpoint, stop: () => app.close() };
  }
  const server = await startFauxqs({ ...options, port: 0, dataDir });
  return { endpoint: `http://127.0.0.1:${server.port}`, stop: () => server.stop() };
};
