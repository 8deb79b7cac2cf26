/**
 * `npm run bench:guard`: counts the figures of `figures.json` anew, prints those that differ by more
 * than their tolerance, and writes these.
 */
import { takeNoArguments } from '../bin/common.ts';
import { countRecorded, differences, readRecorded, toRecorded, updated, writeRecorded } from './guard.ts';
import { openBench } from './harness/bench.ts';

takeNoArguments('bench:guard', 'Count the figures of bench/figures.json anew: npm run bench:guard');

await using bench = await openBench();
const before = readRecorded();
const now = toRecorded(await countRecorded(bench));
const changes = differences(before, now);
if (changes.length > 0) writeRecorded(updated(before, now));
console.log(changes.join('\n') || 'Nothing has changed.');
