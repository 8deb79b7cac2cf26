/**
 * The deployed functions, each in a process with the memory that it has on Lambda: CPU time of a request
 * from the event to the end of the answer, and the most memory that the process held.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { toContext } from '../../core/foundations/auth/index.ts';
import { dynamodbClient } from '../../core/foundations/storage/index.ts';
import { type Match, matcher, proxyEvent } from '../../local/gateway/request.ts';
import { startEchoModel, withUpstream } from '../../local/inference.ts';
import { createStores, localCredentials, startS3, storeEnvironment } from '../../local/stores.ts';
import { localRegion } from '../../local/template/cloudformation.ts';
import { type FunctionSpec, readStack, type StackSpec } from '../../local/template/stack.ts';
import type { BenchContext, BenchPart } from '../harness/bench.ts';
import { type Call, exportOf, repeatCalls } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { endOf, newestBy, startOf } from '../harness/reporting.ts';
import type { Invocation, InvocationFailure, InvocationResult } from './function-process.ts';

/** The share of a function's memory that Lambda's Node runtime gives to V8. */
const memoryFlags = (memoryMb: number): string[] => [
  `--max-semi-space-size=${Math.floor(memoryMb * 0.05)}`,
  `--max-old-space-size=${Math.floor(memoryMb * 0.9)}`,
];

/** A function in a child process. Disposal ends the process. */
class FunctionContainer implements Disposable {
  readonly #child: ChildProcess;
  /** The exit code of the process; null if V8 aborts it because its heap is full. */
  readonly #ended: Promise<number | null>;

  /** @param environment variables beside the function's own */
  constructor(spec: FunctionSpec, memoryMb: number, environment: Readonly<Record<string, string>>) {
    this.#child = fork(new URL('./function-process.ts', import.meta.url), [`${spec.folder}/index.cjs`], {
      execArgv: memoryFlags(memoryMb),
      env: { PATH: process.env.PATH, ...environment, ...spec.environment },
      // V8 prints a long report when its heap is full.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve));
    // The end of the process tells that a message could not be sent.
    this.#child.on('error', () => {});
  }

  /**
   * Invokes the function with an event.
   *
   * @returns undefined if the process ran out of memory
   * @throws Error if it failed in another way
   */
  async invoke(event: object): Promise<InvocationResult | undefined> {
    const answered = new Promise<InvocationResult | InvocationFailure>((resolve) =>
      this.#child.once('message', resolve),
    );
    this.#child.send({ event: JSON.stringify(event) } satisfies Invocation);
    const answer = await Promise.race([answered, this.#ended]);
    if (answer === null) return undefined;
    if (typeof answer === 'number') throw new Error(`the function's process ended with code ${answer}`);
    if ('failed' in answer) throw new Error(answer.failed);
    return answer;
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}

// Requests to the functions: small ones as on every day, and the largest possible.

/** A request to a route. */
interface Probe {
  /** Its name in the figures. */
  readonly name: string;
  readonly path: string;
  /** Makes the body, with new ids for whatever it creates: bytes, or what is sent as JSON. */
  readonly body: () => object;
  /** Headers beside those that every request has. @default - JSON */
  readonly headers?: readonly (readonly [string, string])[];
  /** Whether it is one of the largest possible requests. */
  readonly large?: true;
}

/** The longest text whose request fits into an event of 6 MB, in characters. */
const maxCharacters = 4_900_000;

/** Text that is neither uniform nor noise. */
const longText = (): string => {
  let text = '';
  for (let i = 0; text.length < maxCharacters; i++) text += `${i} is ${Math.imul(i, 0x9e3779b1) >>> 0}; `;
  return text.slice(0, maxCharacters);
};

const batchOf = (calls: readonly Call[]): object => ({
  batch: calls.flatMap((call) => [startOf(call), endOf(call)]),
});

const protobuf = ['content-type', 'application/x-protobuf'] as const;

/** Exports of spans: as many as an SDK sends at once, and as much as may come unpacked. */
const spanProbes = (next: (count: number) => Call[]): readonly Probe[] => {
  const path = '/otel/v1/traces';
  const spans = (count: number) => exportOf(next(count), true);
  return [
    { path, name: '512 spans', headers: [protobuf], body: () => spans(512), large: true },
    {
      ...{ path, name: '4,000 spans, some 30 MB unpacked', large: true },
      headers: [protobuf, ['content-encoding', 'gzip']],
      body: () => gzipSync(spans(4000)),
    },
  ];
};

/** All probes. What a probe reads or removes was written by an earlier one. */
const probesOf = (calls: readonly [Call, ...Call[]]): readonly Probe[] => {
  const [{ start: first }] = calls;
  const project_id = String(first.project_id);
  const fresh = repeatCalls(calls, Number.MAX_SAFE_INTEGER);
  /** The same calls again, in the order in which they were written. */
  const written = repeatCalls(calls, Number.MAX_SAFE_INTEGER);
  const next = (of: Iterator<Call>, count: number): Call[] =>
    Array.from({ length: count }, () => of.next().value as Call);
  let serial = 0;
  const newId = (): string => `probe-${serial++}`;
  const text = longText();
  const isLarge = { large: true } as const;

  // In a project of their own, so that the other queries stay small.
  const ofLarge = 'acme/large';
  let large: string;
  const largeCall = () => {
    large = newId();
    return { start: { ...first, project_id: ofLarge, id: large, inputs: { text } } };
  };
  const read = (body: object) => () => ({ project_id, ...body });
  const feedback = (callId: unknown) => ({
    ...{ project_id, feedback_type: 'reaction', payload: { score: 0.5 } },
    svc_ref: `svc:///${project_id}/call/${callId}`,
  });
  const thousand = () => ({
    batch: Array.from({ length: 1000 }, (_, i) => feedback(calls[i % calls.length]?.start.id)),
  });
  const object = (val: object, of: string) => () => ({ obj: { project_id: of, object_id: newId(), val } });
  const question = (content: string) => () => ({ model: 'gpt-4o', messages: [{ role: 'user', content }] });

  return [
    { path: '/call/upsert_batch', name: '100 calls', body: () => batchOf(next(fresh, 100)) },
    { path: '/call/upsert_batch', name: '600 calls', body: () => batchOf(next(fresh, 600)), ...isLarge },
    {
      path: '/call/upsert_batch',
      name: 'one call of 4.9 MB',
      body: () => ({ batch: [{ mode: 'start', req: largeCall() }] }),
      ...isLarge,
    },
    ...spanProbes((count) => next(fresh, count)),
    { path: '/call/start', name: 'a call', body: () => ({ start: { ...first, id: newId() } }) },
    { path: '/call/start', name: 'a call of 4.9 MB', body: largeCall, ...isLarge },
    { path: '/call/read', name: 'a call', body: read({ id: first.id }) },
    {
      path: '/call/read',
      name: 'a call of 4.9 MB',
      body: () => ({ project_id: ofLarge, id: large }),
      ...isLarge,
    },
    { path: '/calls/stream_query', name: 'newest 100', body: read(newestBy('started_at')) },
    { path: '/calls/stream_query', name: 'everything', body: read({}), ...isLarge },
    {
      path: '/calls/stream_query',
      name: '100 by a payload',
      body: read(newestBy('inputs.model')),
      ...isLarge,
    },
    { path: '/calls/query_stats', name: 'everything', body: read({}), ...isLarge },
    { path: '/threads/stream_query', name: 'everything', body: read({}), ...isLarge },
    { path: '/feedback/create', name: 'a record', body: () => feedback(first.id) },
    { path: '/feedback/batch/create', name: '1,000 records', body: thousand, ...isLarge },
    { path: '/feedback/query', name: 'newest 100', body: read(newestBy('created_at')) },
    { path: '/feedback/query', name: 'everything', body: read({}), ...isLarge },
    { path: '/obj/create', name: 'an object', body: object({ prompt: 'Be brief.' }, project_id) },
    { path: '/obj/create', name: 'an object of 4.9 MB', body: object({ text }, ofLarge), ...isLarge },
    { path: '/objs/query', name: 'everything', body: read({}) },
    { path: '/inference/v1/chat/completions', name: 'a question', body: question('How are you?') },
    {
      path: '/inference/v1/chat/completions',
      name: 'a question of 4.9 MB',
      body: question(text),
      ...isLarge,
    },
    {
      path: '/calls/delete',
      name: '500 calls',
      body: () => ({ project_id, call_ids: next(written, 500).map(({ start }) => start.id) }),
      ...isLarge,
    },
  ];
};

// The deployed functions, each in a process with its memory on Lambda. The figures are CPU time per
// request, from the event to the end of the answer, and memory. Decision 0143 rests on these
// figures.

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
