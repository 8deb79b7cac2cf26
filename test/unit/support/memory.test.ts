import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { root } from '../../support/run/project.ts';

/** Runs a file that passes. */
const run = (environment: Readonly<Record<string, string>>) => {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const file = 'test/unit/foundations/wire/time.test.ts';
  const { status, stdout } = spawnSync(
    process.execPath,
    [vitest, 'run', '--project', 'unit', '--reporter=dot', file],
    { cwd: root, env: { ...process.env, ...environment }, encoding: 'utf8' },
  );
  return { status, output: stripVTControlCharacters(stdout) };
};

it('The end of a run says how much memory its workers took', () => {
  const { status, output } = run({ TEST_WORKER_MB: '100000' });
  expect(output).toMatch(/^Memory in MB: workers \d{2,}; main process \d{2,}$/m);
  expect(status).toBe(0);
});

it('A run fails if a worker took too much memory', () => {
  const { status, output } = run({ TEST_WORKER_MB: '1' });
  expect(output).toContain('A worker took more than 1 MB.');
  expect(output).not.toContain('failed');
  expect(status).toBe(1);
});
