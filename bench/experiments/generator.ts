/**
 * Prints how calls of the generator in examples/ compare with those of a file: what decides their
 * cost, side by side.
 *
 *     npm run bench:generator -- calls.jsonl     # one {"start": …, "end": …} a line
 */
import { UsageError } from '../../bin/shared/usage-error.ts';
import { generatedCalls, readCalls } from '../harness/calls.ts';
import { rounded } from '../harness/figures.ts';
import { profileOf } from '../harness/profile.ts';

const conversations = 100;

/** What the generator's calls are like, beside those of a file, if there is one. */
const compare = (file: string | undefined): void => {
  const given = file === undefined ? {} : profileOf(readCalls(file));
  const made = profileOf(generatedCalls(conversations));
  const rows = Object.entries(made).map(([name, value]) => {
    const other = given[name];
    if (other === undefined) return [name, { generator: rounded(value) }] as const;
    const difference = `${(100 * (value / other - 1)).toFixed(0)} %`;
    return [name, { generator: rounded(value), file: rounded(other), difference }] as const;
  });
  console.table(Object.fromEntries(rows));
};

try {
  compare(process.argv[2]);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`bench:generator: ${error.message}`);
  process.exitCode = 2;
}
