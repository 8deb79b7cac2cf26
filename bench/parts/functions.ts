/**
 * The deployed functions, each in a process with its memory on Lambda. The figures are CPU time per
 * request, from the event to the end of the answer, and memory. Decision 0143 rests on these
 * figures.
 */
import { randomUUID } from 'node:crypto';
import { S3Client } from '@aws-sdk/client-s3';
import { toContext } from '../../core/foundations/auth/index.ts';
import { dynamodbClient } from '../../core/foundations/storage/index.ts';
import { proxyEvent } from '../../local/gateway/event.ts';
import { type Match, matcher } from '../../local/gateway/match.ts';
import { startEchoModel, withUpstream } from '../../local/inference.ts';
import { startS3 } from '../../local/stores/s3.ts';
import { localCredentials, localRegion, storeEnvironment } from '../../local/stores/store.ts';
import { createStores } from '../../local/stores/tables.ts';
import type { FunctionSpec } from '../../local/template/functions.ts';
import { readStack, type StackSpec } from '../../local/template/stack.ts';
import type { Call } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { FunctionContainer } from '../harness/function-container.ts';
import type { InvocationResult } from '../harness/function-process.ts';
import type { BenchContext, BenchPart } from '../harness/part.ts';
import { type Probe, probesOf } from './function-requests.ts';

/** The stack on stores of its own, with the echo model. */
interface Deployment {
  readonly stack: StackSpec;
  readonly functions: readonly FunctionSpec[];
  readonly environment: Readonly<Record<string, string>>;
}

const deploy = async ({ bench }: BenchContext, cleanup: AsyncDisposableStack): Promise<Deployment> => {
  const { dynamodb, assembly } = (await bench()).environment;
  const [s3, model] = await Promise.all([startS3(), startEchoModel()]);
  cleanup.defer(() => s3.stop());
  cleanup.defer(() => model.stop());
  const config = { region: localRegion, credentials: localCredentials };
  const stack = readStack(assembly, `bench-${randomUUID().slice(0, 13)}`);
  const client = dynamodbClient({ ...config, endpoint: dynamodb });
  const buckets = new S3Client({ ...config, endpoint: s3.endpoint, forcePathStyle: true });
  await createStores(stack, client, buckets);
  client.destroy();
  buckets.destroy();
  return {
    stack,
    functions: withUpstream(stack, model),
    environment: storeEnvironment(dynamodb, s3.endpoint),
  };
};

const caller = toContext({
  user: 'ada',
  keyId: '0123456789abcdef',
  grants: [
    { scope: '*', role: 'write' },
    { scope: '*', role: 'inference' },
  ],
});

const bytesOf = (body: object): Buffer =>
  Buffer.from(body instanceof Uint8Array ? body : JSON.stringify(body));

const eventOf = ({ api }: StackSpec, { path, body, headers }: Probe, match: Match): object =>
  proxyEvent(
    api,
    {
      ...{ id: randomUUID(), method: 'POST', path, query: new URLSearchParams() },
      headers: [
        ...(headers ?? [['content-type', 'application/json']]),
        ['accept-encoding', 'gzip'],
        ['openai-project', 'acme/shop'],
      ],
      ...{ sourceIp: '127.0.0.1', receivedAt: Date.now() },
    },
    match,
    { authorizer: { ...caller }, body: bytesOf(body()) },
  );

/** How often a request is made. */
interface Rounds {
  /** Unmeasured requests before, so that V8 compiles first. Long requests need fewer. */
  readonly before: number;
  readonly measured: number;
}

const roundsOf = ({ large }: Probe): Rounds =>
  large ? { before: 3, measured: 4 } : { before: 20, measured: 15 };

/** Enough requests for a process to reach its peak memory. */
const twice: Rounds = { before: 0, measured: 2 };

/** A function with its probes. */
interface Trial {
  readonly deployment: Deployment;
  readonly match: Match;
  readonly spec: FunctionSpec;
  readonly probes: readonly Probe[];
}

const pathOf = ({ match }: Trial): string => match.route.path;

const start = ({ spec, deployment }: Trial, memoryMb: number): FunctionContainer =>
  new FunctionContainer(spec, memoryMb, deployment.environment);

/** Invokes a function with a probe repeatedly; undefined if it ran out of memory. */
const answersTo = async (
  { deployment, match }: Trial,
  container: FunctionContainer,
  probe: Probe,
  rounds: Rounds,
): Promise<InvocationResult[] | undefined> => {
  const all: InvocationResult[] = [];
  for (let i = 0; i < rounds.before + rounds.measured; i++) {
    const result = await container.invoke(eventOf(deployment.stack, probe, match));
    if (!result) return undefined;
    const { text, log } = result;
    if (!log.includes('"status":200'))
      throw new Error(`${probe.path}, ${probe.name}: ${text.slice(0, 500)} ${log.slice(0, 500)}`);
    all.push(result);
  }
  return all.slice(rounds.before);
};

/** Other memory sizes to try, in MB. */
const otherSizes = [256, 512] as const;

const peakOf = (answers: readonly InvocationResult[] | undefined): number =>
  answers ? Math.max(...answers.map(({ peakMb }) => peakMb)) : Number.POSITIVE_INFINITY;

/** Measures CPU time and memory of requests with the function's own memory. */
const ownFigures = async (trial: Trial): Promise<Figure[]> => {
  const [path, { memoryMb }] = [pathOf(trial), trial.spec];
  const figures: Figure[] = [];
  let peak = 0;
  using container = start(trial, memoryMb);
  for (const probe of trial.probes) {
    const answers = await answersTo(trial, container, probe, roundsOf(probe));
    if (!answers) throw new Error(`${path}, ${probe.name}: ${memoryMb} MB are not enough`);
    const times = answers.map(({ cpuMs }) => cpuMs);
    figures.push(measured(`${path}, ${probe.name}: processor`, 'ms', times));
    peak = Math.max(peak, peakOf(answers));
  }
  return [...figures, memoryFigure(trial, memoryMb, peak, { atMost: memoryMb })];
};

const memoryFigure = (
  trial: Trial,
  memoryMb: number,
  peak: number,
  floor: { atMost?: number } = {},
): Figure => counted(`${pathOf(trial)}: memory of ${memoryMb} MB`, 'MB at most', peak, floor);

/** Measures the memory of the largest requests with less memory. */
const figuresWithLess = async (trial: Trial): Promise<Figure[]> => {
  const large = trial.probes.filter((probe) => probe.large);
  if (large.length === 0) return [];
  const figures: Figure[] = [];
  for (const size of otherSizes.filter((other) => other < trial.spec.memoryMb)) {
    let peak = 0;
    using container = start(trial, size);
    for (const probe of large)
      if (Number.isFinite(peak))
        peak = Math.max(peak, peakOf(await answersTo(trial, container, probe, twice)));
    figures.push(memoryFigure(trial, size, peak));
  }
  return figures;
};

const run = async (context: BenchContext): Promise<Figure[]> => {
  const [first, ...more] = context.calls;
  if (!first) return [];
  await using cleanup = new AsyncDisposableStack();
  const deployment = await deploy(context, cleanup);
  const match = matcher(deployment.stack.api.routes);
  const calls: readonly [Call, ...Call[]] = [first, ...more];
  const byRoute = Map.groupBy(probesOf(calls), ({ path }) => path);
  const figures: Figure[] = [];
  for (const [path, probes] of byRoute) {
    const found = match('POST', path);
    const spec = deployment.functions.find(({ arn }) => arn === found?.route.function.arn);
    if (!found || !spec) throw new Error(`there is no route ${path}, or no function behind it`);
    context.progress(`  ${path}`);
    const trial = { deployment, match: found, spec, probes };
    figures.push(...(await ownFigures(trial)), ...(await figuresWithLess(trial)));
  }
  return figures;
};

/** CPU time and memory of the functions. */
export const functions: BenchPart = {
  name: 'functions',
  title:
    'The functions as deployed: processor time of a request, and the most memory that a process held (Infinity: it ran out)',
  run,
};
