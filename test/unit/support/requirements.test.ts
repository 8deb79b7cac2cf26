import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { launchOptions, NoBrowser } from '../../../bench/harness/browser.ts';
import { root } from '../../support/run/project.ts';
import { type Requirement, requires } from '../../support/run/requirements.ts';

const folder = mkdtempSync(join(tmpdir(), 'pennytrace-bare-'));
symlinkSync(process.execPath, join(folder, 'node'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

it('What a machine lacks skips the tests that need it, and the end of the run says so', async () => {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const file = 'test/unit/api/openapi/document.test.ts';
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [vitest, 'run', '--project', 'unit', '--reporter=dot', file, '-t', 'has no anyOf in operators'],
    { cwd: root, env: { PATH: folder } },
  );
  const output = stripVTControlCharacters(stdout);
  expect(output).toContain('Skipped, because this machine lacks something: 1 for jq\n');
  expect(output).not.toContain('failed');
});

it('What a machine has is not skipped', () => {
  const needed: Requirement = 'Linux on x64';
  const isThere = process.platform === 'linux' && process.arch === 'x64';
  expect(requires(needed)).toEqual(isThere ? {} : { skip: true, meta: { lacks: needed } });
});

it('A system for which there is no browser has none, rather than one that fails', async () => {
  vi.stubEnv('CHROME_PATH', '');
  const { platform } = process;
  Object.defineProperty(process, 'platform', { value: 'aix' });
  try {
    await expect(launchOptions()).rejects.toThrow(NoBrowser);
    await expect(launchOptions()).rejects.toThrow('there is no browser: install Chrome, or set CHROME_PATH');
  } finally {
    Object.defineProperty(process, 'platform', { value: platform });
  }
});
