/**
 * `npm start`: runs the service on this machine until it is told to end. Settings come from the
 * environment.
 */

import { once } from 'node:events';
import { SettingsError } from '../lib/config.ts';
import { runDemo } from './demo.ts';
import { PortTaken } from './gateway/server.ts';
import { BadSetting } from './key.ts';
import { isRequestLog } from './log.ts';
import { writeRunFile } from './run-file.ts';
import { type LocalService, startLocalService } from './service.ts';
import { readSettings, type Settings } from './settings.ts';
import { MissingPrerequisite } from './stores/dynamodb.ts';
import { SynthesisFailed } from './synthesize.ts';

/** Seconds since the process was started. */
const elapsed = (): string => `${(performance.now() / 1000).toFixed(1).padStart(5)} s`;

const progress = (line: string): void => console.log(`${elapsed()}  ${line}`);

/**
 * A terminal, npm and a supervisor may each pass the same signal on; later than this one, it is a
 * second one.
 */
const sameSignalMs = 1000;

/** Aborts at the first signal to end; at a second one the process ends at once. */
const untilTold = (): AbortSignal => {
  const ending = new AbortController();
  let told: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (told !== undefined && performance.now() - told > sameSignalMs) process.exit(1);
      told ??= performance.now();
      ending.abort();
    });
  }
  return ending.signal;
};

const start = (settings: Settings, signal: AbortSignal): Promise<LocalService> => {
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

/** What to do with a service that is ready; a key that the operator gave is not shown. */
const introduce = ({ url, key, keyFile }: LocalService, given: boolean): void => {
  if (!given) console.log(`\nkey (${keyFile === undefined ? 'shown once' : `kept in ${keyFile}`}): ${key}`);
  console.log(`
Try it:
  curl ${url}/calls/stream_query -u "api:${given ? '$LOCAL_KEY' : key}" \\
    -H 'content-type: application/json' -d '{"project_id": "demo/shop"}'
`);
};

const operatorErrors = [BadSetting, MissingPrerequisite, PortTaken, SettingsError, SynthesisFailed];

const isForOperator = (error: unknown): error is Error =>
  operatorErrors.some((type) => error instanceof type);

/** Lets the service be used until told to end. */
const serve = async (service: LocalService, settings: Settings, told: AbortSignal): Promise<void> => {
  const removeRunFile = await writeRunFile(service);
  try {
    console.log(`ready ${service.url}`);
    introduce(service, settings.key !== undefined);
    const demo = settings.demo ? runDemo(service, told) : undefined;
    if (!told.aborted) await once(told, 'abort');
    progress('ending');
    await demo;
  } finally {
    await removeRunFile();
  }
};

const main = async (told: AbortSignal): Promise<void> => {
  const settings = readSettings(process.env);
  const service = await start(settings, told);
  try {
    await serve(service, settings, told);
  } finally {
    await service.stop();
  }
};

const told = untilTold();
try {
  await main(told);
} catch (error) {
  // Told to end while it was starting, it has ended what it had begun.
  if (error !== told.reason) {
    console.error(isForOperator(error) ? error.message : error);
    process.exit(1);
  }
}
progress('ended');
process.exit(0);
