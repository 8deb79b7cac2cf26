import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { buildApp, startFauxqs } from 'fauxqs';
import { honourIfMatch, type S3Server } from './s3-conditions.ts';
import { type LocalStore, localRegion } from './store.ts';

const options = { logger: false, defaultRegion: localRegion };

/**
 * Where fastify announces each server that is made: fauxqs does not hand out the one that keeps its
 * data.
 */
const announcements = 'fastify.initialization';

/** Makes S3 servers that honour conditions. */
const conditional = <T>(make: () => T): T => {
  const onServer = (message: unknown) => honourIfMatch((message as { fastify: S3Server }).fastify);
  subscribe(announcements, onServer);
  try {
    return make();
  } finally {
    unsubscribe(announcements, onServer);
  }
};

/**
 * Starts an S3 in this process, on a free port. In memory it listens on the loopback address alone;
 * with a folder on every address of the machine, as the library would have it.
 *
 * @param dataDir where it keeps its data; in memory if undefined
 */
export const startS3 = async (dataDir?: string): Promise<LocalStore> => {
  if (dataDir === undefined) {
    const app = conditional(() => buildApp(options));
    const endpoint = await app.listen({ port: 0, host: '127.0.0.1' });
    return { endpoint, stop: () => app.close() };
  }
  const server = await conditional(() => startFauxqs({ ...options, port: 0, dataDir }));
  return { endpoint: `http://127.0.0.1:${server.port}`, stop: () => server.stop() };
};
