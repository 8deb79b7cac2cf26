import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalUpstream, startEchoModel } from './inference.ts';
import { assemble } from './kept-assembly.ts';
import { startDynamodb } from './stores/dynamodb.ts';
import { externalStore } from './stores/external.ts';
import { startS3 } from './stores/s3.ts';
import type { LocalStore } from './stores/store.ts';
import { readStack, type StackSpec } from './template/stack.ts';

/** What the service runs on: which of it runs already, and how to start the rest. */
export interface DependencyOptions {
  /** The folder for the data. @default - in memory, gone at the end */
  readonly dataDir?: string;
  /** The endpoint of a running DynamoDB. @default - one is started */
  readonly dynamodb?: string;
  /** The endpoint of a running S3. @default - one is started */
  readonly s3?: string;
  /**
   * The upstream of model requests; null for the upstreams of the stack. @default - the echo model
   */
  readonly inference?: LocalUpstream | null;
  /** The folder of the synthesized stack. @default - it is synthesized now */
  readonly assembly?: string;
  /** Settings that override those of cdk.json when the stack is synthesized now. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The prefix of table and bucket names. @default - the stack's name */
  readonly stackName?: string;
  /** Takes a line for each step that is done. */
  readonly progress: (line: string) => void;
  /** Cancels the start. */
  readonly signal?: AbortSignal;
}

/** What the service runs on. */
export interface Dependencies {
  /** The endpoints of the stores. */
  readonly dynamodb: string;
  readonly s3: string;
  readonly stack: StackSpec;
  /** The upstream of model requests; null for the upstreams of the stack. */
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

const dynamodbOf = ({ dynamodb, dataDir }: DependencyOptions, signal: AbortSignal): Promise<LocalStore> =>
  dynamodb
    ? externalStore('AWS_ENDPOINT_URL_DYNAMODB', dynamodb, signal)
    : startDynamodb(dataDir && join(dataDir, 'dynamodb'), signal);

const s3Of = ({ s3, dataDir }: DependencyOptions, signal: AbortSignal): Promise<LocalStore> =>
  s3 ? externalStore('AWS_ENDPOINT_URL_S3', s3, signal) : startS3(dataDir && join(dataDir, 's3'));

/** The folder of the synthesized stack, which is synthesized now if there is none. */
const assemblyOf = async (
  { assembly, settings }: DependencyOptions,
  cleanup: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<string> => {
  if (assembly !== undefined) return assembly;
  const outdir = await mkdtemp(join(tmpdir(), 'pennytrace-'));
  cleanup.defer(() => rm(outdir, { recursive: true, force: true }));
  await assemble(outdir, settings, signal);
  return outdir;
};

/**
 * Starts the missing stores and synthesizes the stack, concurrently.
 *
 * @param cleanup gets a callback for everything started, also if a later step fails
 * @throws MissingPrerequisite, BadSetting, SynthesisFailed; the signal's reason
 */
export const startDependencies = async (
  options: DependencyOptions,
  cleanup: AsyncDisposableStack,
): Promise<Dependencies> => {
  const { progress } = options;
  const store = async (name: string, external: string | undefined, start: Promise<LocalStore>) => {
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
    if (options.inference !== undefined) return options.inference;
    const echo = await startEchoModel();
    cleanup.defer(() => echo.stop());
    progress(`model: ${echo.baseUrl} (an echo model; set INFERENCE_BASE_URL for a real one)`);
    return echo;
  };
  const [dynamodb, s3, read, upstream] = await allOrCancel(
    (signal) => [
      store('DynamoDB', options.dynamodb, dynamodbOf(options, signal)),
      store('S3', options.s3, s3Of(options, signal)),
      stack(assemblyOf(options, cleanup, signal)),
      model(),
    ],
    options.signal,
  );
  return { dynamodb, s3, stack: read, model: upstream };
};
