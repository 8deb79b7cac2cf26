/**
 * `npm run audit`: asks the registry for advisories and signatures of the dependencies. See
 * docs/dependencies.md.
 */
import { spawnSync } from 'node:child_process';
import { judgeAdvisories, judgeSignatures, type Verdict } from './audit/verdict.ts';
import { takeNoArguments } from './common/no-arguments.ts';

takeNoArguments('audit', 'Ask the registry for advisories and signatures: npm run audit');

/** The longest that a registry without an answer may hold up a change, in ms. */
const timeoutMs = 120_000;

/** The JSON that npm prints. Its exit status says nothing more. */
const npm = (...args: string[]): string =>
  spawnSync('npm', [...args, '--json', '--fetch-retries=1', '--fetch-timeout=30000'], {
    encoding: 'utf8',
    timeout: timeoutMs,
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  }).stdout ?? '';

const verdicts: readonly Verdict[] = [
  judgeAdvisories(npm('audit', '--omit=dev', '--omit=peer')),
  judgeSignatures(npm('audit', 'signatures')),
];
for (const line of verdicts.flatMap(({ lines }) => lines)) console.log(`audit: ${line}`);
process.exitCode = verdicts.every(({ passes }) => passes) ? 0 : 1;
