import type { TestModule } from 'vitest/node';
import { deep } from './sampling.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The worker that ran the file, and the most memory that it had taken by then, in MB. */
    worker?: { readonly pid: number; readonly peakMb: number };
  }
}

/**
 * The most memory that a worker may take, in MB. All of a run has to fit a laptop of 8 GB.
 * `TEST_WORKER_MB` sets another bound. A deep run has none.
 */
const boundMb = Number(process.env.TEST_WORKER_MB ?? (deep ? Number.POSITIVE_INFINITY : 4000));

/** The most memory that this process has taken, in MB. */
export const peakMb = (): number => Math.round(process.resourceUsage().maxRSS / 1024);

/** How much memory the workers of a run took, and whether one took more than it may. */
export const workersMemory = (
  modules: Iterable<Pick<TestModule, 'meta'>>,
): { readonly text: string | undefined; readonly exceeds: boolean } => {
  const peaks = new Map<number, number>();
  for (const module of modules) {
    const { worker } = module.meta();
    if (worker) peaks.set(worker.pid, Math.max(worker.peakMb, peaks.get(worker.pid) ?? 0));
  }
  if (peaks.size === 0) return { text: undefined, exceeds: false };
  const sorted = [...peaks.values()].sort((one, other) => other - one);
  const text = `Memory in MB: workers ${sorted.join(', ')}; main process ${peakMb()}`;
  const exceeds = sorted.some((mb) => mb > boundMb);
  return {
    text: exceeds
      ? `${text}\nA worker took more than ${boundMb} MB. Find out what its files leave behind: test/README.md, Time`
      : text,
    exceeds,
  };
};
