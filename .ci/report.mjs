// What Vitest's JSON reports of whole runs say, with those of the second try of what failed. Usage:
//   node .ci/report.mjs files <report>      the files in which something failed, a line each
//   node .ci/report.mjs summary <folder> <run>…   what was flaky, what failed, and how much passed
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const read = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined);
const fileOf = ({ name }) => relative(process.cwd(), name);

/** What failed in a file: its tests, or all of it if it did not come to them. */
const failuresOf = (file) => {
  const tests = file.assertionResults.filter(({ status }) => status === 'failed');
  if (tests.length > 0) return tests.map(({ fullName }) => `${fileOf(file)} > ${fullName}`);
  return file.status === 'failed' ? [`${fileOf(file)}: ${file.message}`] : [];
};

const failures = (report) => report?.testResults.flatMap(failuresOf) ?? [];

/** What failed again: in a file that was tried again, and still fails, what the second try says. */
const summary = (folder, run) => {
  const [first, again] = [join(folder, `${run}.json`), join(folder, `${run}.again.json`)].map(read);
  if (!first) return [`failed: ${run} ended without a report`];
  const stillFailed = again ? failures(again) : failures(first);
  const flaky = failures(first).filter((name) => !stillFailed.includes(name));
  return [
    ...flaky.map((name) => `flaky: ${run}: ${name}`),
    ...stillFailed.map((name) => `failed: ${run}: ${name}`),
    `${run}: ${first.numPassedTests} passed, ${first.numFailedTests} failed at first, ${stillFailed.length} failed again`,
  ];
};

const [task, ...given] = process.argv.slice(2);
if (task === 'files') {
  const broken = read(given[0])?.testResults.filter((file) => failuresOf(file).length > 0) ?? [];
  for (const file of broken) console.log(fileOf(file));
} else {
  const [folder, ...runs] = given;
  for (const run of runs) for (const line of summary(folder, run)) console.log(line);
}
