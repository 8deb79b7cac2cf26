import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const inUse = (): number => {
  collectGarbage();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
};

/** Batches between two memory samples, each of which stops everything else. */
const batchesPerSample = 25;

/**
 * The most memory in use while an iterable is read, beyond what was in use before, in MB. Garbage
 * is collected before each sample.
 */
export const heapMegabytes = async (batches: AsyncIterable<readonly unknown[]>): Promise<number> => {
  const before = inUse();
  let peak = 0;
  let seen = 0;
  for await (const batch of batches) {
    if (batch.length === 0 || seen++ % batchesPerSample !== 0) continue;
    peak = Math.max(peak, inUse() - before);
  }
  return peak / 1e6;
};
