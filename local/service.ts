import type { RequestListener } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { formatKey } from '../core/auth/index.ts';
import { readConfig } from '../lib/config.ts';
import { claimDataDir } from './data-dir.ts';
import { type DependencyOptions, type Parts, startDependencies } from './dependencies.ts';
import { gateway } from './gateway/gateway.ts';
import { listen } from './gateway/server.ts';
import { guardStores, withAccessKeys } from './iam/guard.ts';
import type { Access } from './iam/policy.ts';
import { withUpstream } from './inference.ts';
import { findLocalKey, type LocalKey, storeLocalKey } from './key.ts';
import { sourceNames } from './log.ts';
import type { Concurrency } from './runtime/function.ts';
import { type Functions, makeFunctions } from './runtime/functions.ts';
import { usingExternal } from './stores/external.ts';
import { localCredentials, localRegion, storeEnvironment } from './stores/store.ts';
import { createBuckets, createTables } from './stores/tables.ts';
import { contextWith } from './synthesize.ts';
import type { FunctionSpec } from './template/functions.ts';
import { outputOf, readStack, serviceOf } from './template/stack.ts';

/** How to run the service locally. */
export interface LocalServiceOptions extends Partial<DependencyOptions> {
  /** @default - any that is free */
  readonly port?: number;
  /**
   * A key to store at the start. @default - the one that the data folder keeps, or one that is made
   */
  readonly key?: string;
  readonly concurrency?: Concurrency;
  /**
   * Has functions refused what their roles do not allow, as in AWS, and takes what they do, with
   * the route or the part that does it. Every request to a store then makes a detour. @default -
   * they may do everything
   */
  readonly leastPrivilege?: (source: string, access: Access) => void;
  /**
   * Takes what the functions and the gateway write, each line with the route or the part that it is
   * of. @default - nobody does
   */
  readonly log?: (source: string, line: string) => void;
}

/** The service, running. */
export interface LocalService extends Parts {
  /** Without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** Its name. */
  readonly service: string;
  /** A key that may do everything. */
  readonly key: string;
  /** The file that keeps the key; absent where it was given, or is gone at the end. */
  readonly keyFile?: string;
  /**
   * Ends the processes of all functions, or of a route's, with what they are doing, as if they had
   * crashed.
   */
  killWorkers(path?: string): Promise<void>;
  /**
   * Ends it, once the requests under way have had a moment. Resolves once nothing of it is left.
   */
  stop(): Promise<void>;
}

/**
 * The service's name, which every key begins with: what the stack will be synthesized with, or has
 * been.
 */
const serviceNameOf = ({ assembly, settings }: LocalServiceOptions): string =>
  assembly === undefined ? readConfig(contextWith(settings)).serviceName : serviceOf(readStack(assembly));

/** Fills the stores with the stack's tables and bucket, and the key. */
const prepareStores = async (
  { dynamodb, s3, stack }: Parts,
  key: LocalKey,
  given: Pick<LocalServiceOptions, 'dynamodb' | 's3' | 'signal'>,
): Promise<void> => {
  const shared = { region: localRegion, credentials: localCredentials };
  const client = new DynamoDBClient({ ...shared, endpoint: dynamodb });
  const s3Client = new S3Client({ ...shared, endpoint: s3 });
  const tables = createTables(stack, client, given.signal);
  const buckets = createBuckets(stack, s3Client, given.signal);
  try {
    await Promise.all([
      usingExternal('AWS_ENDPOINT_URL_DYNAMODB', given.dynamodb, tables),
      usingExternal('AWS_ENDPOINT_URL_S3', given.s3, buckets),
    ]);
    await storeLocalKey({ client, name: outputOf(stack, 'KeysTable') }, key);
  } finally {
    client.destroy();
    s3Client.destroy();
  }
};

/**
 * Claims what the service needs for itself, and finds its key: what fails here costs nobody a wait.
 */
const claim = async (options: LocalServiceOptions, cleanup: AsyncDisposableStack) => {
  const service = serviceNameOf(options);
  const { promise: listener, resolve: serve, reject: give } = Promise.withResolvers<RequestListener>();
  listener.catch(() => {});
  const server = await listen(options.port ?? 0, listener);
  cleanup.defer(() => server.stop());
  cleanup.defer(() => give(new Error('stopped')));
  const dataDir = options.dataDir ? await claimDataDir(options.dataDir) : undefined;
  if (dataDir) cleanup.defer(dataDir.release);
  const key = await findLocalKey({
    service,
    ...(options.key !== undefined && { given: options.key }),
    ...(dataDir && { folder: dataDir.path }),
  });
  return { service, server, serve, key, ...(dataDir && { dataDir: dataDir.path }) };
};

/**
 * The functions of the stack, on its stores and the local model; behind guards, where they are to
 * have no more than their roles allow.
 */
const functionsOf = async (
  { stack, model, dynamodb, s3 }: Parts,
  { leastPrivilege: used, concurrency, log = () => {} }: LocalServiceOptions,
  cleanup: AsyncDisposableStack,
): Promise<Functions> => {
  const nameOf = sourceNames(stack);
  const plain = model ? withUpstream(stack, model) : stack.functions;
  const specs = used ? withAccessKeys(plain) : plain;
  const guard = used && {
    specs,
    policies: stack.policies(),
    used: ({ name }: FunctionSpec, access: Access) => used(nameOf(name), access),
    log: (line: string) => log('store', line),
  };
  const stores = guard ? await guardStores({ dynamodb, s3 }, guard, cleanup) : { dynamodb, s3 };
  return makeFunctions({
    specs,
    environment: storeEnvironment(stores.dynamodb, stores.s3),
    log: (name, line) => log(nameOf(name), line),
    ...(concurrency && { concurrency }),
  });
};

/**
 * Runs the synthesized stack on local stores.
 *
 * @throws PortTaken, MissingPrerequisite, BadSetting, SettingsError, SynthesisFailed, each with a
 * message for the operator; Error where the stack has what is not supported locally; the signal's
 * reason. Nothing is left running then.
 */
export const startLocalService = async (options: LocalServiceOptions = {}): Promise<LocalService> => {
  const { signal, log = () => {}, progress = () => {} } = options;
  await using cleanup = new AsyncDisposableStack();
  const { service, server, serve, key, dataDir } = await claim(options, cleanup);
  const parts = await startDependencies({ ...options, ...(dataDir && { dataDir }), progress }, cleanup);
  await prepareStores(parts, key, options).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
  signal?.throwIfAborted();
  const { stack } = parts;
  const functions = await functionsOf(parts, options, cleanup);
  cleanup.defer(() => functions.kill());
  cleanup.defer(() => functions.waitUntilIdle());
  serve(gateway({ api: stack.api, functions, log: (line) => log('gateway', line) }));
  // Before the functions and stores that the requests under way still need.
  cleanup.defer(() => server.stop());
  const owned = cleanup.move();
  return {
    ...parts,
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
