import { mkdir, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import {
  type Credentials,
  DiskReport,
  isDiskFull,
  listen,
  loopback,
  newCredentials,
  PortTaken,
  type Signing,
  type StandIn,
  type StandInOptions,
} from 'aws-stand-in';
import {
  createBuckets,
  createTables,
  type RunningStack,
  type RunOptions,
  runStack,
  storeEnvironment,
} from 'cdk-local-runner';
import type { EventBus } from 'cdk-local-runner/streams';
import {
  type FunctionSpec,
  getOutput,
  localRegion,
  maxAuthorizerCacheSeconds,
  readStack,
  type StackSpec,
} from 'cdk-local-runner/template';
import { formatKey } from '../foundations/auth/index.ts';
import { isPackaged, workFolder } from '../lib/packaged.ts';
import { assemble, synthesize } from './assembly.ts';
import { claimDataDir, makeTemporaryFolder } from './data-dir.ts';
import { takeOverDynamodbLocal } from './dynamodb-local-data.ts';
import {
  withOwnAnswers,
  withRedactionKey,
  withSignIn,
  withSts,
  withUpstreams,
  withWebhooks,
} from './environment.ts';
import { type LocalUpstream, type LocalUpstreams, onlyUpstream, startEchoModel } from './inference.ts';
import { type LocalOpenId, startOpenId, storeReader } from './open-id.ts';
import {
  BadSetting,
  findLocalKey,
  type LocalKey,
  type LocalSignIn,
  type LocalWebhooks,
  storeLocalKey,
} from './settings.ts';
import { signInLink } from './sign-in.ts';
import { getTableName } from './stack.ts';
import {
  analyticsFiles,
  externalStore,
  startAmazons,
  startBuckets,
  startEmbedded,
  usingExternal,
} from './stores.ts';

/**
 * Whether a log line is the JSON of a successful request. There are many, so they are shown on
 * demand only.
 */
export const isRequestLog = (line: string): boolean =>
  line.startsWith('{') && !line.includes('"level":"error"');

interface DependencyOptions {
  /** The folder for the data. @default - in memory, gone at the end */
  readonly dataDir?: string;
  /** The endpoint of a running DynamoDB. @default - one is started */
  readonly dynamodb?: string;
  /** Whether to start Amazon's DynamoDB Local. @default - the embedded store is started */
  readonly dynamodbLocal?: boolean;
  /** The endpoint of a running S3. @default - one is started */
  readonly s3?: string;
  /**
   * The upstream of model requests; null for the upstreams of the stack. @default - the echo model
   */
  readonly inference?: LocalUpstream | null;
  /** Several upstreams in place of that one. @default - there is that one */
  readonly upstreams?: LocalUpstreams | undefined;
  /** The folder of the synthesized stack. @default - it is synthesized now */
  readonly assembly?: string;
  /** Settings that override those of cdk.json when the stack is synthesized now. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The prefix of table and bucket names. @default - the stack's name */
  readonly stackName?: string;
  /** Takes a line for each step that is done. */
  readonly progress: (line: string) => void;
  /** Takes a line for the operator when a store's folder cannot be written. */
  readonly notify: (line: string) => void;
  /** What requests to stores are signed with, and have to be. */
  readonly credentials: Credentials;
  /** Cancels the start. */
  readonly signal?: AbortSignal;
}

/** What the service runs on. */
interface Dependencies {
  /** The endpoints of the stores. */
  readonly dynamodb: string;
  readonly s3: string;
  readonly stack: StackSpec;
  /** The one upstream of model requests; null for several, or those of the stack. */
  readonly model: LocalUpstream | null;
}

/**
 * Runs four tasks concurrently. If one fails or the signal aborts, it cancels all and waits for
 * them.
 */
const allOrCancel = async <A, B, C, D>(
  start: (signal: AbortSignal) => readonly [Promise<A>, Promise<B>, Promise<C>, Promise<D>],
  signal?: AbortSignal,
): Promise<[A, B, C, D]> => {
  const failed = new AbortController();
  const cancelled = AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]);
  const tasks = start(cancelled);
  for (const task of tasks) task.catch((error: unknown) => failed.abort(error));
  // Cancelled tasks still have to end what they started.
  await Promise.allSettled(tasks);
  cancelled.throwIfAborted();
  return Promise.all(tasks);
};

const toSigning = ({ secretAccessKey: secret }: Credentials): Signing => ({
  secret,
  whereToFind: 'the local service writes its credentials to .local/<port>.json',
});

const ownStore = (
  { credentials, notify, dataDir }: DependencyOptions,
  subfolder: string,
): StandInOptions => ({
  ...(dataDir !== undefined && { folder: join(dataDir, subfolder) }),
  signing: toSigning(credentials),
  notify,
});

const startDynamodb = (options: DependencyOptions, signal: AbortSignal): Promise<StandIn> => {
  const { dynamodb, dynamodbLocal } = options;
  if (dynamodb) return externalStore('AWS_ENDPOINT_URL_DYNAMODB', dynamodb, signal);
  const own = ownStore(options, 'dynamodb');
  return dynamodbLocal ? startAmazons(own.folder, signal) : startEmbedded(own, signal);
};

const startS3 = (options: DependencyOptions, signal: AbortSignal): Promise<StandIn> => {
  const { s3 } = options;
  if (s3) return externalStore('AWS_ENDPOINT_URL_S3', s3, signal);
  return startBuckets(ownStore(options, 's3'));
};

/** The folder of the synthesized stack, which is synthesized now if there is none. */
const getAssembly = async (
  { assembly, settings, progress }: DependencyOptions,
  cleanup: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<string> => {
  if (assembly !== undefined) return assembly;
  const outdir = await makeTemporaryFolder();
  cleanup.defer(() => rm(outdir, { recursive: true, force: true }));
  const make: typeof synthesize = (...args) => {
    if (!isPackaged)
      progress(
        'stack: bundling its functions, which takes up to half a minute; later starts take them as they are',
      );
    return synthesize(...args);
  };
  await assemble(outdir, settings, signal, { make });
  return outdir;
};

/**
 * Starts the missing stores and synthesizes the stack, concurrently.
 *
 * @param cleanup gets a callback for everything started, also if a later step fails
 * @throws BadSetting, SynthesisFailed; the signal's reason
 */
const startDependencies = async (
  options: DependencyOptions,
  cleanup: AsyncDisposableStack,
): Promise<Dependencies> => {
  const { progress } = options;
  const store = async (name: string, external: string | undefined, start: Promise<StandIn>) => {
    const { endpoint, stop } = await start;
    cleanup.defer(stop);
    progress(`${name}: ${endpoint}${external ? ' (external)' : ''}`);
    return endpoint;
  };
  const stack = async (folder: Promise<string>) => {
    const read = readStack(await folder, options.stackName);
    progress(`stack: ${read.api.routes.length} routes, ${read.functions.length} functions`);
    return read;
  };
  const model = async () => {
    if (options.upstreams) {
      progress(`models: ${options.upstreams.map(({ name }) => name).join(', ')}`);
      return null;
    }
    if (options.inference !== undefined) return options.inference;
    const echo = await startEchoModel();
    cleanup.defer(() => echo.stop());
    progress(`model: ${echo.baseUrl} (an echo model; set INFERENCE_BASE_URL for a real one)`);
    return echo;
  };
  const [dynamodb, s3, read, upstream] = await allOrCancel(
    (signal) => [
      store('DynamoDB', options.dynamodb, startDynamodb(options, signal)),
      store('S3', options.s3, startS3(options, signal)),
      stack(getAssembly(options, cleanup, signal)),
      model(),
    ],
    options.signal,
  );
  return { dynamodb, s3, stack: read, model: upstream };
};

/** The URLs of the stores, and the functions that use them. */
interface FunctionStores {
  readonly dynamodb: string;
  readonly s3: string;
  readonly functions: readonly FunctionSpec[];
}

/**
 * Puts something between functions and stores, such as a proxy that fails requests.
 *
 * @param cleanup gets a callback for what has to end with the service
 * @returns the URLs and the functions to run instead
 */
export type WrapStores = (
  stores: FunctionStores,
  stack: StackSpec,
  cleanup: AsyncDisposableStack,
) => Promise<FunctionStores>;

/** How to run the service locally. */
export interface LocalServiceOptions
  extends Partial<Omit<DependencyOptions, 'credentials' | 'notify'>>,
    Pick<RunOptions, 'concurrency' | 'poolLimits' | 'startContainer' | 'eventFate'> {
  /** @default - any free port */
  readonly port?: number;
  /** The address that the port is on. @default - the loopback address */
  readonly address?: string;
  /** Names of this machine by which clients may reach the port, beside its own. @default - none */
  readonly hosts?: readonly string[];
  /** A key to store at the start. @default - the key in the data folder, or a new one */
  readonly key?: string;
  /** @default - functions use the stores themselves */
  readonly wrapStores?: WrapStores;
  /**
   * Takes each line of the functions and the gateway, with its source. @default - lines are dropped
   */
  readonly log?: (source: string, line: string) => void;
  /**
   * The longest time that a batch of a stream gathers, in ms. Messages of queues wait for as much less
   * than deployed. @default 1000
   */
  readonly maxWindowMs?: number;
  /** The longest time until a message that was not done comes again, in ms. @default 90000 */
  readonly maxVisibilityMs?: number;
  /** The longest time between two looks at alerts, in ms. @default - as deployed: a minute */
  readonly maxScheduleMs?: number;
  /** The URLs of webhooks that alerts can tell, by their names. @default - there are none */
  readonly webhooks?: LocalWebhooks;
  /** The endpoint of an STS that says whose role signed. @default - AWS's own */
  readonly sts?: string;
  /**
   * Where people sign in, if the stack has the setting `signIn`; `local` for a provider that is started.
   * @default - as the stack has it
   */
  readonly signIn?: LocalSignIn;
}

const usualWindowMs = 1000;
const usualVisibilityMs = 90_000;
/** For how long a batch of a stream gathers when it is deployed, in ms. */
const deployedWindowMs = 5000;

/** The running service. */
export interface LocalService extends Dependencies {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Where events go, if the stack sends any; and the queue for what could not be sent. */
  readonly bus: EventBus;
  /** What requests to the stores are signed with. Stores that the service started take no others. */
  readonly credentials: Credentials;
  /** A key that may do everything. */
  readonly key: string;
  /** The file with the key; absent if the key was set or is not stored. */
  readonly keyFile?: string;
  /** Signs in whoever opens it, once; absent if the key was set. */
  readonly signInUrl?: string;
  /** The provider that was started for people to sign in; absent if none was. */
  readonly openId?: LocalOpenId;
  /** Ends the threads of all functions, or of one route's, at once, as a crash would. */
  killWorkers(path?: string): Promise<void>;
  /** Waits a moment for pending requests, then ends the service. Resolves when everything has ended. */
  stop(): Promise<void>;
}

/** Creates the stack's tables and bucket, and stores the key. */
const prepareStores = async (
  { dynamodb, s3, stack }: Dependencies,
  credentials: Credentials,
  key: LocalKey,
  external: Pick<LocalServiceOptions, 'dynamodb' | 's3' | 'signal' | 'progress' | 'signIn'> & {
    /** The folder that may have data of DynamoDB Local. */
    readonly takeOver?: string;
  },
): Promise<void> => {
  const shared = { region: localRegion, credentials };
  const client = new DynamoDBClient({ ...shared, endpoint: dynamodb });
  const s3Client = new S3Client({ ...shared, endpoint: s3 });
  const tables = createTables(stack, client, external.signal);
  const buckets = createBuckets(stack, s3Client, external.signal);
  try {
    await Promise.all([
      usingExternal('AWS_ENDPOINT_URL_DYNAMODB', external.dynamodb, tables),
      usingExternal('AWS_ENDPOINT_URL_S3', external.s3, buckets),
    ]);
    if (external.takeOver !== undefined) {
      const names = stack.tables.map(({ name }) => name);
      const copied = await takeOverDynamodbLocal(external.takeOver, names, client);
      if (copied !== undefined)
        external.progress?.(`DynamoDB: took over ${copied} items that DynamoDB Local had written`);
    }
    const keys = { client, name: getTableName(stack, 'keys') };
    await storeLocalKey(keys, key);
    if (external.signIn === 'local') await storeReader(keys);
  } finally {
    client.destroy();
    s3Client.destroy();
  }
};

/** What a URL has for an address. This machine reaches its own port by loopback if that is on all. */
const hostOf = (address: string = loopback): string => {
  if (address === '0.0.0.0' || address === '::') return loopback;
  return isIPv6(address) ? `[${address}]` : address;
};

/** Claims port and data folder and finds the key. It comes first, because it is quick to fail. */
const claim = async (options: LocalServiceOptions, cleanup: AsyncDisposableStack) => {
  const { promise: listener, resolve: serve, reject: refuse } = Promise.withResolvers<RequestListener>();
  listener.catch(() => {});
  // What pages may do is for the functions to say.
  const { address } = options;
  const doorkeeping = {
    hosts: [...(options.hosts ?? []), ...(address === undefined ? [] : [hostOf(address)])],
    hostsSetting: 'ALLOWED_HOSTS',
    pages: true,
    ...(address !== undefined && { address }),
  };
  const server = await listen(options.port ?? 0, listener, doorkeeping).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRNOTAVAIL')
      throw new BadSetting(
        `HOST is ${address}: this machine has no such address; write one of its own, or 0.0.0.0 for all`,
        { cause: error },
      );
    if (!(error instanceof PortTaken)) throw error;
    throw new BadSetting(
      `port ${error.port} is in use: end the process that listens on it, or set PORT (0 for any free port)`,
      { cause: error },
    );
  });
  cleanup.defer(() => server.stop());
  cleanup.defer(() => refuse(new Error('stopped')));
  const dataDir = options.dataDir ? await claimDataDir(options.dataDir) : undefined;
  if (dataDir) cleanup.defer(dataDir.release);
  const key = await findLocalKey({
    ...(options.key !== undefined && { configured: options.key }),
    ...(dataDir && { folder: dataDir.path }),
  });
  return { server, serve, key, ...(dataDir && { dataDir: dataDir.path }) };
};

/** The functions and their stores, as the options wrap them, on the local model. */
const wrapServices = async (
  { stack, model, dynamodb, s3 }: Dependencies,
  { dataDir, wrapStores, webhooks, upstreams: configuredUpstreams, sts, signIn }: LocalServiceOptions,
  url: string,
  cleanup: AsyncDisposableStack,
): Promise<FunctionStores> => {
  const upstreams = configuredUpstreams ?? (model && onlyUpstream(model));
  const declared = upstreams ? withUpstreams(stack, upstreams) : stack.functions;
  const redacting = await withRedactionKey(declared, dataDir);
  const signing = withSts(redacting, url, sts);
  const issued = signIn === undefined || signIn === 'local' ? signing : withSignIn(signing, url, signIn);
  const plain = { dynamodb, s3, functions: withWebhooks(issued, url, webhooks ?? {}) };
  return wrapStores ? wrapStores(plain, stack, cleanup) : plain;
};

/** Copies the files of analytics to the data folder, if there are any. */
const analyticsCopy = (
  { stack, s3 }: Dependencies,
  { dataDir, log = () => {} }: LocalServiceOptions,
  credentials: Credentials,
): (() => Promise<void>) | undefined => {
  const { AnalyticsBucket: bucket } = stack.outputs;
  if (bucket === undefined || dataDir === undefined) return undefined;
  const folder = join(dataDir, 'analytics');
  const files = analyticsFiles({ s3, credentials, bucket, folder });
  const notify = (line: string) => log('stores', line);
  const report = new DiskReport(folder, notify, 'The files of analytics are not copied there');
  return async () => {
    try {
      await files();
      report.succeeded();
    } catch (error) {
      // What was not copied is copied with what comes next. The function has done its part.
      if (!isDiskFull(error)) throw error;
      report.failed(error);
    }
  };
};

/**
 * Runs the stack on its stores. What a kept table's stream has was brought before the service last
 * ended, so only what comes from now on is.
 */
const run = async (
  dependencies: Dependencies,
  options: LocalServiceOptions,
  credentials: Credentials,
  url: string,
  cleanup: AsyncDisposableStack,
): Promise<RunningStack> => {
  const { stack } = dependencies;
  const { dataDir, concurrency, poolLimits, startContainer, eventFate, log, maxScheduleMs } = options;
  const { functions, dynamodb, s3 } = await wrapServices(dependencies, options, url, cleanup);
  const afterBatch = analyticsCopy(dependencies, options, credentials);
  return runStack({
    stack: withOwnAnswers(stack, url),
    functions,
    environment: storeEnvironment(dynamodb, s3, credentials),
    dynamodb: dependencies.dynamodb,
    credentials,
    signing: toSigning(credentials),
    from: dataDir === undefined ? 'TRIM_HORIZON' : 'LATEST',
    maxWindowMs: options.maxWindowMs ?? usualWindowMs,
    delayFactor: Math.min(1, (options.maxWindowMs ?? usualWindowMs) / deployedWindowMs),
    maxVisibilityMs: options.maxVisibilityMs ?? usualVisibilityMs,
    ...(maxScheduleMs !== undefined && { maxScheduleMs }),
    ...(afterBatch && { afterBatch }),
    ...(concurrency && { concurrency }),
    ...(poolLimits && { poolLimits }),
    ...(startContainer && { startContainer }),
    ...(eventFate && { eventFate }),
    ...(log && { log }),
  });
};

/**
 * Runs the synthesized stack on local stores. If the start fails, nothing is left running.
 *
 * @throws BadSetting, SettingsError or SynthesisFailed with a
 * message for the operator. Error if the stack has something that is not supported locally; the
 * signal's reason
 */
export const startLocalService = async (options: LocalServiceOptions = {}): Promise<LocalService> => {
  const { signal, log = () => {}, progress = () => {} } = options;
  await using cleanup = new AsyncDisposableStack();
  const { server, serve, key, dataDir } = await claim(options, cleanup);
  const credentials = newCredentials();
  const notices: string[] = [];
  const dependencies = await startDependencies(
    {
      ...options,
      ...(dataDir && { dataDir }),
      progress,
      credentials,
      notify: (line) => {
        notices.push(line);
        log('stores', line);
      },
    },
    cleanup,
  );
  const embedded = dataDir !== undefined && !options.dynamodb && !options.dynamodbLocal;
  const takeOver = embedded ? { takeOver: join(dataDir, 'dynamodb') } : {};
  await prepareStores(dependencies, credentials, key, { ...options, ...takeOver }).catch((error: unknown) => {
    signal?.throwIfAborted();
    const [line] = notices;
    throw line === undefined ? error : new BadSetting(`DATA_DIR: ${line}`, { cause: error });
  });
  signal?.throwIfAborted();
  const { stack } = dependencies;
  const url = `http://${hostOf(options.address)}:${server.port}`;
  const openId = options.signIn === 'local' ? await startOpenId() : undefined;
  if (openId) {
    cleanup.defer(openId.stop);
    progress(`sign-in: ${openId.settings.issuer}`);
  }
  const running = { ...options, ...(openId && { signIn: openId.settings }) };
  const { bus, functions, listener, stop } = await run(dependencies, running, credentials, url, cleanup);
  cleanup.defer(stop);
  // A key that the operator set is theirs to give.
  const link = options.key === undefined ? signInLink(url, formatKey(key.key)) : undefined;
  serve(link ? link.before(listener) : listener);
  // The server stops before the functions and stores that pending requests still need.
  cleanup.defer(() => server.stop());
  const owned = cleanup.move();
  return {
    ...dependencies,
    bus,
    url,
    port: server.port,
    credentials,
    key: formatKey(key.key),
    ...(key.file !== undefined && { keyFile: key.file }),
    ...(link && { signInUrl: link.url }),
    ...(openId && { openId }),
    killWorkers: async (path) => {
      const routes = stack.api.routes.filter((route) => route.path === path);
      if (path === undefined) await functions.kill();
      else await Promise.all(routes.map((route) => functions.getFunction(route.function).kill()));
    },
    stop: () => owned.disposeAsync(),
  };
};

const folder = join(workFolder, '.local');

/**
 * Writes the running service's stores and their credentials to `.local/<port>.json`, for commands that
 * use them. Only its owner can read it.
 *
 * @returns removes the file
 */
export const writeRunFile = async ({
  url,
  port,
  dynamodb,
  s3,
  credentials,
  stack,
}: LocalService): Promise<() => Promise<void>> => {
  const file = join(folder, `${port}.json`);
  const run = {
    url,
    pid: process.pid,
    authorizerCacheSeconds: maxAuthorizerCacheSeconds(stack),
    dynamodb,
    s3,
    credentials,
    tables: {
      calls: getTableName(stack, 'calls'),
      keys: getTableName(stack, 'keys'),
      objects: getTableName(stack, 'objects'),
      bookkeeping: getTableName(stack, 'bookkeeping'),
      audit: getTableName(stack, 'audit'),
    },
    bucket: getOutput(stack, 'PayloadsBucket'),
  };
  await mkdir(folder, { recursive: true });
  // A file that is there keeps the mode that it has.
  await rm(file, { force: true });
  await writeFile(file, `${JSON.stringify(run, null, 2)}\n`, { mode: 0o600 });
  return () => rm(file, { force: true });
};
