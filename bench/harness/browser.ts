import { existsSync } from 'node:fs';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

/** Where Chrome and Chromium are installed, by platform. */
const installed: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ['/usr/bin/google-chrome', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/snap/bin/chromium'],
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  win32: ['C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'],
};

/**
 * Chromium from npm: there is one for Linux on x64 alone. Of its arguments, which are made for
 * functions, only those are taken that a container needs. One process for all ends with its first
 * page.
 */
const fromNpm = async (): Promise<LaunchOptions> => {
  const { default: packed } = await import('@sparticuz/chromium');
  return {
    executablePath: await packed.executablePath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--hide-scrollbars'],
  };
};

/**
 * How to start a browser: `CHROME_PATH`, Chromium from npm, or an installed Chrome. Chromium from
 * npm is unpacked first, which two processes must not do at once.
 *
 * @throws Error that says what to install or set, if there is none
 */
export const launchOptions = async (): Promise<LaunchOptions> => {
  const { CHROME_PATH } = process.env;
  if (CHROME_PATH) return { executablePath: CHROME_PATH };
  if (process.platform === 'linux' && process.arch === 'x64') return fromNpm();
  const found = installed[process.platform]?.find((path) => existsSync(path));
  if (found) return { executablePath: found };
  throw new Error(
    'the page is tested, measured and pictured in a browser: install Chrome, or set CHROME_PATH to one',
  );
};

/**
 * Starts a headless browser for this process.
 *
 * @param options how. @default - as {@link launchOptions} finds
 */
export const launchBrowser = async (options?: LaunchOptions): Promise<Browser> =>
  chromium.launch({ ...(options ?? (await launchOptions())), headless: true });
