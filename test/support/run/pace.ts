import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** In milliseconds, how long a quiet machine takes for the same. */
const quiet = { cpu: 100, disk: 50 };

/** Of several times that something takes, in milliseconds, the one in the middle. */
const measure = (work: () => void): number => {
  const times = [1, 2, 3].map(() => {
    const begun = performance.now();
    work();
    return performance.now() - begun;
  });
  return times.toSorted((a, b) => a - b)[1] ?? 0;
};

const compute = (): void => {
  let value = 1;
  for (let i = 0; i < 20_000_000; i += 1) value = (value * 1_103_515_245 + i) | 0;
  if (value === 0.5) throw new Error('integers are whole');
};

const store = (): void => {
  const folder = mkdtempSync(join(tmpdir(), 'pennytrace-pace-'));
  const file = openSync(join(folder, 'file'), 'w');
  const bytes = Buffer.alloc(1_000_000);
  for (let i = 0; i < 4; i += 1) {
    writeSync(file, bytes);
    fsyncSync(file);
  }
  closeSync(file);
  rmSync(folder, { recursive: true });
};

// The configuration measures, once in a run. Workers have its environment.
process.env.TEST_PACE ??= Math.max(1, measure(compute) / quiet.cpu, measure(store) / quiet.disk).toFixed(1);

/** How much longer than a quiet machine this one takes, at least 1. `TEST_PACE=4` says it beforehand. */
export const pace = Number(process.env.TEST_PACE);

/** A time that is enough on a quiet machine, in milliseconds, as it is on this one. */
export const paced = (ms: number): number => Math.ceil(ms * pace);

/** How long to wait for a condition, in milliseconds: much longer than it takes. */
export const patienceMs = paced(60_000);
