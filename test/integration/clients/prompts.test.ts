import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Program, startProgram } from '../../support/clients/clients.ts';
import { newName } from '../../support/run/new-name.ts';
import { root, temporaryFolder } from '../../support/run/project.ts';
import { requires } from '../../support/run/requirements.ts';
import { sharedService } from '../../support/service/service.ts';
import fillings from '../../unit/api/prompt-fillings.json' with { type: 'json' };
import cases from '../../unit/api/prompt-variables.json' with { type: 'json' };

interface Described {
  readonly kind: string;
  readonly name: string;
  readonly versionIndex: number | null;
  readonly digest: string | null;
  readonly labels: readonly string[];
  readonly variables: readonly string[];
  readonly config: object;
  readonly content: unknown;
}

/** What stands between a program and the service: it counts requests, and may answer itself. */
const startDoor = async (target: string) => {
  const seen: { readonly url: string; readonly status: number; readonly headers: Headers }[] = [];
  let open = 0;
  let mostOpen = 0;
  const door = {
    url: '',
    seen,
    /** The most requests that were open at once. */
    mostOpen: () => mostOpen,
    /** What answers in place of the service; undefined for the service. */
    instead: undefined as RequestListener | undefined,
    /** Holds requests back until it is called. */
    hold: (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = undefined;
        resolve();
      };
    },
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  let held: Promise<void> | undefined;
  const server: Server = createServer(async (request, response) => {
    mostOpen = Math.max(mostOpen, ++open);
    response.once('close', () => {
      open -= 1;
    });
    const url = request.url ?? '';
    const sent = new Headers(request.headers as Record<string, string>);
    const at = seen.push({ url, status: 0, headers: sent }) - 1;
    await held;
    if (door.instead) return door.instead(request, response);
    sent.delete('host');
    sent.delete('connection');
    const answer = await fetch(target + url, { headers: sent });
    seen[at] = { url, status: answer.status, headers: sent };
    const headers = Object.fromEntries(answer.headers);
    delete headers['content-encoding'];
    delete headers['content-length'];
    delete headers['transfer-encoding'];
    response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  door.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return door;
};

/** A URL at which nothing listens. */
const startNothing = async (): Promise<string> => {
  const { url, stop } = await startDoor('');
  await stop();
  return url;
};

describe.each([
  ['JavaScript', {}],
  ['Python', requires('Python 3')],
] as const)('the client of %s', (language, options) => {
  const itRuns = (name: string, test: () => Promise<void>) => it(name, options, test);

  let project: string;
  let service: Awaited<ReturnType<typeof sharedService>>;
  let program: Program;
  let door: Awaited<ReturnType<typeof startDoor>>;

  if (!('skip' in options)) {
    beforeAll(async () => {
      service = await sharedService();
      program = await startProgram(language);
    });
    afterAll(() => program?.stop());
    beforeEach(async () => {
      project = newName(`acme/client-${language.toLowerCase()}`);
      door = await startDoor(service.url);
    });
    afterEach(() => door.stop());
  }

  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await service.post(path, { project_id: project, ...body });
    const answer = await response.json();
    expect(response.status, JSON.stringify(answer)).toBe(200);
    return answer;
  };
  /** Saves a version of a text. */
  const save = (name: string, text: string, labels: readonly string[] = []) =>
    post('/prompt/create', { name, text, labels });
  const start = (given: object = {}) =>
    program.tell('client', { url: door.url, key: service.key, project, ...given });
  const get = (name: string, given: object = {}) => program.tell<Described>('get', { name, ...given });
  /** Reads until the answer is so. */
  const getUntil = async (name: string, content: string, given: object = {}): Promise<void> => {
    await expect.poll(async () => (await get(name, given)).content).toBe(content);
  };
  const told = () => program.tell<string[]>('told');

  itRuns('reads a version by its label, its index or its digest, and fills it in', async () => {
    const messages = [
      { role: 'system', content: 'You help {wer} at {größe} {{x}}.' },
      { role: 'user', content: [{ type: 'text', text: '{frage} 😀' }] },
    ];
    const config = { model: 'gpt-4o-mini', parameters: { temperature: 0 } };
    const name = 'Unterstützung 客服';
    await post('/prompt/create', { name, messages, config, labels: ['production'] });
    const { digest } = (await post('/prompt/create', { name, text: 'Second {a}' })) as { digest: string };
    await start();
    expect(await get(name)).toEqual({
      kind: 'messages',
      name,
      versionIndex: 0,
      digest: expect.any(String),
      labels: ['production'],
      variables: ['wer', 'größe', 'frage'],
      config,
      content: messages,
    });
    expect(await get(name, { label: 'latest' })).toMatchObject({ kind: 'text', versionIndex: 1, config: {} });
    expect(await get(name, { digest })).toMatchObject({ versionIndex: 1, content: 'Second {a}' });
    const values = { wer: 'Ada', größe: 1.5, frage: '{wer}', more: 'x' };
    expect(await program.tell('compile', { name, versionIndex: 0, values })).toEqual([
      { role: 'system', content: 'You help Ada at 1.5 {x}.' },
      { role: 'user', content: [{ type: 'text', text: '{wer} 😀' }] },
    ]);
    expect(await program.tell('compile', { name, versionIndex: 1, values: { a: '1' } })).toBe('Second 1');
    await expect(program.tell('compile', { name, values: { wer: 'Ada' } })).rejects.toThrow(
      `PromptError: the prompt ${name} (version 0) needs a value for {größe}, {frage}`,
    );
    expect(await told()).toEqual([]);
  });

  itRuns('makes one request of 200 at once, and none while what is in memory is new', async () => {
    for (const name of ['one', 'two']) await save(name, name);
    await start();
    const many = await program.tell('many', { names: ['one', 'two'], times: 100 });
    expect(many).toEqual(Array(200).fill(0));
    await program.tell('many', { names: ['one', 'two'], times: 100 });
    expect(door.seen.map(({ url }) => new URL(url, door.url).searchParams.get('name')).toSorted()).toEqual([
      'one',
      'two',
    ]);
  });

  itRuns('sees a label that was moved, and asks with what it has', async () => {
    await save('moved', 'first', ['production']);
    await save('moved', 'second');
    await start({ cacheSeconds: 0.3 });
    expect(await get('moved')).toMatchObject({ content: 'first' });
    await expect
      .poll(async () => [await get('moved'), door.seen.at(-1)?.status])
      .toEqual([expect.objectContaining({ content: 'first' }), 304]);
    await post('/prompt/labels', { name: 'moved', label: 'production', version_index: 1 });
    await getUntil('moved', 'second');
    await post('/prompt/labels', { name: 'moved', label: 'production', version_index: 0 });
    await getUntil('moved', 'first');
    expect(door.mostOpen()).toBe(1);
    expect(await told()).toEqual([]);
  });

  itRuns('waits a moment for what is newer than the cache time, where it asks seldom', async () => {
    await save('seldom', 'first');
    await start({ cacheSeconds: 0.1 });
    await get('seldom');
    const newer = { name: 'seldom', version_index: 1, digest: 'd', text: 'second' };
    door.instead = (_, response) => response.end(JSON.stringify(newer));
    await sleep(110);
    expect(await get('seldom')).toMatchObject({ content: 'second', versionIndex: 1 });
    expect(door.seen.length).toBe(2);
  });

  itRuns('answers from memory while the service is slow, and does not ask twice', async () => {
    await save('slow', 'first');
    await start({ cacheSeconds: 0.1, timeoutSeconds: 60 });
    await get('slow');
    await save('slow', 'second');
    await sleep(150);
    const release = door.hold();
    for (let n = 0; n < 5; n += 1) expect(await get('slow')).toMatchObject({ content: 'first' });
    expect(door.seen.length).toBe(2);
    release();
    await getUntil('slow', 'second');
  });

  itRuns('takes the fallback if the first read takes too long, and the prompt once it is there', async () => {
    await save('late', 'stored');
    await start({ timeoutSeconds: 0.3 });
    const release = door.hold();
    const fallback = { text: 'not {{yet}}', config: { model: 'small' } };
    expect(await get('late', { fallback })).toEqual({
      kind: 'text',
      name: 'late',
      versionIndex: null,
      digest: null,
      labels: [],
      variables: [],
      config: { model: 'small' },
      content: 'not {{yet}}',
    });
    expect(await program.tell('compile', { name: 'late', fallback })).toBe('not {yet}');
    // Nothing waits for the service any more.
    await get('late', { fallback });
    expect(await told()).toEqual([
      expect.stringMatching(
        `^the prompt late of ${project} cannot be read from ${door.url}: .+; going on with the fallback$`,
      ),
    ]);
    release();
    await getUntil('late', 'stored', { fallback });
    expect(await told()).toHaveLength(1);
  });

  const html = '<html>Sign in to the network</html>';
  const broken: Readonly<Record<string, RequestListener>> = {
    'a page of something else': (_, response) => response.end(html),
    'half an answer': (_, response) => response.writeHead(200, { 'content-length': '500' }).write('{"name":'),
    'no prompt': (_, response) => response.end('{"name":"x","version_index":0,"digest":"d"}'),
    'a prompt of no version': (_, response) => response.end('{"name":"x","text":"wrong"}'),
    'a list': (_, response) => response.end('[]'),
    'an error': (_, response) => response.writeHead(500).end('oh'),
    'a refusal': (_, response) => response.writeHead(403).end('{"detail":[{"msg":"this key may not"}]}'),
    'another place': (_, response) => response.writeHead(302, { location: `${service.url}/health` }).end(),
    'no end': (request, response) => {
      const more = (): unknown => response.write(' '.repeat(1_000_000), () => !request.destroyed && more());
      more();
    },
    'a connection that breaks': ({ socket }) => socket.destroy(),
  };
  itRuns('goes on with what it has, whatever the service answers', async () => {
    await save('broken', 'stored');
    await start({ cacheSeconds: 0.05, timeoutSeconds: 2 });
    await get('broken');
    for (const [name, instead] of Object.entries(broken)) {
      await sleep(60);
      const before = door.seen.length;
      door.instead = instead;
      await expect
        .poll(async () => {
          expect(await get('broken'), name).toMatchObject({ content: 'stored', versionIndex: 0 });
          return told();
        })
        .toEqual([expect.stringMatching(/; going on with version 0$/s)]);
      expect(door.seen.length, name).toBeGreaterThan(before);
      door.instead = undefined;
      await start({ cacheSeconds: 0.05, timeoutSeconds: 2 });
      await get('broken');
    }
  });

  itRuns('says what is wrong if there is neither an answer nor a fallback', async () => {
    await start();
    const words = `the prompt none of ${project} cannot be read from ${door.url}: it answered 404: `;
    await expect(get('none')).rejects.toThrow(`PromptError: ${words}`);
    // It is not asked again at once.
    await expect(get('none')).rejects.toThrow(words);
    expect(door.seen.length).toBe(1);
    await save('none', 'now');
    await expect.poll(() => get('none').catch(() => undefined)).toMatchObject({ content: 'now' });

    await start({ url: await startNothing() });
    await expect(get('none')).rejects.toThrow(/cannot be read from http:\/\/127\.0\.0\.1:\d+: .*refused/i);
    await start({ key: 'wrong' });
    await expect(get('none')).rejects.toThrow('it answered 401');
    await expect(get('none', { label: 'a', digest: 'b' })).rejects.toThrow('choose at most one of');
    await expect(start({ url: 'localhost:8787' })).rejects.toThrow('should be like https://example.com');
    for (const setting of ['url', 'key', 'project'])
      await expect(start({ [setting]: '' })).rejects.toThrow(
        `PromptError: set PENNYTRACE_${setting.toUpperCase()}, or pass ${setting} to the client`,
      );
  });

  itRuns('tries a first read again before it gives up', async () => {
    await save('first', 'stored');
    await start();
    let failures = 2;
    door.instead = (request, response) => {
      if (--failures === 0) door.instead = undefined;
      broken['an error']?.(request, response);
    };
    expect(await get('first')).toMatchObject({ content: 'stored' });
    expect(door.seen.length).toBe(3);
  });

  itRuns('does not take a text for messages', async () => {
    await save('kind', 'text');
    await start();
    const fallback = [{ role: 'user', content: 'Hi' }];
    expect(await get('kind', { fallback })).toMatchObject({ versionIndex: null, content: fallback });
    expect(await told()).toEqual([expect.stringContaining('it is text, and the fallback is not')]);
    expect(await get('kind')).toMatchObject({ versionIndex: 0 });
  });

  itRuns('keeps memory within its bound, and what it has apart from what programs change', async () => {
    const names = ['a', 'b', 'c'];
    for (const name of names) await save(name, name.repeat(20_000));
    await start({ maxCharacters: 50_000 });
    for (const name of [...names, 'c', 'b', 'a']) await get(name);
    // Two fit.
    expect(door.seen.length).toBe(4);

    const messages = [
      { role: 'user', content: [{ type: 'x', deep: { value: 'whole' } }] },
      { role: 'user', content: [{ type: 'x', deep: { value: 'whole' } }] },
    ];
    await post('/prompt/create', { name: 'd', messages });
    expect(await program.tell('spoil', { name: 'd' })).toMatchObject({ content: messages });
  });

  itRuns('reads templates as the service does', async () => {
    await start({ url: await startNothing(), timeoutSeconds: 0.1 });
    const compile = (fallback: unknown, values: object) =>
      program.tell('compile', { name: 'x', fallback, values });
    for (const { template, parts } of cases) {
      const names = parts.flatMap((part) => (part.variable === undefined ? [] : [part.variable]));
      expect((await get('x', { fallback: template })).variables, template).toEqual([...new Set(names)]);
      const values = Object.fromEntries(names.map((name) => [name, `<${name}>`]));
      const filled = parts.map(({ text, variable }) => text ?? `<${variable}>`).join('');
      expect(await compile(template, values), template).toBe(filled);
    }
    for (const { messages, values, filled, missing } of fillings) {
      if (filled) expect(await compile(messages, values)).toEqual(filled);
      else
        await expect(compile(messages, values)).rejects.toThrow(
          `(its fallback) needs a value for ${missing?.map((name) => `{${name}}`).join(', ')}`,
        );
    }
  });
});

describe('programs whose service is killed', () => {
  const key = `svc_${'k'.repeat(16)}_${'a'.repeat(64)}`;
  let local: ChildProcess | undefined;
  afterEach(() => local?.kill('SIGKILL'));

  /** `npm start` with its data in a folder. */
  const startLocal = async (dataDir: string, port = '0'): Promise<string> => {
    const { PATH = '', JAVA_TOOL_OPTIONS = '' } = process.env;
    const settings = { PORT: port, DEMO: '0', DATA_DIR: dataDir, LOCAL_KEY: key };
    const child = spawn(process.execPath, [join(root, 'local/main.ts')], {
      cwd: root,
      env: { PATH, JAVA_TOOL_OPTIONS, ...settings },
    });
    local = child;
    let printed = '';
    child.stdout.on('data', (data) => {
      printed += data;
    });
    child.stderr.resume();
    await expect.poll(() => printed).toMatch(/^ready http\S+$/m);
    return /^ready (\S+)$/m.exec(printed)?.[1] ?? '';
  };

  it('go on, and see what is new once it is there again; those that start meanwhile have their fallback', async () => {
    const dataDir = temporaryFolder();
    const url = await startLocal(dataDir);
    const project = 'acme/killed';
    const post = async (path: string, body: object) => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ project_id: project, ...body }),
      });
      expect(response.status).toBe(200);
    };
    await post('/prompt/create', { name: 'support', text: 'first', labels: ['production'] });
    await post('/prompt/create', { name: 'support', text: 'second' });

    const env = { PENNYTRACE_URL: url, PENNYTRACE_KEY: key, PENNYTRACE_PROJECT: project };
    const languages = 'skip' in requires('Python 3') ? ['JavaScript'] : ['JavaScript', 'Python'];
    const start = () =>
      Promise.all(
        languages.map(async (language) => {
          const program = await startProgram(language as 'JavaScript', env);
          await program.tell('client', { cacheSeconds: 0.2 });
          return program;
        }),
      );
    const fallback = 'fallback';
    const getAll = async (programs: readonly Program[]): Promise<unknown[]> => {
      const got = await Promise.all(
        programs.map((each) => each.tell<Described>('get', { name: 'support', fallback })),
      );
      return [...new Set(got.map(({ content }) => content))];
    };
    const before = await start();
    expect(await getAll(before)).toEqual(['first']);

    const killed = once(local as ChildProcess, 'close');
    local?.kill('SIGKILL');
    await killed;
    await expect
      .poll(async () => {
        expect(await getAll(before)).toEqual(['first']);
        return Promise.all(before.map(async (each) => (await each.tell<string[]>('told')).length));
      })
      .toEqual(before.map(() => 1));
    const meanwhile = await start();
    expect(await getAll(meanwhile)).toEqual(['fallback']);

    await startLocal(dataDir, new URL(url).port);
    await expect.poll(() => getAll(meanwhile)).toEqual(['first']);
    await post('/prompt/labels', { name: 'support', label: 'production', version_index: 1 });
    await expect.poll(() => getAll([...before, ...meanwhile])).toEqual(['second']);
    await Promise.all([...before, ...meanwhile].map((each) => each.stop()));
  });
});
