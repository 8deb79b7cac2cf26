import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as allOf } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { startDynamodbLocal } from '../src/dynamodb-local.ts';

const folder = mkdtempSync(join(tmpdir(), 'java-'));
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
      const { startDynamodbLocal } = await import(${JSON.stringify(join(import.meta.dirname, '../src/dynamodb-local.ts'))});
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
