/**
 * `npm run bench:guard`: counts the figures of `figures.json`, prints the changes, and writes them
 * there if there are any.
 */
import { takeNoArguments } from '../bin/common/no-arguments.ts';
import { openBench } from './harness/bench.ts';
import { differences, readRecorded, toRecorded, writeRecorded } from './harness/guard.ts';
import { countRecorded } from './recorded.ts';

takeNoArguments('bench:guard', 'Count the figures of bench/figures.json anew: npm run bench:guard');

await using bench = await openBench();
const before = readRecorded();
const now = toRecorded(await countRecorded(bench));
const changes = differences(before, now);
if (changes.length > 0) writeRecorded(now);
console.log(changes.join('\n') || 'Nothing has changed.');
