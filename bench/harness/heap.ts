import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const inUse = (): number => {
  collectGarbage();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
};

/** Between two looks at the memory, which stop everything else. */
const batchesBetweenLooks = 25;

/**
 * The most memory in use while something is taken whole, garbage collected first, beyond what was
 * in use before; in MB.
 */
export const heapMegabytes = async (batches: AsyncIterable<readonly unknown[]>): Promise<number> => {
  const before = inUse();
  let most = 0;
  let seen = 0;
  for await (const batch of batches) {
    if (batch.length === 0 || seen++ % batchesBetweenLooks !== 0) continue;
    most = Math.max(most, inUse() - before);
  }
  return most / 1e6;
};
