import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { javascriptApp, pythonEnvironment } from '../../support/clients/clients.ts';
import { newName } from '../../support/run/new-name.ts';
import { root, temporaryFolder } from '../../support/run/project.ts';
import { requires } from '../../support/run/requirements.ts';
import { sharedService } from '../../support/service/service.ts';

const run = promisify(execFile);

/** A project with two prompts, and what sets a client to it. */
const prepare = async (name: string) => {
  const { url, key, post } = await sharedService();
  const project = newName(name);
  const texts = [
    ['one', 'First'],
    ['one', 'Second'],
    ['two', 'Other'],
  ];
  for (const [prompt, text] of texts)
    expect((await post('/prompt/create', { project_id: project, name: prompt, text })).status).toBe(200);
  return {
    url,
    key,
    project,
    env: { PENNYTRACE_URL: url, PENNYTRACE_KEY: key, PENNYTRACE_PROJECT: project },
  };
};

/** Which spans of the programs traces.mjs and traces.py are marked: by which prompt, in which version. */
const marks = {
  request: [null, null],
  before: [null, null],
  agent: [null, null],
  nested: ['one', '1'],
  openinference: ['one', '1'],
  'ai-sdk': ['one', '1'],
  mlflow: ['one', '1'],
  tool: [null, null],
  embedding: [null, null],
  http: [null, null],
  late: ['one', '1'],
  own: ['mine', null],
  second: ['two', '0'],
  fallback: ['none', null],
  helper: [null, null],
  'after helper': ['one', '1'],
  direct: ['two', '0'],
  mixed: ['one', '1'],
  'branch one': ['one', '1'],
  'branch two': ['two', '0'],
  'other trace': [null, null],
  'parallel one': [null, null],
  'of one': ['one', '1'],
  'parallel two': [null, null],
  'of two': ['two', '0'],
};

const typed = `
import { getPrompt, type MessagesPrompt, PennytraceClient, type Prompt, PromptError, type TextPrompt } from 'pennytrace-client';
import { PromptSpanProcessor } from 'pennytrace-client/opentelemetry';
import { SimpleSpanProcessor, InMemorySpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';

interface ChatMessage { role: 'user' | 'system'; content: string }
declare const complete: (request: { messages: ChatMessage[] }) => Promise<void>;

const chat: MessagesPrompt = await getPrompt('chat', { label: 'staging', fallback: [{ role: 'user', content: '{a}' }] });
await complete({ messages: chat.compile({ a: 1 }) });
const text: TextPrompt = await getPrompt('text', { fallback: { text: 'Hi', config: { model: 'm' } } });
const filled: string = text.compile();
const either: Prompt = await new PennytraceClient({ url: 'https://example.com', cacheSeconds: 5 }).getPrompt('x', { versionIndex: 3 });
const name: string = either.kind === 'text' ? either.text : String(either.messages[0]?.role);
new TracerProvider({ spanProcessors: [new PromptSpanProcessor(), new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })] });
// @ts-expect-error: a text is no list of messages.
const wrong: MessagesPrompt = await getPrompt('x', { fallback: 'text' });
// @ts-expect-error: prompts have names.
await getPrompt(7);
console.log(filled, name, wrong, new PromptError('x').message);
`;

const compilerOptions = {
  module: 'nodenext',
  target: 'es2024',
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  types: ['node'],
};

describe('the package of JavaScript, installed', () => {
  let app: string;
  beforeAll(async () => {
    app = await javascriptApp();
  });

  it('has what it runs, its types, its document and the runner, and brings no other package', () => {
    const installed = join(app, 'node_modules/pennytrace-client');
    expect(readdirSync(installed).toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'dist',
      'evaluate.ts',
      'package.json',
    ]);
    const lock = JSON.parse(readFileSync(join(app, 'package-lock.json'), 'utf8'));
    expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/pennytrace-client']);
    for (const file of readdirSync(join(installed, 'dist')))
      expect(readFileSync(join(installed, 'dist', file), 'utf8'), file).not.toMatch(/from ['"]\.\.\//);
    expect(readFileSync(join(installed, 'LICENSE'), 'utf8')).toBe(
      readFileSync(join(root, 'LICENSE'), 'utf8'),
    );
  });

  it('has types that a strict compiler accepts', async () => {
    writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }));
    writeFileSync(join(app, 'app.ts'), typed);
    const compiled = run(join(root, 'node_modules/.bin/tsc'), ['--singleThreaded'], { cwd: app });
    await expect(compiled.catch(({ stdout }) => ({ stdout }))).resolves.toMatchObject({ stdout: '' });
  });

  it('is loaded by CommonJS, too, and needs no OpenTelemetry', async () => {
    const script = `
      const load = process.getBuiltinModule('module')._load;
      process.getBuiltinModule('module')._load = (name, ...rest) => {
        if (name.startsWith('@opentelemetry')) throw new Error('it is not installed');
        return load(name, ...rest);
      };
      const { getPrompt } = require('pennytrace-client');
      getPrompt('x', { fallback: 'Hi {a}' }).catch(({ message }) => console.log(message));`;
    const env = { PATH: process.env.PATH };
    const { stdout } = await run(process.execPath, ['--eval', script], { cwd: app, env });
    expect(stdout).toBe('set PENNYTRACE_URL, or pass url to the client\n');
  });

  it('marks the model calls that follow a prompt, and the service knows them', async () => {
    const { url, key, project, env } = await prepare('acme/marks-javascript');
    const authorization = `Bearer%20${key}`;
    const { stdout } = await run(process.execPath, ['traces.mjs', `${url}/otel/v1/traces`], {
      cwd: app,
      env: {
        ...process.env,
        ...env,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=${authorization},project_id=${project}`,
      },
    });
    expect(JSON.parse(stdout)).toEqual(marks);
    const { post } = await sharedService();
    const query = { project_id: project, columns: ['op_name', 'attributes.prompt'] };
    const response = await post('/calls/stream_query', query, { headers: { accept: 'application/json' } });
    const calls = (await response.json()) as {
      attributes: { prompt?: { name: string; version?: string } };
    }[];
    const prompts = calls.map(({ attributes: { prompt } }) => [
      prompt?.name ?? null,
      prompt?.version ?? null,
    ]);
    expect(prompts.toSorted()).toEqual(Object.values(marks).toSorted());
  });
});

describe('the package of Python, installed', requires('Python 3 and its registry'), () => {
  let environment: string;
  const python = (args: readonly string[], options: object = {}) =>
    run(join(environment, 'bin/python'), args, { cwd: temporaryFolder(), ...options });
  beforeAll(async () => {
    environment = await pythonEnvironment();
  });

  it('has what it runs, its types and its document, and needs nothing', async () => {
    const script = `
import json
from importlib.metadata import distribution
found = distribution("pennytrace")
print(json.dumps([sorted(str(file) for file in found.files), found.requires, found.metadata["Description"][:12]]))`;
    const { stdout } = await python(['-c', script]);
    const [files, needed, description] = JSON.parse(stdout);
    const own = (files as string[]).filter((file) => !/__pycache__|dist-info/.test(file));
    expect(own).toEqual(
      ['__init__', '_client', '_prompt', 'opentelemetry']
        .map((name) => `pennytrace/${name}.py`)
        .concat('pennytrace/py.typed'),
    );
    expect(files).toContainEqual(expect.stringContaining('licenses/LICENSE'));
    expect(needed).toEqual([expect.stringMatching(/^opentelemetry-sdk.*extra == .opentelemetry.$/)]);
    expect(description).toBe('# pennytrace');
  });

  it('needs no OpenTelemetry', async () => {
    const script = `
import sys
sys.modules["opentelemetry"] = None
from pennytrace import get_prompt
try:
    get_prompt("x", fallback="Hi {a}")
except Exception as error:
    print(error)`;
    const { stdout } = await python(['-c', script], { env: { PATH: process.env.PATH } });
    expect(stdout).toBe('set PENNYTRACE_URL, or pass url to the client\n');
  });

  it('marks the model calls that follow a prompt', async () => {
    const { env } = await prepare('acme/marks-python');
    const program = join(root, 'test/support/clients/traces.py');
    const { stdout } = await python([program], { env: { ...process.env, ...env } });
    // Python's SDK lets nobody mark what says at its end that it is a model call.
    expect(JSON.parse(stdout)).toEqual({ ...marks, late: [null, null], tasks: [null, null] });
  });

  it('goes on in a process that was forked while it asked', async () => {
    const { env } = await prepare('acme/fork');
    const script = `
import os, time
from pennytrace import PennytraceClient
client = PennytraceClient(cache_seconds=0.1)
client.get_prompt("two")
time.sleep(0.2)
with client._lock:
    pid = os.fork()
if pid == 0:
    print(client.get_prompt("two").text, flush=True)
    os._exit(0)
os.waitpid(pid, 0)`;
    const { stdout } = await python(['-c', script], { env: { ...process.env, ...env } });
    expect(stdout).toBe('Other\n');
  });
});
