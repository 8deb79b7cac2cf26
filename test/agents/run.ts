/**
 * `npm run test:agents`: runs the agents and instrumentations that the documents name, the newest
 * there are, against the local service and a scripted model, and writes what came of each into
 * docs/clients.md. Names behind `--` choose clients; their table is shown and not written.
 * It needs Python 3.10 or newer, and the registries of Python and npm.
 */

import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type LocalService, startLocalService } from '../../local/service.ts';
import type { AnsweredCall } from '../support/otel/agent-captures.ts';
import { type Client, clients, exporterEnvironment, type Place } from './clients.ts';
import { judge, type Outcome, pauseSeconds, type Thread } from './judge.ts';
import { startScriptedModel } from './model.ts';

const root = resolve(import.meta.dirname, '../..');
const tools = join(root, 'node_modules/.cache/pennytrace/agents');
const page = join(root, 'docs/clients.md');
const verbose = Boolean(process.env.VERBOSE);

/** How many clients are tried at a time. */
const atATime = 3;
const installMs = 240_000;
const programMs = 120_000;

const run = promisify(execFile);

/** The end of what a failed command says, which tells more than the command itself. */
const lastLines = (error: unknown): string => {
  const { stderr, message } = error as { readonly stderr?: string; readonly message?: string };
  const lines = (stderr?.trim() || message || String(error)).trim().split('\n');
  return (lines.at(-1) ?? '').trim().slice(0, 200);
};

/** Installs uv, which makes an environment in seconds where pip takes a minute. */
const prepareUv = async (): Promise<string> => {
  const uv = join(tools, 'bin/uv');
  if (!existsSync(uv)) {
    await run('python3', ['-m', 'venv', tools]);
    await run(join(tools, 'bin/python'), ['-m', 'pip', 'install', '--quiet', 'uv']);
  }
  return uv;
};

/** Packages in a folder of their own. */
interface Installed {
  /** The program, and what stands before it. */
  readonly command: readonly string[];
  readonly versions: readonly string[];
}

const programs = join(import.meta.dirname, 'programs');

const withoutExtras = (name: string): string => name.replace(/\[.*\]$/, '');

const installPython = async (client: Client, folder: string, uv: string): Promise<Installed> => {
  const python = join(folder, 'venv/bin/python');
  await run(uv, ['venv', '--quiet', join(folder, 'venv')]);
  await run(uv, ['pip', 'install', '--quiet', '--python', python, ...client.packages], {
    timeout: installMs,
  });
  const names = client.packages.slice(0, client.shown).map(withoutExtras);
  const { stdout } = await run(python, [
    '-c',
    'import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]), sep="\\n")',
    ...names,
  ]);
  const found = stdout.trim().split('\n');
  const { brings } = client;
  const brought = brings
    ? await run(python, ['-c', `from ${brings.module} import ${brings.variable} as v; print(v)`])
    : undefined;
  return {
    command: [python, join(programs, client.program)],
    versions: [
      ...(brings && brought ? [`${brings.name} ${brought.stdout.trim()}`] : []),
      ...names.map((name, i) => `${name} ${found[i]}`),
    ],
  };
};

const installNode = async (client: Client, folder: string): Promise<Installed> => {
  const program = join(folder, client.program);
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}\n');
  await run(
    'npm',
    ['install', '--prefix', folder, '--no-audit', '--no-fund', '--legacy-peer-deps', ...client.packages],
    { cwd: folder, timeout: installMs },
  );
  // Programs find their packages from where they are.
  for (const file of [client.program, 'tracing.mjs'])
    writeFileSync(join(folder, file), readFileSync(join(programs, file)));
  const readVersion = (name: string): string => {
    const manifest = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
    return (JSON.parse(manifest) as { version: string }).version;
  };
  return {
    command: [process.execPath, program],
    versions: client.packages.slice(0, client.shown).map((name) => `${name} ${readVersion(name)}`),
  };
};

/** Runs a program to its end, and its children with it. */
const runProgram = (
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<void> =>
  new Promise((done, fail) => {
    const [file = '', ...rest] = command;
    const child = spawn(file, rest, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const hear = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-20_000);
      if (verbose) process.stderr.write(chunk);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    const endAll = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All have ended already.
      }
    };
    const late = setTimeout(() => {
      endAll();
      fail(new Error(`the program did not end within ${programMs / 1000} s`));
    }, programMs);
    child.once('error', fail);
    child.once('exit', (code) => {
      clearTimeout(late);
      endAll();
      if (code === 0) done();
      else fail(new Error(output));
    });
  });

const query = async <T>(place: Place, path: string, body: object = {}): Promise<T[]> => {
  const response = await fetch(`${place.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${place.key}`).toString('base64')}`,
      'content-type': 'application/json',
      accept: 'application/jsonl',
    },
    body: JSON.stringify({ project_id: place.project, ...body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answers ${response.status}: ${text}`);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
};

/** A row of the table. */
interface Row {
  readonly client: Client;
  readonly versions: readonly string[];
  readonly seconds: number;
  /** Absent if the program could not be run. */
  readonly outcome?: Outcome;
  readonly failure?: string;
}

/** Programs flush before they end; some of what they sent may still be on its way to an index. */
const looks = 4;

const tryClient = async (client: Client, service: LocalService, uv: string): Promise<Row> => {
  const started = Date.now();
  const folder = mkdtempSync(join(tmpdir(), 'agents-'));
  const place = { url: service.url, key: service.key, project: `agents/${client.name}` };
  let versions: readonly string[] = [];
  let failure: string | undefined;
  let outcome: Outcome | undefined;
  const model = await startScriptedModel(client.script);
  try {
    const installed = await (client.program.endsWith('.py')
      ? installPython(client, folder, uv)
      : installNode(client, folder));
    versions = installed.versions;
    const home = join(folder, 'home');
    mkdirSync(home);
    const since = Date.now();
    try {
      await runProgram([...installed.command, ...(client.arguments ?? [])], home, {
        PATH: process.env.PATH ?? '',
        HOME: home,
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONWARNINGS: 'ignore',
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        OPENAI_API_KEY: 'scripted',
        OPENAI_BASE_URL: `${model.url}/v1`,
        ANTHROPIC_API_KEY: 'scripted',
        ANTHROPIC_BASE_URL: model.url,
        QUESTION: client.expected.question,
        PAUSE_S: String(pauseSeconds),
        ...(client.environment ?? exporterEnvironment)(place),
      });
    } catch (error) {
      failure = lastLines(error);
    }
    // What it sent before it failed is worth knowing, too.
    for (let look = 1; look <= looks; look++) {
      await new Promise((resolve) => setTimeout(resolve, look === 1 ? 200 : 1500));
      const [calls, threads] = await Promise.all([
        query<AnsweredCall>(place, '/calls/stream_query'),
        query<Thread>(place, '/threads/stream_query'),
      ]);
      outcome = judge(client.expected, model.truth, calls, threads, since);
      if (outcome.problems.length === 0) break;
    }
  } catch (error) {
    failure = lastLines(error);
  } finally {
    await model.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
  const seconds = (Date.now() - started) / 1000;
  return { client, versions, seconds, ...(outcome && { outcome }), ...(failure && { failure }) };
};

const getProblems = ({ failure, outcome }: Row): string[] => [
  ...(failure ? [`the program failed: ${failure}`] : []),
  ...(outcome?.problems ?? []),
];

const show = (row: Row): void => {
  const problems = getProblems(row);
  const { client, seconds } = row;
  console.log(
    `${problems.length === 0 ? 'right ' : 'WRONG '} ${seconds.toFixed(0).padStart(4)} s  ${client.name}`,
  );
  for (const problem of problems) console.log(`              ${problem}`);
};

const begin = '<!-- clients: npm run test:agents -->';
const end = '<!-- end of clients -->';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

const counted = (names: readonly string[]): string =>
  [...new Set(names)]
    .map((name) => {
      const times = names.filter((other) => other === name).length;
      return times > 1 ? `${name} ×${times}` : name;
    })
    .join(', ');

const toTableRow = (row: Row): string => {
  const { client, versions, outcome } = row;
  const problems = getProblems(row);
  const operations = Object.entries(outcome?.operations ?? {})
    .sort()
    .map(([kind, count]) => `${count} ${kind}`);
  const cells = [
    `[${client.title}](../test/agents/programs/${client.program}): ${versions.join(', ')}`,
    client.signal,
    operations.join(', '),
    counted(outcome?.tools ?? []),
    outcome?.agents.join(', ') ?? '',
    (outcome?.tokens ?? 0).toLocaleString('en'),
    problems.length === 0 ? 'all' : `**not** ${problems.join('; ')}`,
    Object.values(client.expected.cannot).join('; '),
  ];
  return `| ${cells.map(cell).join(' | ')} | \`npm run test:agents -- ${client.name}\` |`;
};

const toTable = (rows: readonly Row[]): string => {
  const right = rows.filter((row) => getProblems(row).length === 0).length;
  return [
    begin,
    '',
    `${right} of ${rows.length} come as a person expects, by \`npm run test:agents\`.`,
    '',
    '| client | sends | operations | tools | agents | tokens | as expected | what it leaves out | command |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map(toTableRow),
    '',
    end,
  ].join('\n');
};

/** Writes the table of clients into the page. */
const writeTable = (rows: readonly Row[]): void => {
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < 0) throw new Error('docs/clients.md has no place for the table of clients');
  writeFileSync(page, text.slice(0, from) + toTable(rows) + text.slice(to + end.length));
};

/** Tries all clients, some at a time. Gives the rows in the order of the clients. */
const tryAll = async (chosen: readonly Client[], service: LocalService): Promise<Row[]> => {
  const uv = await prepareUv();
  const rows: Row[] = [];
  const waiting = [...chosen.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, client] = next;
      const row = await tryClient(client, service, uv);
      rows[index] = row;
      show(row);
    }
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return rows;
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !clients.some((client) => client.name === name));
if (unknown.length > 0) {
  console.error(
    `There is no client ${unknown.join(', ')}. There are ${clients.map(({ name }) => name).join(', ')}.`,
  );
  process.exit(2);
}
const chosen = names.length === 0 ? clients : clients.filter(({ name }) => names.includes(name));
const service = await startLocalService(
  verbose ? { log: (source: string, line: string) => console.error(`${source}: ${line}`) } : {},
);
let rows: Row[] = [];
try {
  rows = await tryAll(chosen, service);
} finally {
  await service.stop();
}
if (names.length === 0) writeTable(rows);
process.exit(rows.every((row) => getProblems(row).length === 0) ? 0 : 1);
