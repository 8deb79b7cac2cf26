import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as allOf } from 'node:stream/consumers';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type Bucket,
  deleteReadObject,
  putObject,
  readObject,
  replaceObject,
  requestBudget,
} from '../../../foundations/storage/index.ts';
import {
  externalStore,
  freePort,
  type LocalStore,
  localCredentials,
  startDynamodbLocal,
  startS3,
} from '../../../local/stores.ts';
import { localRegion } from '../../../local/template/cloudformation.ts';
import { startService } from '../../support/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'pennytrace-java-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

/** Has `java` be a script. */
const fakeJava = (script: string): void => {
  const file = join(folder, 'java');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  vi.stubEnv('PATH', folder);
};

const answers = async (endpoint: string): Promise<boolean> =>
  fetch(endpoint).then(
    () => true,
    () => false,
  );

describe('DynamoDB Local', () => {
  it('requires Java if there is none', async () => {
    vi.stubEnv('PATH', '');
    await expect(startDynamodbLocal()).rejects.toThrow(
      /no java on the PATH.*needs Java 17 or newer: apt-get install/,
    );
  });

  it('requires a newer Java if it is too old', async () => {
    fakeJava('echo "java.lang.UnsupportedClassVersionError: has been compiled by a more recent" >&2; exit 1');
    await expect(startDynamodbLocal()).rejects.toThrow(/too old.*needs Java 17/);
  });

  it('requires Java if macOS has only a stub for it', async () => {
    fakeJava('echo "The operation couldn’t be completed. Unable to locate a Java Runtime." >&2; exit 1');
    await expect(startDynamodbLocal()).rejects.toThrow(/no Java on this machine.*brew install/);
  });

  it('can be cancelled while it starts', async () => {
    fakeJava('while :; do :; done');
    const ending = new AbortController();
    const starting = startDynamodbLocal(undefined, ending.signal);
    setTimeout(() => ending.abort(new Error('enough')), 200);
    await expect(starting).rejects.toThrow('enough');
  });

  it('reports its errors if it does not start', async () => {
    fakeJava('echo "no space left" >&2; exit 4');
    await expect(startDynamodbLocal()).rejects.toThrow('DynamoDB Local ended with code 4: no space left');
  });

  it('ends with the process that started it, even if that is killed', async () => {
    // A server in place of Java: what ends it is the shell before it.
    const serve = 'require("http").createServer((_, answer) => answer.end()).listen(process.argv[1])';
    fakeJava(`while [ "$1" != -port ]; do shift; done\nexec '${process.execPath}' --eval '${serve}' "$2"`);
    const script = `
      const { startDynamodbLocal } = await import(${JSON.stringify(join(import.meta.dirname, '../../../local/stores.ts'))});
      console.log((await startDynamodbLocal()).endpoint);`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    const ended = once(parent, 'exit').then(async () =>
      Promise.reject(new Error(await allOf(parent.stderr))),
    );
    const [endpoint] = await Promise.race([once(createInterface(parent.stdout), 'line'), ended]);
    expect(await answers(endpoint)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => answers(endpoint)).toBe(false);
  });
});

/** Each test has its own. */
const budget = () => requestBudget(60_000);
const bytes = (text: string) => Buffer.from(text);

describe.each(['in memory', 'in a folder'])('an S3 %s', (where) => {
  let folder: string | undefined;
  let server: LocalStore;
  let bucket: Bucket;
  beforeAll(async () => {
    folder = where === 'in memory' ? undefined : await mkdtemp(join(tmpdir(), 'pennytrace-s3-'));
    server = await startS3(folder);
    const client = new S3Client({
      region: localRegion,
      credentials: localCredentials,
      endpoint: server.endpoint,
    });
    bucket = { client, name: 'bucket' };
    await client.send(new CreateBucketCommand({ Bucket: bucket.name }));
  });
  afterAll(async () => {
    (await bucket.client).destroy();
    await server.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  const text = async (key: string) => {
    const found = await readObject(bucket, key, budget());
    return found && Buffer.from(found.body).toString();
  };
  const etag = async (key: string) => (await readObject(bucket, key, budget()))?.etag ?? '';

  it('replaces an object only if it is the one that was read', async () => {
    await putObject(bucket, 'a/b', bytes('one'), budget());
    const first = await etag('a/b');
    expect(await replaceObject(bucket, 'a/b', bytes('two'), first, budget())).toBe(true);
    expect(await replaceObject(bucket, 'a/b', bytes('three'), first, budget())).toBe(false);
    expect(await text('a/b')).toBe('two');
  });

  it('does not create an object in place of one that is gone', async () => {
    expect(await replaceObject(bucket, 'none', bytes('x'), '"0"', budget())).toBe(false);
    expect(await text('none')).toBeUndefined();
  });

  it('deletes an object only if it is the one that was read', async () => {
    await putObject(bucket, 'c', bytes('one'), budget());
    const first = await etag('c');
    await putObject(bucket, 'c', bytes('two'), budget());
    expect(await deleteReadObject(bucket, 'c', first, budget())).toBe(false);
    expect(await text('c')).toBe('two');
    expect(await deleteReadObject(bucket, 'c', await etag('c'), budget())).toBe(true);
    expect(await text('c')).toBeUndefined();
    expect(await deleteReadObject(bucket, 'c', first, budget())).toBe(false);
  });

  it('lets one of many concurrent writers succeed at a time', async () => {
    await putObject(bucket, 'count', bytes(''), budget());
    const add = async (letter: string): Promise<void> => {
      const found = await readObject(bucket, 'count', budget());
      const body = Buffer.concat([found?.body ?? bytes('?'), bytes(letter)]);
      if (!(await replaceObject(bucket, 'count', body, found?.etag ?? '', budget()))) await add(letter);
    };
    await Promise.all([...'abcdefghijkl'].map(add));
    expect([...((await text('count')) ?? '')].sort().join('')).toBe('abcdefghijkl');
  });
});

const never = new AbortController().signal;

/** Some server that is no store, and one that takes connections and says nothing. */
let server: Server;
let silent: Server;
const endpointOf = (of: Server): string => `http://127.0.0.1:${(of.address() as AddressInfo).port}`;
beforeAll(async () => {
  server = createServer((_, response) => response.writeHead(418).end('<html>no store</html>')).listen(
    0,
    '127.0.0.1',
  );
  silent = createServer(() => {}).listen(0, '127.0.0.1');
  await Promise.all([once(server, 'listening'), once(silent, 'listening')]);
});
afterAll(() => {
  for (const one of [server, silent]) {
    one.close();
    one.closeAllConnections();
  }
});

describe('an external store', () => {
  it('is used if something answers, whatever the answer', async () => {
    const { endpoint } = await externalStore('AWS_ENDPOINT_URL_S3', endpointOf(server), never);
    expect(endpoint).toBe(endpointOf(server));
  });

  it('is refused by the name of its variable if nothing answers', async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    await expect(externalStore('AWS_ENDPOINT_URL_DYNAMODB', endpoint, never)).rejects.toThrow(
      `AWS_ENDPOINT_URL_DYNAMODB is ${endpoint}, where nothing answers (ECONNREFUSED): start it, or leave`,
    );
  });

  it('is awaited until the start is cancelled', async () => {
    const ending = new AbortController();
    const waiting = externalStore('AWS_ENDPOINT_URL_S3', endpointOf(silent), ending.signal);
    const reason = new Error('given up');
    setTimeout(() => ending.abort(reason), 50);
    await expect(waiting).rejects.toBe(reason);
  });
});

it.each([
  ['dynamodb', 'AWS_ENDPOINT_URL_DYNAMODB'],
  ['s3', 'AWS_ENDPOINT_URL_S3'],
])('A server that is not a store is refused by the name of its variable: %s', async (option, variable) => {
  const endpoint = endpointOf(server);
  await expect(startService({ [option]: endpoint })).rejects.toThrow(
    new RegExp(`^${variable} is ${endpoint}, which failed \\(.*\\): check the address$`),
  );
});
