import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { onceInRun } from '../run/once-in-run.ts';
import { root } from '../run/project.ts';

const run = promisify(execFile);

/** npm as `npm ci` brought it, with a cache of its own and without a registry. */
export const npm = (args: readonly string[], cwd: string) =>
  run('npm', [...args, '--offline', '--no-audit', '--no-fund', '--cache', join(inject('scratch'), 'npm')], {
    cwd,
    env: { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}` },
  });

/** Packages that a program has besides the client, as links to those of the project. */
const besides = [
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/sdk-trace',
  '@types/node',
];

/**
 * A folder in which the packed client of JavaScript is installed, with nothing but OpenTelemetry beside it. The tarball
 * is in its folder `packed`.
 */
export const javascriptApp = async (): Promise<string> => {
  const app = join(inject('scratch'), 'javascript-client');
  await onceInRun(app, async (folder) => {
    const packed = join(folder, 'packed');
    mkdirSync(packed);
    await npm(['pack', '--pack-destination', packed], join(root, 'clients/js'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    const [tarball = ''] = readdirSync(packed);
    await npm(['install', join(packed, tarball)], folder);
    for (const name of besides) {
      const link = join(folder, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), link);
    }
    for (const program of ['prompts.mjs', 'support.mjs', 'traces.mjs'])
      copyFileSync(join(import.meta.dirname, program), join(folder, program));
  });
  return app;
};

/**
 * A folder in which the wheel of the client of Python is installed with OpenTelemetry, as a virtual environment. The
 * wheel is in its folder `packed`. Python's registry has what builds it.
 */
export const pythonEnvironment = async (): Promise<string> => {
  const folder = join(inject('scratch'), 'python-client');
  await onceInRun(folder, async (unfinished) => {
    // Scripts of an environment name its folder, and it is moved: only its Python is used.
    await run('python3', ['-m', 'venv', '--symlinks', unfinished]);
    const pip = (...args: string[]) =>
      run(join(unfinished, 'bin/python'), ['-m', 'pip', '--disable-pip-version-check', '--quiet', ...args]);
    const sources = join(unfinished, 'sources');
    // It would build in the folder of the sources.
    mkdirSync(join(sources, 'pennytrace'), { recursive: true });
    for (const from of ['.', 'pennytrace'])
      for (const entry of readdirSync(join(root, 'clients/python', from), { withFileTypes: true }))
        if (entry.isFile())
          copyFileSync(join(root, 'clients/python', from, entry.name), join(sources, from, entry.name));
    const packed = join(unfinished, 'packed');
    await pip('wheel', '--no-deps', '--wheel-dir', packed, sources);
    const [wheel = ''] = readdirSync(packed);
    await pip('install', `${join(packed, wheel)}[opentelemetry]`);
  });
  return folder;
};

/** A program that uses a client, and does what it is told. */
export interface Program {
  /** Has it do something, and gives what came of it. @throws Error with the name and the words of the program's */
  tell<Result = unknown>(task: string, given?: object): Promise<Result>;
  stop(): Promise<void>;
}

/**
 * Starts a program that uses a client.
 *
 * @param env what the client is set by
 */
export const startProgram = async (
  language: 'JavaScript' | 'Python',
  env: NodeJS.ProcessEnv = {},
): Promise<Program> => {
  const [command, script, own] =
    language === 'JavaScript'
      ? [process.execPath, join(await javascriptApp(), 'prompts.mjs'), {}]
      : [
          'python3',
          join(import.meta.dirname, 'prompts.py'),
          { PYTHONPATH: join(root, 'clients/python'), PYTHONDONTWRITEBYTECODE: '1' },
        ];
  const child = spawn(command, [script], {
    env: { ...process.env, ...own, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  interface Came {
    readonly result?: unknown;
    readonly error?: string;
  }
  const waiting = new Map<number, (came: Came) => void>();
  ended.then(() => {
    for (const answer of waiting.values()) answer({ error: 'the program has ended' });
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, ...came } = JSON.parse(line);
    waiting.get(id)?.(came);
    waiting.delete(id);
  });
  let count = 0;
  return {
    tell: async (task, given = {}) => {
      const id = ++count;
      const answered = new Promise<Came>((resolve) => waiting.set(id, resolve));
      child.stdin.write(`${JSON.stringify({ id, task, given })}\n`);
      const { result, error } = await answered;
      if (error !== undefined) throw new Error(error);
      return result as never;
    },
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
};
