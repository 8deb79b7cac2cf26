/**
 * The processor time of a warm request: gateway, authorizer and function, over HTTP, with the bundles that
 * are deployed. Store and client have processes of their own. Each figure stands beside a fixed piece of
 * work that was measured in turns with it, so figures of different machines can be compared.
 */

import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import type { BenchContext, BenchPart } from '../harness/bench.ts';
import { type Call, repeatCalls } from '../harness/calls.ts';
import { counted, type Figure, measured, quantile } from '../harness/figures.ts';
import { type Started, startByNpm } from '../harness/npm-start.ts';
import { batchSize, equalsQuery, newestBy, toEndItem, toStartItem } from '../harness/reporting.ts';

/** As many as the figures of others were measured with (bench/README.md). */
const callCount = 3468;
/** Requests before any is measured, and until a figure has this many rounds of this much time. */
const warmUps = 60;
const rounds = 12;
const roundMs = 150;

/** A request to the service. */
interface Probe {
  readonly name: string;
  readonly path: string;
  /** Its JSON. @default - it is a GET */
  readonly body?: object;
  /** The most units that it should take. */
  readonly atMost?: number;
  /** How many of its reads wait for one another. */
  readonly waits: number;
  /** The most that it should take by the clock, in ms. @default - it is not measured by the clock */
  readonly clockAtMost?: number;
}

const latencyAbove = (ms: number): object => ({
  $expr: { $gt: [{ $getField: 'summary.svc.latency_ms' }, { $literal: ms }] },
});

const chooseProbes = (calls: readonly Call[]): readonly Probe[] => {
  const sizes = Map.groupBy(calls, ({ start }) => start.trace_id);
  const trace = [...sizes].find(([, ofTrace]) => ofTrace.length === 2)?.[0];
  const path = '/calls/stream_query';
  const project_id = calls[0]?.start.project_id;
  const failed = equalsQuery('summary.svc.status', 'error');
  const query = (name: string, atMost: number, waits: number, body: object, clockAtMost?: number): Probe => ({
    name,
    path,
    atMost,
    waits,
    body: { project_id, ...body },
    ...(clockAtMost !== undefined && { clockAtMost }),
  });
  return [
    { name: 'GET /me', path: '/me', waits: 0 },
    {
      name: 'a call by id',
      path: '/call/read',
      atMost: 3,
      waits: 2,
      clockAtMost: 4,
      body: { project_id, id: calls[Math.floor(calls.length / 2)]?.start.id },
    },
    query('a trace of two calls', 4, 2, { filter: { trace_ids: [trace] } }),
    query(
      'newest 100 roots, all columns',
      12,
      2,
      { ...newestBy('started_at'), filter: { trace_roots_only: true } },
      12,
    ),
    query('all errors, all columns', 20, 2, { query: failed }, 12),
    query('all errors, no payloads', 8, 1, { query: failed, columns: ['id', 'op_name', 'started_at'] }),
    { name: 'count of all calls', path: '/calls/query_stats', atMost: 31, waits: 1, body: { project_id } },
    {
      name: 'count of slow calls',
      path: '/calls/query_stats',
      atMost: 31,
      waits: 1,
      clockAtMost: 40,
      body: { project_id, query: latencyAbove(5000) },
    },
    query('slow calls, all columns', 60, 3, { query: latencyAbove(5000) }),
    query('slow calls, ids', 35, 2, { query: latencyAbove(5000), columns: ['id'] }, 40),
  ];
};

/**
 * A fixed piece of work, some of everything that a request takes. It took as much processor time as a
 * warm `GET /me` did on 2026-11-23, through the gateway and with a cached authorization.
 */
const yardstick = (): void => {
  const rows = Array.from({ length: 100 }, (_, i) => ({ id: `${i}`, name: `call ${i}`, values: [i, i / 3] }));
  for (let i = 0; i < 20; i++) {
    const json = JSON.stringify(rows);
    createHash('sha256').update(json).digest('hex');
    JSON.parse(json);
  }
};

/** The processor time of one unit, in ms. */
const unitMs = (): number => {
  const times = 200;
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) yardstick();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
};

/** The running service. Disposal ends it. */
interface Service extends Disposable {
  /** Makes a request, and reads its answer. */
  readonly send: (probe: Pick<Probe, 'path' | 'body'>) => Promise<Buffer>;
  /** The processor time so far, in ms. */
  readonly cpuMs: () => Promise<number>;
}

const startService = async ({ bench }: BenchContext): Promise<Service> => {
  const { dynamodb, assembly } = (await bench()).environment;
  const child = fork(new URL('../harness/service-process.ts', import.meta.url), [dynamodb, assembly]);
  const [{ url, key }]: readonly [{ readonly url: string; readonly key: string }] = (await once(
    child,
    'message',
  )) as never;
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: `Basic ${btoa(`api:${key}`)}`, 'content-type': 'application/json' };
  return {
    send: async ({ path, body }) => {
      const method = body ? 'POST' : 'GET';
      const sent = request(`${url}${path}`, { agent, method, headers });
      sent.end(body && JSON.stringify(body));
      const [answer] = await once(sent, 'response');
      if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${await text(answer)}`);
      return buffer(answer);
    },
    cpuMs: async () => {
      child.send('cpu');
      const [ms] = await once(child, 'message');
      return ms;
    },
    [Symbol.dispose]: () => {
      agent.destroy();
      child.disconnect();
    },
  };
};

const load = async (
  service: { readonly send: (probe: Pick<Probe, 'path' | 'body'>) => Promise<unknown> },
  calls: readonly Call[],
): Promise<void> => {
  for (let i = 0; i < calls.length; i += batchSize) {
    const batch = calls.slice(i, i + batchSize).flatMap((call) => [toStartItem(call), toEndItem(call)]);
    await service.send({ path: '/call/upsert_batch', body: { batch } });
  }
};

/** What a read of DynamoDB waits, in ms. */
const waitMs = 5;
/** The memory with which a function has one whole core, in MB. */
const wholeCoreMb = 1769;

/** What a function is billed at several sizes of memory, in GB-seconds a million requests. */
const billed = ({ name, waits }: Probe, cpuMs: number): Figure => {
  const sizes = [512, 1024, wholeCoreMb].map((mb): [string, number] => {
    const ms = waits * waitMs + cpuMs / (mb / wholeCoreMb);
    return [`${mb} MB`, (mb / 1024) * ms * 1000];
  });
  const least = Math.min(...sizes.map(([, cost]) => cost));
  return counted(`${name}: billed, least`, 'GB-s a million', least, { of: Object.fromEntries(sizes) });
};

/** The processor time of so many requests one after the other, in ms each. */
const cpuEach = async (service: Service, probe: Probe, times: number): Promise<number> => {
  const before = await service.cpuMs();
  for (let i = 0; i < times; i++) await service.send(probe);
  return ((await service.cpuMs()) - before) / times;
};

/**
 * Measures a probe in turns with the unit. Whoever else uses the machine only adds to a time, so the
 * figures are made of the quickest quarters.
 *
 * @param gatewayMs what a request takes that reads nothing, which no function is billed
 */
const measureProbe = async (service: Service, probe: Probe, gatewayMs: number): Promise<Figure[]> => {
  await cpuEach(service, probe, warmUps);
  const times = Math.max(3, Math.round(roundMs / (await cpuEach(service, probe, 5))));
  const ms: number[] = [];
  const units: number[] = [];
  for (let i = 0; i < rounds; i++) {
    units.push(unitMs());
    ms.push(await cpuEach(service, probe, times));
  }
  const quick = quantile(ms, 0.25);
  const unit = quantile(units, 0.25);
  const bound = probe.atMost === undefined ? {} : { atMost: probe.atMost };
  return [
    measured(`${probe.name}: processor`, 'ms', [quick]),
    measured(probe.name, 'units', [quick / unit], bound),
    ...(probe.waits > 0 ? [billed(probe, quick - gatewayMs)] : []),
  ];
};

const run = async (context: BenchContext): Promise<Figure[]> => {
  const calls = [...repeatCalls(context.calls, callCount)];
  using service = await startService(context);
  context.progress(`  loading ${calls.length} calls`);
  await load(service, calls);
  const figures: Figure[] = [];
  for (const probe of chooseProbes(calls)) {
    context.progress(`  ${probe.name}`);
    const [me] = figures;
    figures.push(...(await measureProbe(service, probe, me?.median ?? 0)));
  }
  return figures;
};

/** How often a request is measured by the clock. */
const timesByClock = 200;

const measureByClock = async (
  { send }: Started,
  { name, path, body, clockAtMost = 0 }: Probe,
): Promise<Figure> => {
  for (let i = 0; i < warmUps; i++) await send(path, body);
  const ms: number[] = [];
  for (let i = 0; i < timesByClock; i++) {
    const began = performance.now();
    await send(path, body);
    ms.push(performance.now() - began);
  }
  return measured(name, 'ms', ms, { atMost: clockAtMost });
};

/** What a client of `npm start` waits for warm requests. */
export const clock: BenchPart = {
  name: 'clock',
  title: `Warm requests over ${callCount} calls to npm start, one after the other over HTTP, by the clock`,
  run: async ({ calls, progress }) => {
    const reported = [...repeatCalls(calls, callCount)];
    await using service = await startByNpm(1);
    progress(`  loading ${reported.length} calls`);
    await load({ send: ({ path, body }) => service.send(path, body) }, reported);
    const figures: Figure[] = [];
    for (const probe of chooseProbes(reported)) {
      if (probe.clockAtMost === undefined) continue;
      progress(`  ${probe.name}`);
      figures.push(await measureByClock(service, probe));
    }
    return figures;
  },
};

/** The processor time of warm requests. */
export const warm: BenchPart = {
  name: 'warm',
  title: `Warm requests over ${callCount} calls: processor time of gateway, authorizer and function, in units of a fixed piece of work`,
  run,
};
