import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/run/project.ts';

const root = resolve(import.meta.dirname, '../../..');

let children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
});

/** `npm start` with an environment of its own, and what it has printed so far. */
const run = (
  environment: Record<string, string>,
  { detached = false, command = [process.execPath, join(root, 'local/main.ts')] } = {},
) => {
  const { PATH = '', JAVA_TOOL_OPTIONS = '' } = process.env;
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: root,
    env: { PATH, JAVA_TOOL_OPTIONS, PORT: '0', DEMO: '0', ...environment },
    detached,
  });
  children.push(child);
  const printed = { out: '', err: '' };
  child.stdout.on('data', (data) => {
    printed.out += data;
  });
  child.stderr.on('data', (data) => {
    printed.err += data;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, printed, ended };
};

/** Waits until it is ready; gives its URL. */
const ready = async ({ printed }: ReturnType<typeof run>): Promise<string> => {
  await expect.poll(() => printed.out).toMatch(/^ready http.*\n(.*\n)*Try it/m);
  return /^ready (.*)$/m.exec(printed.out)?.[1] ?? '';
};

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

const key = `svc_${'k'.repeat(16)}_${'a'.repeat(64)}`;

describe('npm start', () => {
  it('says when it is ready, serves, and leaves nothing behind at its end', async () => {
    const process = run({});
    const url = await ready(process);
    const [, made = ''] = /^key \(shown once\): (svc_\S+)$/m.exec(process.printed.out) ?? [];
    const response = await fetch(`${url}/calls/stream_query`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`api:${made}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: '{"project_id":"demo/shop"}',
    });
    expect(response.status).toBe(200);

    const runFile = join(root, '.local', `${new URL(url).port}.json`);
    const written = JSON.parse(readFileSync(runFile, 'utf8'));
    expect(written).toMatchObject({
      url,
      pid: process.child.pid,
      authorizerCacheSeconds: 60,
      tables: { calls: expect.stringMatching(/calls/i), keys: expect.stringMatching(/keys/i) },
    });
    process.child.kill('SIGTERM');
    expect(await process.ended).toBe(0);
    expect(existsSync(runFile)).toBe(false);
    expect(await answers(url)).toBe(false);
    expect(await answers(written.dynamodb)).toBe(false);
  });

  it('signs in whoever opens the link that it prints, once', async () => {
    const process = run({});
    const url = await ready(process);
    const [, key = ''] = /^key \(shown once\): (svc_\S+)$/m.exec(process.printed.out) ?? [];
    const [, code = ''] = /#sign-in=(\S+)$/m.exec(process.printed.out) ?? [];
    const exchange = async (body: string) => {
      const response = await fetch(`${url}/local/sign-in`, { method: 'POST', body });
      return [response.status, await response.json()];
    };
    const gone = [410, { detail: [expect.objectContaining({ type: 'gone' })] }];
    const codes = [1, code.toLowerCase(), 'é'.repeat(code.length)].map((wrong) =>
      JSON.stringify({ code: wrong }),
    );
    for (const wrong of ['', '{}', ...codes]) expect(await exchange(wrong)).toEqual(gone);
    expect(await exchange(JSON.stringify({ code }))).toEqual([200, { key }]);
    expect(await exchange(JSON.stringify({ code }))).toEqual(gone);
    expect(code).not.toContain(key);
    process.child.kill('SIGTERM');
    await process.ended;
  });

  it('says at once what it does, and at the end of the examples again what they scrolled away', async () => {
    const process = run({ DEMO: '1', EVENTS: '1' });
    await ready(process);
    expect(process.printed.out).toMatch(/^ +\d+\.\d s {2}starting /);
    await expect
      .poll(() => process.printed.out)
      .toMatch(
        /event: TurnEnded(.|\n)*\nData are in memory and gone at the end: DATA_DIR=\S+ npm start keeps them/,
      );
    const [, tail = ''] = process.printed.out.split(/(?:.|\n)*\nevent: .*\n/);
    expect(tail).toMatch(
      /\nkey \(shown once\): svc_\S+\n\nopen http.*\/ui\/\n.*\/ui\/#sign-in=(.|\n)*Ctrl-C ends the service\.\n\n$/,
    );
    process.child.kill('SIGTERM');
    await process.ended;
  });

  it('accepts a key, does not print it, and shows the examples', async () => {
    const process = run({ DATA_DIR: temporaryFolder(), LOCAL_KEY: key, DEMO: '1' });
    const url = await ready(process);
    const days = /Reported two days of a bicycle shop to demo\/shop: \d+ traces/;
    await expect.poll(() => process.printed.out).toMatch(days);
    await expect.poll(() => process.printed.out).toContain('/calls/stream_query gives');
    const agent = /invoke_agent weather +agent +success/;
    await expect.poll(() => process.printed.out).toMatch(agent);
    expect(process.printed.out).not.toContain(key);
    expect(process.printed.out).not.toContain('#sign-in=');
    // No view of the page is empty.
    const ask = async <Answer>(path: string, body: object): Promise<Answer> => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ project_id: 'demo/shop', ...body }),
      });
      return (await response.json()) as Answer;
    };
    const { objs } = await ask<{ objs: { base_object_class: string | null }[] }>('/objs/query', {
      filter: { latest_only: true },
      metadata_only: true,
    });
    const classes = new Set(objs.map((obj) => obj.base_object_class));
    for (const name of ['Alert', 'Dataset', 'Evaluator', 'ReviewQueue']) expect(classes).toContain(name);
    const evaluations = await ask<{ count: number }>('/calls/query_stats', {
      filter: { sources: ['evaluation'] },
    });
    expect(evaluations.count).toBeGreaterThan(0);
    // The coding agents asked people, and some of their commands failed.
    const field = (path: string) => ({ $getField: path });
    for (const expression of [
      { $gt: [field('summary.svc.waited_ms'), { $literal: 0 }] },
      { $eq: [field('summary.svc.status'), { $literal: 'error' }] },
    ]) {
      const query = { $expr: expression };
      const { count } = await ask<{ count: number }>('/calls/query_stats', {
        project_id: 'demo/coding',
        query,
      });
      expect(count).toBeGreaterThan(1);
    }
    process.child.kill('SIGINT');
    expect(await process.ended).toBe(0);
    expect(process.printed.err).toBe('');
  });

  it('ends at a signal that only npm gets', async () => {
    const { child, printed, ended } = run({}, { command: ['npm', 'start'] });
    await ready({ child, printed, ended });
    child.kill('SIGTERM');
    // The streams close when the service ends, which has them too.
    await ended;
    expect(printed.out).toMatch(/ ended\n$/);
  });

  it('ends quietly at a Ctrl-C before it is ready', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pennytrace-ctrl-c-'));
    const { child, printed, ended } = run(
      { TMPDIR: folder, DATA_DIR: join(folder, 'data') },
      { detached: true },
    );
    await expect.poll(() => printed.out).toContain('S3');
    // As a terminal does it: every process of the group gets the signal.
    process.kill(-(child.pid ?? Number.NaN), 'SIGINT');
    expect(await ended).toBe(0);
    expect(printed).toEqual({ out: expect.stringMatching(/ ended\n$/), err: '' });
    expect(printed.out).not.toContain('ready');
    expect(readdirSync(join(folder, 'data')).filter((name) => name.startsWith('lock'))).toEqual([]);
    expect(readdirSync(folder)).toEqual(['data']);
    rmSync(folder, { recursive: true });
  });
});

describe('npm start fails with a message', () => {
  it('if the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const process = run({ PORT: String(port) });
    expect(await process.ended).toBe(1);
    expect(process.printed.err).toBe(
      `port ${port} is in use: end the process that listens on it, or set PORT (0 for any free port)\n`,
    );
    other.close();
  });

  it('if this machine does not have the address of HOST', async () => {
    // It is kept for documents.
    const LOCAL_KEY = `svc_${'a'.repeat(16)}_${'b'.repeat(64)}`;
    const process = run({ PORT: '0', HOST: '203.0.113.7', LOCAL_KEY });
    expect(await process.ended).toBe(1);
    expect(process.printed.err).toBe(
      'HOST is 203.0.113.7: this machine has no such address; write one of its own, or 0.0.0.0 for all\n',
    );
  });

  it('if there is no Java for DynamoDB Local', async () => {
    const process = run({ PATH: '', DYNAMODB_LOCAL: '1' });
    expect(await process.ended).toBe(1);
    expect(process.printed.err).toMatch(/^There is no java on the PATH\. .*\n$/);
  });

  it('if nothing answers at an external store', async () => {
    const process = run({ AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' });
    expect(await process.ended).toBe(1);
    expect(process.printed.err).toMatch(
      /^AWS_ENDPOINT_URL_S3 is http:\/\/127\.0\.0\.1:1, where nothing answers .*\n$/,
    );
    expect(process.printed.out).not.toContain('ready');
  });

  it('if temporary files cannot be written', async () => {
    const process = run({ TMPDIR: '/nowhere/at/all' });
    expect(await process.ended).toBe(1);
    expect(process.printed.err).toBe(
      'temporary files go to /nowhere/at/all, but there is no such folder: ' +
        'set TMPDIR to a folder that exists and is writable\n',
    );
  });

  it('if a setting is wrong', async () => {
    const process = run({ PORT: 'eighty' });
    expect(await process.ended).toBe(1);
    expect(process.printed).toEqual({
      out: '',
      err: expect.stringMatching(/^PORT is eighty: write a number/),
    });
  });
});
