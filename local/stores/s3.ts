import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { buildApp, startFauxqs } from 'fauxqs';
import { honourIfMatch, type S3Server } from './s3-conditions.ts';
import { type LocalStore, localRegion } from './store.ts';

const options = { logger: false, defaultRegion: localRegion };

/**
 * The channel on which fastify announces new servers. fauxqs does not expose the one with its data.
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
 * Starts an S3 in this process, on a free port. In memory it listens on the loopback address only.
 * With a folder the library listens on every address of the machine.
 *
 * @param dataDir the folder for its data; in memory if undefined
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
