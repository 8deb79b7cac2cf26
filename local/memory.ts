import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often to look whether there is something to do, in ms. */
const lookMs = 2000;
/** A process that uses less of a core than this is idle. */
const idleShare = 0.1;
/** Less new memory than this is not worth a collection, which takes some 50 ms. */
const collectedBytes = 4 * 1024 * 1024;

const usedBytes = (): number => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/**
 * Has this process collect its garbage whenever it has nothing to do. V8 collects it when it needs room, so
 * a service that rests would keep what its start and its requests have left. Its workers do so themselves.
 *
 * @returns ends it
 */
export const collectWhenIdle = (): (() => void) => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: NonNullable<typeof gc> = runInNewContext('gc');
  let kept = 0;
  let before = process.cpuUsage();
  const look = () => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const share = (user + system) / 1000 / lookMs;
    if (share > idleShare || usedBytes() < kept + collectedBytes) return;
    collectGarbage({ type: 'major', flavor: 'last-resort', execution: 'sync' });
    kept = usedBytes();
  };
  const timer = setInterval(look, lookMs).unref();
  return () => clearInterval(timer);
};
