import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FileSystem } from 'aws-cdk-lib';
import type { Metafile } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { getHandlers } from '../../../api/endpoint.ts';
import { allRoutes } from '../../../api/routes.ts';
import { bundle } from '../../../lib/bundles.ts';
import { everyHandler } from '../../../lib/features.ts';
import { redactionModule } from '../../../lib/handlers.ts';
import { root, temporaryFolder } from '../../support/run/project.ts';
import { json, startUpstream } from '../../support/service/upstream.ts';
import { bundlesFolder } from '../../support/stack/assembly.ts';

describe('the bundles of the handlers', () => {
  const outdir = bundlesFolder();
  const handlers = everyHandler.filter((handler) => handler !== redactionModule);
  const metafile: Metafile = JSON.parse(readFileSync(join(outdir, 'meta.json'), 'utf8'));
  const text = (handler: string, file: string) => readFileSync(join(outdir, handler, file), 'utf8');

  const names = [
    'CALLS_TABLE',
    'OBJECTS_TABLE',
    'COSTS_TABLE',
    'FEEDBACK_TABLE',
    'BOOKKEEPING_TABLE',
    'KEYS_TABLE',
    'PAYLOADS_BUCKET',
    'EVENT_BUS',
    'DEAD_LETTERS',
    'EVALUATIONS_QUEUE',
    'MAX_RECEIVES',
    'LEASES_OF_PROJECT',
    'ALERT_TOPIC',
    'WEBHOOKS_PREFIX',
    'SERVICE_URL',
    'ANALYTICS_BUCKET',
  ];
  const env = {
    ...Object.fromEntries(names.map((name) => [name, name.toLowerCase()])),
    SHARDS: '4',
    AWS_REGION: 'us-east-1',
  };
  /** Runs a script where the bundles are, as a function would run, and parses what it prints. */
  const run = (script: string): unknown => {
    const asLambda = `globalThis.awslambda = { streamifyResponse: (handle) => handle };${script}`;
    const options = ['--expose-gc', '--eval', asLambda];
    return JSON.parse(execFileSync(process.execPath, options, { cwd: outdir, env, encoding: 'utf8' }));
  };

  it('export one handler each, loaded as Lambda loads them', () => {
    const loaded = run(`
      const loaded = ${JSON.stringify(handlers)}.map((handler) => require('./' + handler + '/index.cjs'));
      console.log(JSON.stringify(loaded.map((exports) => [Object.keys(exports), typeof exports.handler])));`);
    expect(loaded).toEqual(handlers.map(() => [['handler'], 'function']));
  });

  it('bring nothing of redaction, which lies beside them where there is the setting', () => {
    const outputs = Object.entries(metafile.outputs).filter(([file]) => file.endsWith('.cjs'));
    const having = outputs.flatMap(([file, { inputs }]) =>
      Object.keys(inputs).some((input) => /foundations\/redaction\/(?:builtins|redactor)/.test(input))
        ? [file]
        : [],
    );
    expect(having).toEqual([`bundles/${redactionModule}/index.cjs`]);
  });

  /** What is in memory with a handler: parts of Node, and MB of objects. */
  const inMemory = (load: string) =>
    run(`
      ${load}
      gc();
      const { used_heap_size } = require('node:v8').getHeapStatistics();
      console.log(JSON.stringify({ parts: process.moduleLoadList.length, mb: used_heap_size / 1e6 }));`) as {
      parts: number;
      mb: number;
    };

  // Times vary with whatever else a machine does: the bench has them, at most 2.5 times those of an
  // empty handler. What a handler makes while it loads does not vary.
  it('load little: the largest makes at most 5 MB of objects, and loads at most 90 parts of Node', () => {
    const bytes = (handler: string) => text(handler, 'index.cjs').length;
    const [largest = ''] = handlers.toSorted((one, other) => bytes(other) - bytes(one));
    const empty = inMemory('');
    const loaded = inMemory(`require('./${largest}/index.cjs');`);
    expect(loaded.parts - empty.parts).toBeLessThanOrEqual(90);
    expect(loaded.mb - empty.mb).toBeLessThanOrEqual(5);
    expect(loaded.mb - empty.mb).toBeGreaterThan(1);
  });

  it('are small: at most 600 KB, Weave’s door with all its endpoints at most 825, the authorizer at most 250', () => {
    const sizes = handlers.map((handler) => [handler, text(handler, 'index.cjs').length] as const);
    expect(sizes.filter(([, bytes]) => bytes > 600_000)).toEqual([['weave', expect.any(Number)]]);
    expect(text('weave', 'index.cjs').length).toBeLessThan(825_000);
    expect(text('authorizer', 'index.cjs').length).toBeLessThan(250_000);
  });

  it('bring no client of a store where the endpoint has no stores', () => {
    const bringsClient = (handler: string) =>
      Object.keys(metafile.outputs[`bundles/${handler}/index.cjs`]?.inputs ?? {}).some((input) =>
        input.startsWith('node_modules/@aws-sdk/client-dynamodb/'),
      );
    const withoutStores = allRoutes.filter(({ stores }) => Object.keys(stores).length === 0);
    expect(withoutStores.map(({ path }) => path)).toContain('/otel/v1/metrics');
    expect(getHandlers(withoutStores).filter(bringsClient)).toEqual([]);
    expect(bringsClient('otel/v1/traces')).toBe(true);
  });

  it.each(handlers)('load no part of Node in %s that loads what nobody needs', (handler) => {
    // An ES module's import of a built-in module runs all its getters.
    expect(text(handler, 'index.cjs')).not.toMatch(/\bimport\(/);
  });

  it.each(handlers)('let %s import nothing that Node does not have', (handler) => {
    const imports = metafile.outputs[`bundles/${handler}/index.cjs`]?.imports.map(({ path }) => path) ?? [];
    // Or what lies beside it.
    const beside = (path: string) => existsSync(join(outdir, handler, 'node_modules', path, 'package.json'));
    expect(imports.filter((path) => !isBuiltin(path) && !beside(path))).toEqual([]);
    expect(text(handler, 'index.cjs')).not.toContain('Dynamic require of');
  });

  it('have what their threads run, and its packages, beside those that start one', () => {
    const having = handlers.filter((handler) => existsSync(join(outdir, handler, 'check-thread.cjs')));
    expect(having.toSorted()).toEqual(['calls/score', 'judge', 'weave']);
    for (const handler of having)
      for (const name of ['re2js', '@cfworker/json-schema'])
        expect(existsSync(join(outdir, handler, 'node_modules', name, 'index.cjs'))).toBe(true);
  });

  it('read a key with the client of Secrets Manager that lies beside them', async () => {
    await using secrets = await startUpstream();
    secrets.behave(json({ SecretString: 'the key' }));
    const script = `
      const { SecretsManagerClient, GetSecretValueCommand } = require('@aws-sdk/client-secrets-manager');
      new SecretsManagerClient({}).send(new GetSecretValueCommand({ SecretId: 'openai' }))
        .then(({ SecretString }) => console.log(SecretString));`;
    const env = {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'role',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_ENDPOINT_URL: new URL(secrets.baseUrl).origin,
    };
    const cwd = join(outdir, 'inference/v1');
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], { cwd, env });
    expect(stdout).toBe('the key\n');
    expect(secrets.requests).toMatchObject([
      {
        headers: {
          'x-amz-target': 'secretsmanager.GetSecretValue',
          authorization: expect.stringContaining('Credential=role/'),
        },
        text: '{"SecretId":"openai"}',
      },
    ]);
  });

  it.each(handlers)('map the stack traces of %s to its sources, without their texts', (handler) => {
    expect(text(handler, 'index.cjs')).toMatch(/\/\/# sourceMappingURL=index\.cjs\.map\s*$/);
    const map = JSON.parse(text(handler, 'index.cjs.map'));
    expect(map.sources).toContainEqual(expect.stringMatching(`^(../)+lambdas/[a-z]+/${handler}.ts$`));
    expect(map).not.toHaveProperty('sourcesContent');
  });
});

describe('bundling', () => {
  /** A project of one handler, in a folder of its own. */
  const project = (source: string): string => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'lambdas/endpoints/call'), { recursive: true });
    mkdirSync(join(folder, 'core'));
    writeFileSync(
      join(folder, 'core/greet.ts'),
      "export const greet = (name: string) => 'Hello '.concat(name);\n",
    );
    writeFileSync(join(folder, 'lambdas/endpoints/call/start.ts'), source);
    return folder;
  };
  const fingerprint = async (projectRoot: string): Promise<string> => {
    const outdir = temporaryFolder();
    await bundle({ root: projectRoot, handlers: ['call/start'], outdir });
    return FileSystem.fingerprint(join(outdir, 'call/start'));
  };
  const source =
    "import { greet } from '../../../core/greet.ts';\nexport const handler = () => greet('you');\n";

  it('gives the same bytes wherever the project and its output lie', async () => {
    const first = project(source);
    const copy = join(temporaryFolder(), 'deeper', 'down');
    cpSync(first, copy, { recursive: true });
    expect(await fingerprint(copy)).toBe(await fingerprint(first));
  });

  it('gives other bytes for another source', async () => {
    const other = await fingerprint(project(source.replace('you', 'us')));
    expect(other).not.toBe(await fingerprint(project(source)));
  });

  it('leaves out what a handler does not use', async () => {
    const folder = project(source);
    writeFileSync(
      join(folder, 'core/greet.ts'),
      "export const greet = () => 'x';\nexport const part = 'unused';\n",
    );
    const outdir = temporaryFolder();
    await bundle({ root: folder, handlers: ['call/start'], outdir });
    expect(readFileSync(join(outdir, 'call/start/index.cjs'), 'utf8')).not.toContain('unused');
  });

  it('puts a lazy package beside the handlers that import it, which find it when they need it', async () => {
    const lazy = project(
      "export const handler = async () => (await import('@pydantic/genai-prices')).calcPrice({ input_tokens: 1e6 }, 'gpt-4o').total_price;\n",
    );
    symlinkSync(join(root, 'node_modules'), join(lazy, 'node_modules'));
    writeFileSync(join(lazy, 'lambdas/endpoints/call/end.ts'), source);
    const outdir = temporaryFolder();
    const handlers = ['call/start', 'call/end'];
    const folders = await bundle({ root: lazy, handlers, outdir });
    expect([...folders]).toEqual(handlers.map((handler) => [handler, join(outdir, handler)]));
    const folder = join(outdir, 'call/start');
    expect(statSync(join(folder, 'index.cjs')).size).toBeLessThan(1000);
    expect(existsSync(join(outdir, 'call/end/node_modules'))).toBe(false);
    // In a Node of its own, as it will be: vitest resolves imports its own way.
    const script = `require('./index.cjs').handler().then(console.log);`;
    const run = ['--eval', script];
    expect(execFileSync(process.execPath, run, { cwd: folder, encoding: 'utf8' })).toBe('2.5\n');
  });

  it('fails where a handler imports what is not there, says so, and writes nothing', () => {
    const outdir = join(temporaryFolder(), 'out');
    const folder = project("export { handler } from './missing.ts';\n");
    const options = JSON.stringify({ root: folder, handlers: ['call/start'], outdir });
    const module = JSON.stringify(join(root, 'lib/bundles.ts'));
    // In a process of its own: esbuild writes past this one to its standard error.
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', `import { bundle } from ${module}; await bundle(${options});`],
      { encoding: 'utf8' },
    );
    expect(status).toBe(1);
    expect(stderr).toMatch(/Could not resolve "\.\/missing\.ts"[\s\S]*lambdas\/endpoints\/call\/start\.ts:1/);
    expect(existsSync(outdir)).toBe(false);
  });
});
