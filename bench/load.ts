/**
 * `npm run load -- --seconds 60 --clients 8`: puts the local service under load. It prints
 * latencies by route, and memory and sockets of the service's process. Functions are threads of
 * that process, so their memory and connections are included. DynamoDB Local is counted apart.
 * `--after 90` goes on measuring for so many seconds once the load has ended.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startLocalService } from '../local/service.ts';
import type { RouteReport } from './load-clients.ts';

/** The memory that a process and what it started hold, in MB (10⁶ bytes); 0 if it is not known. */
interface ProcessMemory {
  /** This process, with all of its threads. */
  readonly service: number;
  /** The Java processes below it: DynamoDB Local. */
  readonly java: number;
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const residentMb = (pid: number): number => {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return Math.round((Number(kilobytes) * 1024) / 1e6);
};

/** The processes that a process started, and those that they did. */
const below = (pid: number): number[] => {
  const threads = (() => {
    try {
      return readdirSync(`/proc/${pid}/task`);
    } catch {
      return [];
    }
  })();
  const children = threads.flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return [...children, ...children.flatMap(below)];
};

/** Reads it from `/proc`, which only Linux has. */
const processMemory = (): ProcessMemory => {
  const javas = below(process.pid).filter((pid) => read(`/proc/${pid}/comm`).startsWith('java'));
  return {
    service: Math.round(process.memoryUsage.rss() / 1e6),
    java: javas.reduce((sum, pid) => sum + residentMb(pid), 0),
  };
};

const usage =
  'npm run load -- [--seconds 1 to 3600, default 60] [--clients 1 to 256, default 8] [--after 0 to 3600, default 0]';

/** Ends the command because of wrong usage. */
const refuse = (reason: string): never => {
  console.error(`load: ${reason}\n${usage}`);
  process.exit(2);
};

const parsedArgs = () => {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h' },
        seconds: { type: 'string', default: '60' },
        clients: { type: 'string', default: '8' },
        after: { type: 'string', default: '0' },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
};
const values = parsedArgs();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const bounded = (name: 'seconds' | 'clients' | 'after', min: number, max: number): number => {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  return refuse(`--${name} ${values[name]}: should be a whole number from ${min} to ${max}`);
};
const [seconds, clients] = [bounded('seconds', 1, 3600), bounded('clients', 1, 256)];
const after = bounded('after', 0, 3600);

/** The state of the service's process. Sockets are -1 if the system does not list them. */
interface Sample extends ProcessMemory {
  readonly second: number;
  readonly workers: number;
  readonly sockets: number;
}

const openSockets = (): number => {
  try {
    return readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
      } catch {
        return false;
      }
    }).length;
  } catch {
    return -1;
  }
};

const startedAt = performance.now();
const sample = (): Sample => ({
  second: (performance.now() - startedAt) / 1000,
  ...processMemory(),
  workers: process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length,
  sockets: openSockets(),
});

/**
 * The growth of memory in MB a minute, by least squares over the second half. In the first, workers
 * start and warm up.
 */
const slope = (samples: readonly Sample[]): number => {
  const half = samples.slice(Math.floor(samples.length / 2));
  const mean = (of: (one: Sample) => number) => half.reduce((sum, one) => sum + of(one), 0) / half.length;
  const [x, y] = [mean(({ second }) => second), mean(({ service }) => service)];
  const covariance = mean(({ second, service }) => (second - x) * (service - y));
  return (covariance / mean(({ second }) => (second - x) ** 2)) * 60;
};

const underLoad = async (
  url: string,
  key: string,
): Promise<{ reports: RouteReport[]; samples: Sample[] }> => {
  const child = fork(new URL('./load-clients.ts', import.meta.url), {
    env: { ...process.env, URL: url, KEY: key, SECONDS: String(seconds), CLIENTS: String(clients) },
  });
  const samples: Sample[] = [];
  const timer = setInterval(() => samples.push(sample()), 1000);
  const [reports] = (await once(child, 'message')) as [RouteReport[]];
  clearInterval(timer);
  return { reports, samples };
};

/** Prints a dozen of the samples, and the most memory that any has, Java included. */
const show = (samples: readonly Sample[]): void => {
  const shown = samples.filter((_, i) => i % Math.max(1, Math.floor(samples.length / 12)) === 0);
  console.table(shown.map((one) => ({ ...one, second: Math.round(one.second) })));
  const most = Math.max(...samples.map(({ service, java }) => service + java));
  console.log(`at most ${most} MB, DynamoDB Local included`);
};

const afterLoad = async (): Promise<Sample[]> => {
  const samples: Sample[] = [];
  for (let second = 0; second < after; second++) {
    await sleep(1000);
    samples.push(sample());
  }
  return samples;
};

const service = await startLocalService({ settings: { throttleRate: 10_000, throttleBurst: 5000 } });
try {
  const { reports, samples } = await underLoad(service.url, service.key);
  const requests = reports.reduce((sum, report) => sum + report.requests, 0);
  console.table(reports);
  console.log(`${Math.round(requests / seconds)} requests a second of ${clients} clients, for ${seconds} s`);
  show(samples);
  console.log(`memory of the service grows by ${slope(samples).toFixed(1)} MB a minute in the second half`);
  // By then the connections of clients are closed; those to the stores stay open.
  await sleep(1000);
  console.log(`sockets a second after the last request: ${openSockets()}`);
  if (after > 0) show(await afterLoad());
  console.log(
    `resources: ${JSON.stringify(
      Object.groupBy(process.getActiveResourcesInfo(), (name) => name),
      (_, value) => (Array.isArray(value) ? value.length : value),
    )}`,
  );
  process.exitCode = reports.some(({ failed }) => failed > 0) ? 1 : 0;
} finally {
  await service.stop();
}
