/**
 * The functions as they are deployed, each in a process of its own with the memory that it has on
 * Lambda: what processor time a request takes from the event to the end of the answer, and how much
 * memory. docs/decisions/0143 rests on these figures.
 */
import { randomUUID } from 'node:crypto';
import { S3Client } from '@aws-sdk/client-s3';
import { toContext } from '../../core/auth/index.ts';
import { dynamodbClient } from '../../core/storage/index.ts';
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
import type { Invoked } from '../harness/function-process.ts';
import { HeldFunction } from '../harness/held-function.ts';
import type { BenchContext, Part } from '../harness/part.ts';
import { type Probe, probesOf } from './function-requests.ts';

/** The stack on stores of its own, with a model that echoes. */
interface Deployment {
  readonly stack: StackSpec;
  readonly functions: readonly FunctionSpec[];
  readonly environment: Readonly<Record<string, string>>;
}

const deploy = async ({ bench }: BenchContext, cleanup: AsyncDisposableStack): Promise<Deployment> => {
  const { dynamodb, assembly } = (await bench()).given;
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

const eventOf = ({ api }: StackSpec, { path, body }: Probe, match: Match): object =>
  proxyEvent(
    api,
    {
      ...{ id: randomUUID(), method: 'POST', path, query: new URLSearchParams() },
      headers: [
        ['content-type', 'application/json'],
        ['accept-encoding', 'gzip'],
        ['openai-project', 'acme/shop'],
      ],
      ...{ sourceIp: '127.0.0.1', receivedAt: Date.now() },
    },
    match,
    { authorizer: { ...caller }, body: Buffer.from(JSON.stringify(body())) },
  );

/** How often a request is made. */
interface Rounds {
  /**
   * Before it is measured: until then V8 has compiled what it will, but for requests that take
   * long.
   */
  readonly before: number;
  readonly measured: number;
}

const roundsOf = ({ large }: Probe): Rounds =>
  large ? { before: 3, measured: 4 } : { before: 20, measured: 15 };

/** Enough for a process to hold what it ever will. */
const twice: Rounds = { before: 0, measured: 2 };

/** A function under trial. */
interface Trial {
  readonly deployment: Deployment;
  readonly match: Match;
  readonly spec: FunctionSpec;
  readonly probes: readonly Probe[];
}

const pathOf = ({ match }: Trial): string => match.route.path;

const start = ({ spec, deployment }: Trial, memoryMb: number): HeldFunction =>
  new HeldFunction(spec, memoryMb, deployment.environment);

/** Lets a function answer a probe over and over; undefined where it had too little memory. */
const answersTo = async (
  { deployment, match }: Trial,
  held: HeldFunction,
  probe: Probe,
  rounds: Rounds,
): Promise<Invoked[] | undefined> => {
  const all: Invoked[] = [];
  for (let i = 0; i < rounds.before + rounds.measured; i++) {
    const invoked = await held.invoke(eventOf(deployment.stack, probe, match));
    if (!invoked) return undefined;
    const { text, log } = invoked;
    if (!log.includes('"status":200'))
      throw new Error(`${probe.path}, ${probe.name}: ${text.slice(0, 500)} ${log.slice(0, 500)}`);
    all.push(invoked);
  }
  return all.slice(rounds.before);
};

/** Beside its own, what a function is tried with, in MB. */
const otherSizes = [256, 512] as const;

const peakOf = (answers: readonly Invoked[] | undefined): number =>
  answers ? Math.max(...answers.map(({ peakMb }) => peakMb)) : Number.POSITIVE_INFINITY;

/**
 * With the memory that the function has: the processor time of its requests, and the memory that
 * they took.
 */
const ownFigures = async (trial: Trial): Promise<Figure[]> => {
  const [path, { memoryMb }] = [pathOf(trial), trial.spec];
  const figures: Figure[] = [];
  let peak = 0;
  using held = start(trial, memoryMb);
  for (const probe of trial.probes) {
    const answers = await answersTo(trial, held, probe, roundsOf(probe));
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

/** With less: the memory that its largest requests took. */
const figuresWithLess = async (trial: Trial): Promise<Figure[]> => {
  const large = trial.probes.filter((probe) => probe.large);
  if (large.length === 0) return [];
  const figures: Figure[] = [];
  for (const size of otherSizes.filter((other) => other < trial.spec.memoryMb)) {
    let peak = 0;
    using held = start(trial, size);
    for (const probe of large)
      if (Number.isFinite(peak)) peak = Math.max(peak, peakOf(await answersTo(trial, held, probe, twice)));
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

/** Processor time and memory of the functions. */
export const functions: Part = {
  name: 'functions',
  title:
    'The functions as deployed: processor time of a request, and the most memory that a process held (Infinity: it ran out)',
  run,
};
