/**
 * `npm run audit`: asks the registry what is known of the dependencies. See docs/dependencies.md.
 */
import { spawnSync } from 'node:child_process';
import { judgeAdvisories, judgeSignatures, type Verdict } from './audit/verdict.ts';

/** A registry that does not answer shall not hold a change up for long. */
const patienceMs = 120_000;

/** What npm writes; its status says no more than that does. */
const npm = (...args: string[]): string =>
  spawnSync('npm', [...args, '--json', '--fetch-retries=1', '--fetch-timeout=30000'], {
    encoding: 'utf8',
    timeout: patienceMs,
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  }).stdout ?? '';

const verdicts: readonly Verdict[] = [
  judgeAdvisories(npm('audit', '--omit=dev')),
  judgeSignatures(npm('audit', 'signatures')),
];
for (const line of verdicts.flatMap(({ lines }) => lines)) console.log(`audit: ${line}`);
process.exitCode = verdicts.every(({ passes }) => passes) ? 0 : 1;
