import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdir } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { resolve } from 'node:path';
import {
  DiskReport,
  describeFailure,
  guarded,
  loopback,
  type Signing,
  type StandIn,
  type StandInOptions,
  signatureRefusal,
} from 'aws-stand-in';
import type { buildApp } from 'fauxqs';
import { localRegion } from './template/index.ts';

type S3Server = ReturnType<typeof buildApp>;

const conditionalMethods = new Set(['PUT', 'DELETE']);

const refusals = {
  404: ['NoSuchKey', 'The specified key does not exist.'],
  412: ['PreconditionFailed', 'At least one of the pre-conditions you specified did not hold'],
} as const;

/** An error as S3 answers it. */
const s3Error = (code: string, message: string): string => {
  const text = message.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${text}</Message></Error>`;
};

const refusal = (status: keyof typeof refusals): string => {
  const [code, message] = refusals[status];
  return s3Error(code, message);
};

/**
 * Makes a local S3 honour `If-Match` for puts and deletes as Amazon's does: 412 if the ETag
 * differs, 404 if there is no object. It ignores the header by itself. Writes run one at a time, so
 * that none comes between the check and the write.
 */
const honourIfMatch = (server: S3Server): void => {
  let latest = Promise.resolve();
  const turns = new WeakMap<object, () => void>();
  server.addHook('preHandler', async (request, reply) => {
    if (!conditionalMethods.has(request.method)) return;
    const previous = latest;
    const turn = Promise.withResolvers<void>();
    latest = turn.promise;
    turns.set(request, turn.resolve);
    await previous;
    const expected = request.headers['if-match'];
    if (expected === undefined) return;
    const [url] = request.url.split('?');
    const { statusCode, headers } = await server.inject({ method: 'HEAD', url: url ?? '/' });
    const status = statusCode === 404 ? 404 : 412;
    if (status === 404 || headers.etag !== expected) {
      return reply.status(status).type('application/xml').send(refusal(status));
    }
  });
  // The write has succeeded or failed by now.
  server.addHook('onSend', async (request) => turns.get(request)?.());
};

/**
 * Takes tags of objects, which it does not know by itself: a request to tag would replace the object. They
 * are forgotten, since no rule reads them here.
 */
const takeTags = (server: S3Server): void => {
  server.addHook('preHandler', async (request, reply) => {
    const [url = '/', query = ''] = request.url.split('?');
    if (request.method !== 'PUT' || !new URLSearchParams(query).has('tagging')) return;
    const { statusCode } = await server.inject({ method: 'HEAD', url });
    if (statusCode === 404) return reply.status(404).type('application/xml').send(refusal(404));
    return reply.status(200).send();
  });
};

/**
 * Lets only those requests through that programs on this machine have signed. It stands before the
 * framework: that also runs requests of its own.
 */
const guardS3 = ({ server }: S3Server, signing: Signing | undefined): void => {
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  const serve: RequestListener = (req, res) => {
    const refused = signing && signatureRefusal(signing, req);
    if (refused === undefined) {
      for (const listener of listeners) listener(req, res);
      return;
    }
    req.resume();
    res
      .writeHead(403, { 'content-type': 'application/xml', connection: 'close' })
      .end(s3Error(refused.isMissing ? 'AccessDenied' : 'SignatureDoesNotMatch', refused.message));
  };
  server.on('request', guarded(serve));
};

/** Has a server listen on the loopback address, whatever its library asks for. */
const keepToLoopback = (server: S3Server): void => {
  const listen = server.listen.bind(server);
  const onLoopback = (options: FastifyListenOptions) => listen({ ...options, host: loopback });
  Object.assign(server, { listen: onLoopback });
};

type FastifyListenOptions = { readonly port?: number };

/** Answers failures as S3 does, and tells of a folder that cannot be written. */
const answerFailures = (server: S3Server, report: DiskReport | undefined): void => {
  server.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    if (error.statusCode !== undefined && error.statusCode < 500) return reply.send(error);
    if (request.method !== 'GET') report?.failed(error);
    return reply
      .status(500)
      .type('application/xml')
      .send(s3Error('InternalError', `the local S3 failed: ${describeFailure(error)}`));
  });
  server.addHook('onResponse', async ({ method }, { statusCode }) => {
    if (method === 'PUT' && statusCode < 300) report?.succeeded();
  });
};

const s3Options = { logger: false, defaultRegion: localRegion };

/**
 * The channel on which fastify announces new servers. fauxqs does not expose the one with its data.
 */
const announcements = 'fastify.initialization';

/** Makes a server of fauxqs, and changes it before it listens. */
const changing = <T>(change: (server: S3Server) => void, make: () => T): T => {
  const onServer = (message: unknown) => change((message as { fastify: S3Server }).fastify);
  subscribe(announcements, onServer);
  try {
    return make();
  } finally {
    unsubscribe(announcements, onServer);
  }
};

/**
 * Starts an S3 in this process, on a free port of the loopback address.
 *
 * @throws Error if its folder cannot be used, e.g. because the disk is full
 */
export const startS3 = async ({
  folder,
  signing,
  notify = () => {},
}: StandInOptions = {}): Promise<StandIn> => {
  // It takes long to load, and most who import this module start no S3.
  const { buildApp, startFauxqs } = await import('fauxqs');
  const report = folder === undefined ? undefined : new DiskReport(resolve(folder), notify);
  const change = (server: S3Server): void => {
    takeTags(server);
    honourIfMatch(server);
    answerFailures(server, report);
    guardS3(server, signing);
    keepToLoopback(server);
  };
  if (folder === undefined) {
    const app = changing(change, () => buildApp(s3Options));
    const endpoint = await app.listen({ port: 0 });
    return { endpoint, stop: () => app.close() };
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const server = await changing(change, () => startFauxqs({ ...s3Options, port: 0, dataDir: folder }));
  return { endpoint: `http://${loopback}:${server.port}`, stop: () => server.stop() };
};
