/**
 * Compares the calls of the generator in examples/ with those of a file, by what decides their
 * costs.
 *
 *     npm run bench:generator -- calls.jsonl     # one {"start": …, "end": …} per line
 */
import { UsageError } from '../../bin/common/usage-error.ts';
import { generatedCalls, readCalls } from '../harness/calls.ts';
import { rounded } from '../harness/figures.ts';
import { profileOf } from '../harness/profile.ts';

const conversations = 100;

/** Prints the profile of the generator's calls, beside a file's if one is given. */
const compare = (file: string | undefined): void => {
  const fileProfile = file === undefined ? {} : profileOf(readCalls(file));
  const profile = profileOf(generatedCalls(conversations));
  const rows = Object.entries(profile).map(([name, value]) => {
    const other = fileProfile[name];
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
