import { relative } from 'node:path';
import type { TestModule } from 'vitest/node';
import { deep } from './sampling.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The worker that ran the file, and its memory by then, in MB. */
    worker?: WorkerMemory;
  }
}

interface WorkerMemory {
  /** Its number in this run. */
  readonly worker: string;
  /** The most that it has taken. */
  readonly peakMb: number;
  /** What it takes. */
  readonly residentMb: number;
  /** What its objects take, with those that are garbage unless it was collected. */
  readonly heapMb: number;
}

/**
 * The most memory that a worker may take, in MB. All of a run has to fit a laptop of 8 GB.
 * `TEST_WORKER_MB` sets another bound. A deep run has none.
 */
const boundMb = Number(process.env.TEST_WORKER_MB ?? (deep ? Number.POSITIVE_INFINITY : 2000));

/**
 * A worker that takes more memory than this after a file, without its garbage, ends, in MB; another runs the
 * files that are left. What files leave behind are mostly threads of shared services.
 */
const fullMb = Math.min(900, boundMb / 2);

const toMb = (bytes: number): number => Math.round(bytes / 1024 ** 2);

/** The most memory that this process has taken, in MB. */
export const peakMb = (): number => toMb(process.resourceUsage().maxRSS * 1024);

/** The memory of this worker. Its garbage is collected before if it is full, or if `TEST_MEMORY` says so. */
export const workerMemory = (): WorkerMemory => {
  const { TEST_WORKER: worker = '', TEST_MEMORY } = process.env;
  if (TEST_MEMORY === 'collected' || toMb(process.memoryUsage.rss()) > fullMb)
    globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' });
  const { rss, heapUsed } = process.memoryUsage();
  return { worker, peakMb: peakMb(), residentMb: toMb(rss), heapMb: toMb(heapUsed) };
};

type Measured = Pick<TestModule, 'meta' | 'moduleId'>;

/** The memory of each worker that lives, after the last file that it has run. */
const latest = new Map<string, WorkerMemory>();
/** The most memory that a run has taken after a file, with the main process, in MB. */
let mostAtOnceMb = 0;

/** Whether a worker takes so much memory that it should run no more files. */
export const isFull = (worker: string): boolean => (latest.get(worker)?.residentMb ?? 0) > fullMb;

/** A worker has ended. */
export const forgetWorker = (worker: string): void => {
  latest.delete(worker);
};

/**
 * Notes the memory of a file's worker.
 *
 * @returns what the file did to it, as a line
 */
export const noteMemory = (module: Measured): string | undefined => {
  const { worker: memory } = module.meta();
  if (!memory) return undefined;
  const { worker, peakMb, residentMb, heapMb } = memory;
  const added = peakMb - (latest.get(worker)?.peakMb ?? 0);
  latest.set(worker, memory);
  const resident = [...latest.values()].map(({ residentMb }) => residentMb);
  mostAtOnceMb = Math.max(
    mostAtOnceMb,
    resident.reduce((sum, mb) => sum + mb, toMb(process.memoryUsage.rss())),
  );
  const file = relative(process.cwd(), module.moduleId);
  return `${file}: worker ${worker} takes ${residentMb} MB, ${heapMb} of them objects; its peak grew by ${added}`;
};

/** How much memory the workers of a run took, and whether one took more than it may. */
export const workersMemory = (
  modules: Iterable<Pick<TestModule, 'meta'>>,
): { readonly text: string | undefined; readonly exceeds: boolean } => {
  const peaks = new Map<string, number>();
  for (const module of modules) {
    const { worker: memory } = module.meta();
    if (memory) peaks.set(memory.worker, Math.max(memory.peakMb, peaks.get(memory.worker) ?? 0));
  }
  if (peaks.size === 0) return { text: undefined, exceeds: false };
  const sorted = [...peaks.values()].sort((one, other) => other - one);
  const text = `Memory in MB: workers ${sorted.join(', ')}; main process ${peakMb()}; at most ${mostAtOnceMb} at once`;
  const exceeds = sorted.some((mb) => mb > boundMb);
  return {
    text: exceeds
      ? `${text}\nA worker took more than ${boundMb} MB. Find out what its files leave behind: test/README.md, Time`
      : text,
    exceeds,
  };
};
