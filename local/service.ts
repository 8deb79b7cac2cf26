import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { formatKey } from '../core/foundations/auth/index.ts';
import { readConfig } from '../lib/config.ts';
import { analyticsFiles } from './analytics-files.ts';
import { claimDataDir } from './data-dir.ts';
import { type Dependencies, type DependencyOptions, startDependencies } from './dependencies.ts';
import { gateway } from './gateway/gateway.ts';
import { listen } from './gateway/server.ts';
import { withUpstream } from './inference.ts';
import { findLocalKey, type LocalKey, storeLocalKey } from './key.ts';
import { sourceNames } from './log.ts';
import type { Concurrency } from './runtime/function.ts';
import { type Functions, makeFunctions } from './runtime/functions.ts';
import type { PoolLimits } from './runtime/worker-pool.ts';
import { usingExternal } from './stores/external.ts';
import { localCredentials, localRegion, storeEnvironment } from './stores/store.ts';
import { createBuckets, createTables } from './stores/tables.ts';
import { busEnvironment, type EntryFate, type EventBus, startEventBus } from './streams/event-bus.ts';
import { runStreams } from './streams/run.ts';
import { contextWith } from './synthesize.ts';
import type { FunctionSpec } from './template/functions.ts';
import { readStack, type StackSpec, serviceOf, tableNameOf } from './template/stack.ts';

/** The URLs of the stores, and the functions that use them. */
export interface FunctionStores {
  readonly dynamodb: string;
  readonly s3: string;
  readonly functions: readonly FunctionSpec[];
}

/**
 * Puts something of one's own between functions and stores.
 *
 * @param cleanup takes what has to end with the service
 * @returns the URLs and the functions to run instead
 */
export type WrapStores = (
  stores: FunctionStores,
  stack: StackSpec,
  cleanup: AsyncDisposableStack,
) => Promise<FunctionStores>;

/** How to run the service locally. */
export interface LocalServiceOptions extends Partial<DependencyOptions> {
  /** @default - any free port */
  readonly port?: number;
  /** A key to store at the start. @default - the key in the data folder, or a new one */
  readonly key?: string;
  readonly concurrency?: Concurrency;
  /** The bounds on the workers of all functions together. @default - for ordinary use */
  readonly poolLimits?: PoolLimits;
  /** @default - functions use the stores themselves */
  readonly wrapStores?: WrapStores;
  /**
   * Takes each line of the functions and the gateway, with its source. @default - lines are dropped
   */
  readonly log?: (source: string, line: string) => void;
  /** The longest time that a batch of a stream gathers, in ms. @default 1000 */
  readonly maxWindowMs?: number;
  /** Says which events the local bus does not take. @default - it takes all */
  readonly eventFate?: EntryFate;
}

/** The running service. */
export interface LocalService extends Dependencies {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** The service's name. */
  readonly service: string;
  /** Where events go, if the stack sends any; and the queue for what could not be sent. */
  readonly bus: EventBus;
  /** A key that may do everything. */
  readonly key: string;
  /** The file with the key; absent if the key was set or is not stored. */
  readonly keyFile?: string;
  /** Ends the threads of all functions, or of one route's, at once, as a crash would. */
  killWorkers(path?: string): Promise<void>;
  /** Gives pending requests a moment, then ends the service. Resolves when everything has ended. */
  stop(): Promise<void>;
}

/**
 * The service's name, which every key starts with: from the settings, or from the synthesized
 * stack.
 */
const serviceNameOf = ({ assembly, settings }: LocalServiceOptions): string =>
  assembly === undefined ? readConfig(contextWith(settings)).serviceName : serviceOf(readStack(assembly));

/** Creates the stack's tables and bucket, and stores the key. */
const prepareStores = async (
  { dynamodb, s3, stack }: Dependencies,
  key: LocalKey,
  external: Pick<LocalServiceOptions, 'dynamodb' | 's3' | 'signal'>,
): Promise<void> => {
  const shared = { region: localRegion, credentials: localCredentials };
  const client = new DynamoDBClient({ ...shared, endpoint: dynamodb });
  const s3Client = new S3Client({ ...shared, endpoint: s3 });
  const tables = createTables(stack, client, external.signal);
  const buckets = createBuckets(stack, s3Client, external.signal);
  try {
    await Promise.all([
      usingExternal('AWS_ENDPOINT_URL_DYNAMODB', external.dynamodb, tables),
      usingExternal('AWS_ENDPOINT_URL_S3', external.s3, buckets),
    ]);
    await storeLocalKey({ client, name: tableNameOf(stack, 'keys') }, key);
  } finally {
    client.destroy();
    s3Client.destroy();
  }
};

/** Claims port and data folder and finds the key. It comes first, because it is quick to fail. */
const claim = async (options: LocalServiceOptions, cleanup: AsyncDisposableStack) => {
  const service = serviceNameOf(options);
  const { promise: listener, resolve: serve, reject: refuse } = Promise.withResolvers<RequestListener>();
  listener.catch(() => {});
  const server = await listen(options.port ?? 0, listener);
  cleanup.defer(() => server.stop());
  cleanup.defer(() => refuse(new Error('stopped')));
  const dataDir = options.dataDir ? await claimDataDir(options.dataDir) : undefined;
  if (dataDir) cleanup.defer(dataDir.release);
  const key = await findLocalKey({
    service,
    ...(options.key !== undefined && { configured: options.key }),
    ...(dataDir && { folder: dataDir.path }),
  });
  return { service, server, serve, key, ...(dataDir && { dataDir: dataDir.path }) };
};

/** Makes the functions on the stores, as the options wrap them, and on the local model. */
const functionsOf = async (
  { stack, model, dynamodb, s3 }: Dependencies,
  { wrapStores, concurrency, poolLimits, log = () => {} }: LocalServiceOptions,
  bus: EventBus,
  cleanup: AsyncDisposableStack,
): Promise<Functions> => {
  const nameOf = sourceNames(stack);
  const plain = { dynamodb, s3, functions: model ? withUpstream(stack, model) : stack.functions };
  const wrapped = wrapStores ? await wrapStores(plain, stack, cleanup) : plain;
  return makeFunctions({
    specs: wrapped.functions,
    environment: { ...storeEnvironment(wrapped.dynamodb, wrapped.s3), ...busEnvironment(bus) },
    log: (name, line) => log(nameOf(name), line),
    ...(concurrency && { concurrency }),
    ...(poolLimits && { poolLimits }),
  });
};

/**
 * Brings streams to their functions. What a kept table's stream has was brought before the service
 * last ended, so only what comes from now on is.
 */
const streamsOf = (
  { stack, dynamodb, s3 }: Dependencies,
  { dataDir, maxWindowMs = 1000, log = () => {} }: LocalServiceOptions,
  functions: Functions,
  bus: EventBus,
): Promise<() => Promise<void>> => {
  const { AnalyticsBucket: bucket } = stack.outputs;
  const files =
    bucket !== undefined && dataDir !== undefined
      ? analyticsFiles({ s3, bucket, folder: join(dataDir, 'analytics') })
      : undefined;
  return runStreams({
    ...{ stack, dynamodb, functions, bus, maxWindowMs },
    after: async () => files?.(),
    from: dataDir === undefined ? 'TRIM_HORIZON' : 'LATEST',
    failed: (error) => log('streams', String(error)),
  });
};

/**
 * Runs the synthesized stack on local stores. If the start fails, nothing is left running.
 *
 * @throws PortTaken, MissingPrerequisite, BadSetting, SettingsError or SynthesisFailed with a
 * message for the operator. Error if the stack has something that is not supported locally; the
 * signal's reason
 */
export const startLocalService = async (options: LocalServiceOptions = {}): Promise<LocalService> => {
  const { signal, log = () => {}, progress = () => {} } = options;
  await using cleanup = new AsyncDisposableStack();
  const { service, server, serve, key, dataDir } = await claim(options, cleanup);
  const dependencies = await startDependencies(
    { ...options, ...(dataDir && { dataDir }), progress },
    cleanup,
  );
  await prepareStores(dependencies, key, options).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
  signal?.throwIfAborted();
  const { stack } = dependencies;
  const bus = await startEventBus(options.eventFate);
  cleanup.defer(() => bus.stop());
  const functions = await functionsOf(dependencies, options, bus, cleanup);
  cleanup.defer(() => functions.kill());
  cleanup.defer(() => functions.waitUntilIdle());
  cleanup.defer(await streamsOf(dependencies, options, functions, bus));
  serve(gateway({ api: stack.api, functions, log: (line) => log('gateway', line) }));
  // The server stops before the functions and stores that pending requests still need.
  cleanup.defer(() => server.stop());
  const owned = cleanup.move();
  return {
    ...dependencies,
    bus,
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    service,
    key: formatKey(key.key),
    ...(key.file !== undefined && { keyFile: key.file }),
    killWorkers: async (path) => {
      const routes = stack.api.routes.filter((route) => route.path === path);
      if (path === undefined) await functions.kill();
      else await Promise.all(routes.map((route) => functions.of(route.function).kill()));
    },
    stop: () => owned.disposeAsync(),
  };
};
