import { mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { startDynamodb } from './dynamodb.ts';
import { gateway } from './gateway/gateway.ts';
import { listen } from './gateway/server.ts';
import { type LocalUpstream, startEchoModel, withUpstream } from './inference.ts';
import { storeLocalKey } from './key.ts';
import type { Concurrency } from './runtime/function.ts';
import { makeFunctions } from './runtime/functions.ts';
import { startS3 } from './s3.ts';
import { type LocalStore, localCredentials, localRegion, storeEnvironment } from './store.ts';
import { synthesize } from './synthesize.ts';
import { createStores } from './tables.ts';
import { outputOf, readStack, type StackSpec } from './template/stack.ts';

/** How to run the service locally. */
export interface LocalServiceOptions {
  /** @default - any that is free */
  readonly port?: number;
  /** A key to store at the start. @default - one is made */
  readonly key?: string;
  /** The folder to keep the data in. @default - in memory, gone at the end */
  readonly dataDir?: string;
  /** The endpoint of a DynamoDB that runs already. @default - one is started */
  readonly dynamodb?: string;
  /** The endpoint of an S3 that runs already. @default - one is started */
  readonly s3?: string;
  /** Where model requests go; null leaves the functions the upstreams of the stack. @default - a model that echoes */
  readonly inference?: LocalUpstream | null;
  /** The folder that the stack was synthesized to. @default - it is synthesized now */
  readonly assembly?: string;
  /** Settings that go before those of cdk.json, where the stack is synthesized now. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** What the names of tables and buckets begin with. @default - the stack's name */
  readonly stackName?: string;
  readonly concurrency?: Concurrency;
  /** Takes what the functions write, and what failed. @default - nobody does */
  readonly log?: (source: string, line: string) => void;
  /** Takes what is being done. @default - nobody does */
  readonly progress?: (line: string) => void;
}

/** The service, running. */
export interface LocalService {
  /** Without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** A key that may do everything. */
  readonly key: string;
  /** The endpoints of the stores. */
  readonly dynamodb: string;
  readonly s3: string;
  readonly stack: StackSpec;
  /** Ends the processes of all functions with what they are doing, as if they had crashed. */
  killWorkers(): Promise<void>;
  /** Ends it, once the requests under way have had a moment. Resolves once nothing of it is left. */
  stop(): Promise<void>;
}

/** A store that somebody else runs, and ends. */
const running = (endpoint: string): LocalStore => ({ endpoint, stop: async () => {} });

/** Runs what the options don't give, and adds how to end it. */
const startParts = async (options: LocalServiceOptions, cleanup: AsyncDisposableStack) => {
  const { dataDir, progress = () => {} } = options;
  const folder = (name: string) => dataDir && join(dataDir, name);
  const store = async (name: string, given: string | undefined, start: () => Promise<LocalStore>) => {
    const started = given ? running(given) : await start();
    cleanup.defer(() => started.stop());
    progress(`${name}: ${started.endpoint}${given ? ' (as told)' : ''}`);
    return started.endpoint;
  };
  const stack = async () => {
    const outdir = options.assembly ?? (await mkdtemp(join(tmpdir(), 'pennytrace-')));
    if (!options.assembly) {
      cleanup.defer(() => rm(outdir, { recursive: true, force: true }));
      await synthesize(outdir, options.settings);
    }
    const read = readStack(outdir, options.stackName);
    progress(`stack: ${read.api.routes.length} routes, ${read.functions.length} functions`);
    return read;
  };
  const model = async () => {
    if (options.inference !== undefined) return options.inference;
    const echo = await startEchoModel();
    cleanup.defer(() => echo.stop());
    progress(`model: ${echo.baseUrl} (an echo; set INFERENCE_BASE_URL for a real one)`);
    return echo;
  };
  const parts = [
    store('DynamoDB', options.dynamodb, () => startDynamodb(folder('dynamodb'))),
    store('S3', options.s3, () => startS3(folder('s3'))),
    stack(),
    model(),
  ] as const;
  // Where one fails, the others are still to be ended: they are known only once they run.
  await Promise.allSettled(parts);
  return Promise.all(parts);
};

/** The service's name, which every function has in its environment. */
const serviceName = ({ functions }: StackSpec): string => {
  const name = functions.find(({ environment }) => environment.SERVICE_NAME)?.environment.SERVICE_NAME;
  if (name === undefined) throw new Error('no function has SERVICE_NAME in its environment');
  return name;
};

/** Fills the stores with the stack's tables and bucket, and the key. */
const prepareStores = async (
  { key }: LocalServiceOptions,
  stack: StackSpec,
  endpoints: { dynamodb: string; s3: string },
): Promise<string> => {
  const client = { region: localRegion, credentials: localCredentials };
  const dynamodb = new DynamoDBClient({ ...client, endpoint: endpoints.dynamodb });
  const s3 = new S3Client({ ...client, endpoint: endpoints.s3 });
  try {
    await createStores(stack, dynamodb, s3);
    const keysTable = outputOf(stack, 'KeysTable');
    const service = serviceName(stack);
    return await storeLocalKey({ dynamodb, keysTable, service, ...(key !== undefined && { given: key }) });
  } finally {
    dynamodb.destroy();
    s3.destroy();
  }
};

/**
 * Runs the synthesized stack on local stores.
 *
 * @throws PortTaken, MissingPrerequisite, BadSetting, each with a message for the operator; Error where the stack does
 * not synthesize or has what is not supported locally. Nothing is left running then.
 */
export const startLocalService = async (options: LocalServiceOptions = {}): Promise<LocalService> => {
  await using cleanup = new AsyncDisposableStack();
  const { promise: listener, resolve: serve, reject: give } = Promise.withResolvers<RequestListener>();
  listener.catch(() => {});
  // First of all, so that a port that is taken costs nobody the wait.
  const server = await listen(options.port ?? 0, listener);
  cleanup.defer(() => server.stop());
  cleanup.defer(() => give(new Error('stopped')));

  const [dynamodb, s3, stack, model] = await startParts(options, cleanup);
  const key = await prepareStores(options, stack, { dynamodb, s3 });
  const functions = makeFunctions({
    specs: model ? withUpstream(stack, model) : stack.functions,
    environment: storeEnvironment(dynamodb, s3),
    log: options.log ?? (() => {}),
    ...(options.concurrency && { concurrency: options.concurrency }),
  });
  cleanup.defer(() => functions.kill());
  cleanup.defer(() => functions.settle());
  const log = (line: string) => options.log?.('gateway', line);
  serve(gateway({ api: stack.api, functions, log }));
  // Before the functions and stores that the requests under way still need.
  cleanup.defer(() => server.stop());
  const owned = cleanup.move();
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    key,
    dynamodb,
    s3,
    stack,
    killWorkers: functions.kill,
    stop: () => owned.disposeAsync(),
  };
};
