/**
 * `npm start`: runs the service on this machine until a signal ends it. Settings come from the
 * environment.
 */

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { endCompiler } from 'aws-stand-in/thread-code';
import { claudeCode } from '../api/shared/connect.ts';
import { SettingsError } from '../lib/config.ts';
import { withOwnCommands } from '../lib/packaged.ts';
import { SynthesisFailed } from './assembly.ts';
import { runDemo } from './demo.ts';
import { collectWhenIdle } from './memory.ts';
import { type LocalOpenId, localAdmin, localReader } from './open-id.ts';
import { isRequestLog, type LocalService, startLocalService, writeRunFile } from './service.ts';
import { BadSetting, type LocalSettings, readLocalSettings } from './settings.ts';

/** Seconds since the process started. */
const elapsed = (): string => `${(performance.now() / 1000).toFixed(1).padStart(5)} s`;

const progress = (line: string): void => console.log(`${elapsed()}  ${line}`);

/**
 * Terminal, npm and a supervisor may each forward one signal. A later one is a second request to
 * end, in ms.
 */
const sameSignalMs = 1000;

/** How often to look whether npm's shell is still there, in ms. */
const shellCheckMs = 500;

/** Calls back when the shell is gone in which npm runs its scripts: it ends at a signal, and keeps it to itself. */
const onShellEnd = (callback: () => void): void => {
  if (process.env.npm_lifecycle_event === undefined) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    callback();
  }, shellCheckMs);
  timer.unref();
};

/** Aborts at the first signal, or at the end of npm's shell. A second signal ends the process at once. */
const terminationSignal = (): AbortSignal => {
  const ending = new AbortController();
  let firstAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (firstAt !== undefined && performance.now() - firstAt > sameSignalMs) process.exit(1);
      firstAt ??= performance.now();
      ending.abort();
    });
  }
  onShellEnd(() => ending.abort());
  return ending.signal;
};

const start = (settings: LocalSettings, signal: AbortSignal): Promise<LocalService> => {
  const { verbose, demo: _demo, ...options } = settings;
  return startLocalService({
    ...options,
    signal,
    progress,
    log: (source, line) => {
      if (verbose || !isRequestLog(line)) console.error(`${source}: ${line}`);
    },
  });
};

/** Prints what somebody needs who wants to use it. A key that the operator set is not shown. */
const printUsage = (
  { url, key, keyFile, signInUrl, openId }: LocalService,
  { key: configured, dataDir, dynamodb }: LocalSettings,
): void => {
  const shown = configured === undefined ? key : '$LOCAL_KEY';
  if (configured === undefined)
    console.log(`\nkey (${keyFile === undefined ? 'shown once' : `stored in ${keyFile}`}): ${key}`);
  console.log(`
open ${url}/ui/
${signInUrl === undefined ? '' : `  or, signed in (once, within an hour): ${signInUrl}\n`}${openId ? describePeople(openId) : ''}
Try it:
  curl ${url}/calls/stream_query -u "api:${shown}" \\
    -H 'content-type: application/json' -d '{"project_id": "demo/shop"}'

Claude Code reads traces by:
  ${claudeCode(url).replace('$KEY', shown)}

${whereDataAre(dataDir, dynamodb)} Ctrl-C ends the service.
`);
};

/** Says who can sign in at the provider that was started. */
const describePeople = ({ password }: LocalOpenId): string =>
  `  or sign in there as ${localAdmin} (who may do everything) or ${localReader} (who may read everything), password ${password}\n`;

/** Says where the data are, and how to keep them if they are not kept. */
const whereDataAre = (dataDir: string | undefined, dynamodb: string | undefined): string => {
  if (dataDir !== undefined) return `Data are kept in ${dataDir}.`;
  if (dynamodb !== undefined) return `Data are in the store at ${dynamodb}.`;
  return withOwnCommands('Data are in memory and gone at the end: DATA_DIR=./data npm start keeps them.');
};

const operatorErrors = [BadSetting, SettingsError, SynthesisFailed];

const isForOperator = (error: unknown): error is Error =>
  operatorErrors.some((type) => error instanceof type);

/** How long no event may have come for the last of them to be there, in ms, and how long that is waited for. */
const quietMs = 2500;
const maxQuietMs = 20_000;

/** Runs the examples, which print much, and says once more what they have scrolled away. */
const demonstrate = async (
  service: LocalService,
  settings: LocalSettings,
  termination: AbortSignal,
): Promise<void> => {
  let heardAt = performance.now();
  service.bus.subscribe(() => {
    heardAt = performance.now();
  });
  await runDemo(service, termination);
  const until = performance.now() + maxQuietMs;
  const isQuiet = () => !settings.settings.events || performance.now() - heardAt > quietMs;
  while (!isQuiet() && performance.now() < until && !termination.aborted) await sleep(100);
  if (!termination.aborted) printUsage(service, settings);
};

const serve = async (
  service: LocalService,
  settings: LocalSettings,
  termination: AbortSignal,
): Promise<void> => {
  const removeRunFile = await writeRunFile(service);
  try {
    console.log(`ready ${service.url}`);
    printUsage(service, settings);
    service.bus.subscribe((event) =>
      console.log(`event: ${event['detail-type']} ${JSON.stringify(event.detail)}`),
    );
    service.bus.subscribeToTopic(({ subject, text }) => console.log(`alert: ${subject}\n${text}`));
    const demo = settings.demo ? demonstrate(service, settings, termination) : undefined;
    if (!termination.aborted) await once(termination, 'abort');
    progress('ending');
    await demo;
  } finally {
    await removeRunFile();
  }
};

const main = async (termination: AbortSignal): Promise<void> => {
  const settings = readLocalSettings(process.env);
  progress('starting stores, a model and the stack');
  const service = await start(settings, termination);
  // Nothing that follows is built in this process.
  await endCompiler();
  const end = collectWhenIdle();
  try {
    await serve(service, settings, termination);
  } finally {
    end();
    await service.stop();
  }
};

const [argument] = process.argv.slice(2);
if (argument === '--help' || argument === '-h') {
  console.log(
    withOwnCommands(
      'Run the service on this machine: npm start. Settings are environment variables: docs/local.md',
    ),
  );
  process.exit(0);
}
if (argument !== undefined) {
  console.error(
    withOwnCommands(`start: ${argument}: this command takes no arguments\nSee npm run start -- --help`),
  );
  process.exit(2);
}
// What this process and those below it write is for this user alone: data, keys, credentials.
process.umask(0o077);
// The flag of `npm start` is for this thread. It would go before the limits of those that follow.
setFlagsFromString('--max-semi-space-size=0');
const termination = terminationSignal();
try {
  await main(termination);
} catch (error) {
  // A start that was cancelled has cleaned up by now.
  if (error !== termination.reason) {
    console.error(isForOperator(error) ? error.message : error);
    process.exit(1);
  }
}
progress('ended');
process.exit(0);
