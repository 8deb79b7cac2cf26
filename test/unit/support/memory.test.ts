import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { root } from '../../support/run/project.ts';

/** A file that passes, and a folder of several that do. */
const file = 'test/unit/foundations/wire/time.test.ts';
const folder = 'test/unit/foundations/wire/';

/** Runs one or the others. */
const run = (environment: Readonly<Record<string, string>>, path = file) => {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { status, stdout } = spawnSync(
    process.execPath,
    [vitest, 'run', '--project', 'unit', '--reporter=dot', path],
    { cwd: root, env: { ...process.env, ...environment }, encoding: 'utf8' },
  );
  return { status, output: stripVTControlCharacters(stdout) };
};

it('The end of a run says how much memory its workers took', () => {
  const { status, output } = run({ TEST_WORKER_MB: '100000' });
  expect(output).toMatch(/^Memory in MB: workers \d{2,}; main process \d{2,}; at most \d{2,} at once$/m);
  expect(status).toBe(0);
});

it('A run fails if a worker took too much memory', () => {
  const { status, output } = run({ TEST_WORKER_MB: '1' });
  expect(output).toContain('A worker took more than 1 MB.');
  expect(output).not.toContain('failed');
  expect(status).toBe(1);
});

it('A worker that takes too much memory after a file runs no other', () => {
  const { output } = run({ TEST_WORKER_MB: '1' }, folder);
  const files = readdirSync(join(root, folder)).length;
  const [, workers = ''] = /workers ([\d, ]+);/.exec(output) ?? [];
  expect(workers.split(', ')).toHaveLength(files);
});

it('A run says what each file does to memory, if it is asked to', () => {
  const { output } = run({ TEST_MEMORY: 'collected' });
  expect(output).toMatch(
    /time\.test\.ts: worker 1 takes \d+ MB, \d+ of them objects; its peak grew by \d+$/m,
  );
});
