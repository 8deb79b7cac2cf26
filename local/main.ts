/** `npm start`: runs the service on this machine until it is told to end. Settings come from the environment. */

import { runDemo } from './demo.ts';
import { MissingPrerequisite } from './dynamodb.ts';
import { PortTaken } from './gateway/server.ts';
import { BadSetting } from './key.ts';
import { isRequestLog } from './log.ts';
import { writeRunFile } from './run-file.ts';
import { type LocalService, startLocalService } from './service.ts';
import { readSettings, type Settings } from './settings.ts';

/** Seconds since the process was started. */
const elapsed = (): string => `${(performance.now() / 1000).toFixed(1).padStart(5)} s`;

const progress = (line: string): void => console.log(`${elapsed()}  ${line}`);

/** A terminal, npm and a supervisor may each pass the same signal on; later than this one, it is a second one. */
const sameSignalMs = 1000;

/** Resolves at the first signal to end; at a second one the process ends at once. */
const untilTold = (): Promise<void> =>
  new Promise((resolve) => {
    let told: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (told !== undefined && performance.now() - told > sameSignalMs) process.exit(1);
        told ??= performance.now();
        resolve();
      });
    }
  });

const start = (settings: Settings): Promise<LocalService> => {
  const { verbose, demo: _demo, ...options } = settings;
  return startLocalService({
    ...options,
    progress,
    log: (source, line) => {
      if (verbose || !isRequestLog(line)) console.error(`${source}: ${line}`);
    },
  });
};

/** What to do with a service that is ready; a key that the operator gave is not shown. */
const introduce = ({ url, key }: LocalService, given: boolean): void => {
  if (!given) console.log(`\nkey (shown once): ${key}`);
  console.log(`
Try it:
  curl ${url}/calls/stream_query -u "api:${given ? '$LOCAL_KEY' : key}" \\
    -H 'content-type: application/json' -d '{"project_id": "demo/shop"}'
`);
};

const isForOperator = (error: unknown): error is Error =>
  error instanceof BadSetting || error instanceof MissingPrerequisite || error instanceof PortTaken;

/** Lets the service be used until told to end. */
const serve = async (service: LocalService, settings: Settings, told: Promise<void>): Promise<void> => {
  const removeRunFile = await writeRunFile(service);
  const ending = new AbortController();
  try {
    console.log(`ready ${service.url}`);
    introduce(service, settings.key !== undefined);
    const demo = settings.demo ? runDemo(service, ending.signal) : undefined;
    await told;
    progress('ending');
    ending.abort();
    await demo;
  } finally {
    await removeRunFile();
  }
};

const main = async (): Promise<void> => {
  const told = untilTold();
  const settings = readSettings(process.env);
  const service = await start(settings);
  try {
    await serve(service, settings, told);
  } finally {
    await service.stop();
  }
  progress('ended');
};

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(isForOperator(error) ? error.message : error);
  process.exit(1);
}
