import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { launchBrowser, launchOptions } from '../../bench/harness/browser.ts';
import { requires } from '../support/run/requirements.ts';

/* How the browser of the tests starts on machines that lack something. */

const folder = mkdtempSync(join(tmpdir(), 'pennytrace-launch-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

describe('Chromium from npm', () => {
  const ofSystem = ['libnss3.so', 'libnssutil3.so', 'libnspr4.so', 'libexpat.so.1'];

  it(
    'takes the libraries of its package if those of the system do not load',
    requires('Linux on x64'),
    async () => {
      vi.stubEnv('CHROME_PATH', '');
      // What is found first is what counts.
      for (const name of ofSystem) writeFileSync(join(folder, name), '');
      vi.stubEnv('LD_LIBRARY_PATH', folder);
      const browser = await launchBrowser();
      expect(browser.isConnected()).toBe(true);
      await browser.close();
    },
  );
});

describe('a browser that does not start', () => {
  it('is named, with what it said and what to do', async () => {
    const program = join(folder, 'chrome');
    writeFileSync(program, '#!/bin/sh\necho "libnss3.so: cannot open shared object file" >&2\nexit 127\n', {
      mode: 0o755,
    });
    vi.stubEnv('CHROME_PATH', program);
    const started = launchOptions().then(launchBrowser);
    await expect(started).rejects.toThrow(
      /chrome does not start: .*libnss3\.so: cannot open.*\n.*install Chrome, or set CHROME_PATH to one\.$/,
    );
  });
});
