/**
 * Runs the public conformance suite for DynamoDB's API, whose tests were recorded against AWS, and writes
 * `conformance.md`: `npm run test:conformance`, perhaps with `-- <folder>` of a clone of it.
 * Nothing of the suite is part of this package.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { startStore } from '../../src/start.ts';

const repository = 'https://github.com/nubo-db/dynamodb-conformance';
const commit = '0ba4393668860db921afa5728feffe68b55e3e93';

const root = resolve(import.meta.dirname, '../..');
/** Below this folder the suite finds the SDK and Vitest, as Node looks for packages. */
const workspace = resolve(root, '../../.local');

const git = (folder: string, ...args: string[]): void => {
  const { status } = spawnSync('git', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed`);
};

/** Copies the suite at the commit whose results are written, from a clone of it. */
const copySuite = (from: string): string => {
  mkdirSync(workspace, { recursive: true });
  const folder = mkdtempSync(join(workspace, 'conformance-'));
  git(folder, 'clone', '--quiet', from, '.');
  git(folder, 'checkout', '--quiet', commit);
  return folder;
};

type Status = 'passed' | 'failed' | 'pending' | 'skipped';

/** Vitest's report as JSON. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: Status;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

interface Result {
  /** `tier1/putItem`. */
  readonly group: string;
  readonly title: string;
  readonly passed: boolean;
  /** Why it failed; undefined if its file's preparations did. */
  readonly reason?: string;
}

const resultsIn = ({ testResults }: Report, suite: string): Result[] =>
  testResults.flatMap(({ name, assertionResults }) => {
    const group = dirname(relative(join(suite, 'tests'), name));
    return assertionResults.map(({ fullName, status, failureMessages: [reason] }) => ({
      group,
      title: fullName,
      passed: status === 'passed',
      ...(reason !== undefined && { reason }),
    }));
  });

const run = async (suite: string): Promise<Result[]> => {
  const store = await startStore();
  const report = join(suite, 'report.json');
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const { error } = spawnSync(
    process.execPath,
    [
      vitest,
      'run',
      '--config',
      join(import.meta.dirname, 'vitest.config.ts'),
      '--reporter=json',
      '--outputFile',
      report,
    ],
    {
      env: {
        ...process.env,
        CONFORMANCE_SUITE: suite,
        DYNAMODB_ENDPOINT: store.endpoint,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  await store.stop();
  if (error) throw error;
  return resultsIn(JSON.parse(readFileSync(report, 'utf8')), suite);
};

const isRefusal = ({ passed, reason }: Result): boolean =>
  !passed && (reason === undefined || reason.includes('does not support'));

const toRow = (name: string, results: readonly Result[]): string => {
  const passed = results.filter((result) => result.passed).length;
  const refused = results.filter(isRefusal).length;
  return `| ${name} | ${results.length} | ${passed} | ${refused} | ${results.length - passed - refused} |`;
};

const cell = (title: string): string => title.replaceAll('<', '&lt;').replaceAll('`', '\u2019');

const toList = (results: readonly Result[]): string =>
  results.map(({ title }) => `- ${cell(title)}`).join('\n');

const document = (results: readonly Result[]): string => {
  const groups = [...Map.groupBy(results, ({ group }) => group)].sort(([a], [b]) => (a < b ? -1 : 1));
  const failed = groups.map(([group, all]) => [group, all.filter(({ passed }) => !passed)] as const);
  return `# Conformance

\`npm run test:conformance\` has written this page. It runs the tests of
[dynamodb-conformance](${repository}/tree/${commit}) (MIT licence), which were recorded against
DynamoDB itself, against this store.

A test counts as *refused* if the store said that it does not support something, or if what the tests of its
file share could not be prepared. The tables that all tests share are made on demand, without local indexes,
without indexes that have no sort key, and without those whose keys are numbers.

| group | tests | passed | refused | otherwise |
| --- | --- | --- | --- | --- |
${groups.map(([group, all]) => toRow(group, all)).join('\n')}
${toRow('all', results)}

## What fails

${failed
  .filter(([, tests]) => tests.length > 0)
  .map(([group, tests]) => `### ${group}\n\n${toList(tests)}\n`)
  .join('\n')}`;
};

const [clone] = process.argv.slice(2);
const suite = copySuite(clone === undefined ? repository : resolve(process.env.INIT_CWD ?? '.', clone));
try {
  writeFileSync(join(root, 'conformance.md'), document(await run(suite)));
} finally {
  rmSync(suite, { recursive: true, force: true });
}
