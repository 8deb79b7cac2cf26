/**
 * `npm run bench:guard`: counts the figures of `figures.json`, writes them there and prints the
 * changes.
 */
import { openBench } from './harness/bench.ts';
import { differences, readRecorded, toRecorded, writeRecorded } from './harness/guard.ts';
import { countRecorded } from './recorded.ts';

await using bench = await openBench();
const before = readRecorded();
const now = toRecorded(await countRecorded(bench));
writeRecorded(now);
console.log(differences(before, now).join('\n') || 'Nothing has changed.');
