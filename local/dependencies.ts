import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalUpstream, startEchoModel } from './inference.ts';
import { startDynamodb } from './stores/dynamodb.ts';
import { externalStore } from './stores/external.ts';
import { startS3 } from './stores/s3.ts';
import type { LocalStore } from './stores/store.ts';
import { synthesize } from './synthesize.ts';
import { readStack, type StackSpec } from './template/stack.ts';

/** What the service is made of, and where that may be already. */
export interface DependencyOptions {
  /** The folder to keep the data in. @default - in memory, gone at the end */
  readonly dataDir?: string;
  /** The endpoint of a DynamoDB that runs already. @default - one is started */
  readonly dynamodb?: string;
  /** The endpoint of an S3 that runs already. @default - one is started */
  readonly s3?: string;
  /**
   * Where model requests go; null leaves the functions the upstreams of the stack. @default - a
   * model that echoes
   */
  readonly inference?: LocalUpstream | null;
  /** The folder that the stack was synthesized to. @default - it is synthesized now */
  readonly assembly?: string;
  /** Settings that go before those of cdk.json, where the stack is synthesized now. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** What the names of tables and buckets begin with. @default - the stack's name */
  readonly stackName?: string;
  /** Takes what is being done. */
  readonly progress: (line: string) => void;
  /** Gives the start up. */
  readonly signal?: AbortSignal;
}

/** What the service is made of. */
export interface Parts {
  /** The endpoints of the stores. */
  readonly dynamodb: string;
  readonly s3: string;
  readonly stack: StackSpec;
  /** Where model requests go; null for the upstreams of the stack. */
  readonly model: LocalUpstream | null;
}

/**
 * Waits for works begun side by side; where one fails, or the signal says so, all are given up, and
 * awaited.
 */
const together = async <A, B, C, D>(
  begin: (signal: AbortSignal) => readonly [Promise<A>, Promise<B>, Promise<C>, Promise<D>],
  signal?: AbortSignal,
): Promise<[A, B, C, D]> => {
  const failed = new AbortController();
  const ending = AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]);
  const works = begin(ending);
  for (const work of works) work.catch((error: unknown) => failed.abort(error));
  // Those that are given up have still to end what they started.
  await Promise.allSettled(works);
  ending.throwIfAborted();
  return Promise.all(works);
};

const dynamodbOf = ({ dynamodb, dataDir }: DependencyOptions, signal: AbortSignal): Promise<LocalStore> =>
  dynamodb
    ? externalStore('AWS_ENDPOINT_URL_DYNAMODB', dynamodb, signal)
    : startDynamodb(dataDir && join(dataDir, 'dynamodb'), signal);

const s3Of = ({ s3, dataDir }: DependencyOptions, signal: AbortSignal): Promise<LocalStore> =>
  s3 ? externalStore('AWS_ENDPOINT_URL_S3', s3, signal) : startS3(dataDir && join(dataDir, 's3'));

/** Where the stack was synthesized to, or is now. */
const assemblyOf = async (
  { assembly, settings }: DependencyOptions,
  cleanup: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<string> => {
  if (assembly !== undefined) return assembly;
  const outdir = await mkdtemp(join(tmpdir(), 'pennytrace-'));
  cleanup.defer(() => rm(outdir, { recursive: true, force: true }));
  await synthesize(outdir, settings, signal);
  return outdir;
};

/**
 * Starts the stores that are not given and synthesizes the stack, side by side.
 *
 * @param cleanup is told how to end what was started, also where something fails
 * @throws MissingPrerequisite, BadSetting, SynthesisFailed; the signal's reason
 */
export const startDependencies = async (
  options: DependencyOptions,
  cleanup: AsyncDisposableStack,
): Promise<Parts> => {
  const { progress } = options;
  const store = async (name: string, given: string | undefined, start: Promise<LocalStore>) => {
    const { endpoint, stop } = await start;
    cleanup.defer(stop);
    progress(`${name}: ${endpoint}${given ? ' (as told)' : ''}`);
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
    progress(`model: ${echo.baseUrl} (an echo; set INFERENCE_BASE_URL for a real one)`);
    return echo;
  };
  const [dynamodb, s3, read, upstream] = await together(
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
