/**
 * Counts the figures of `figures.json` anew, writes them there, and says what has changed: `npm run
 * bench:guard`.
 */
import { openBench } from './harness/bench.ts';
import { differences, readKept, toKept, writeKept } from './harness/guard.ts';
import { countKept } from './harness/kept.ts';

await using bench = await openBench();
const before = readKept();
const now = toKept(await countKept(bench));
writeKept(now);
console.log(differences(before, now).join('\n') || 'Nothing has changed.');
