import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { root, temporaryFolder } from '../../../support/run/project.ts';
import { type SharedService, sharedService } from '../../../support/service/service.ts';

const run = promisify(execFile);
/** What `test/clients` depends on. */
const clients = createRequire(join(root, 'test/clients/package.json'));
/** The folder of one of its packages, wherever npm has put it. */
const packageFolder = (name: string): string => dirname(clients.resolve(`${name}/package.json`));

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

/** The query of both programs: operators, operands, a null and an operator in a list. */
const query = `{
  $expr: {
    $and: [
      is('op_name', 'travel'),
      { $or: [is('inputs.city', null), { $contains: { input: { $getField: 'inputs.city' }, substr: { $literal: 'Os' } } }] },
      { $not: [{ $in: [{ $getField: 'id' }, [{ $literal: 'two' }, { $literal: null }]] }] },
    ],
  },
}`;

const calls = `[['one', 'Oslo'], ['two', 'Rome'], ['three', null]] as const`;

/** A program for a generator's client as a user writes it. The compiler checks it. */
const programs = {
  swagger: `
import { Api, type CallOperation } from './client.ts';

const is = (path: string, value: unknown): CallOperation => ({
  $eq: [{ $getField: path }, { $literal: value }],
});

export const run = async (baseUrl: string, authorization: string, project_id: string) => {
  const headers = { authorization, accept: 'application/json' };
  const { call, calls } = new Api({ baseUrl, baseApiParams: { headers } });
  for (const [id, city] of ${calls}) {
    const start = { id, project_id, op_name: 'travel', inputs: { city } };
    await call.callStart({ start: { ...start, started_at: '2026-10-01T09:30:00Z' } });
  }
  const { data } = await calls.callsQuery({ project_id, query: ${query} });
  return data.map(({ id }) => id);
};
`,
  openapiTypescript: `
import createClient from 'openapi-fetch';
import type { components, paths } from './client.d.ts';

const is = (path: string, value: unknown): components['schemas']['CallOperation'] => ({
  $eq: [{ $getField: path }, { $literal: value }],
});

export const run = async (baseUrl: string, authorization: string, project_id: string) => {
  const client = createClient<paths, 'application/json'>({ baseUrl, headers: { authorization } });
  for (const [id, city] of ${calls}) {
    const start = { id, project_id, op_name: 'travel', inputs: { city } };
    await client.POST('/call/start', { body: { start: { ...start, started_at: '2026-10-01T09:30:00Z' } } });
  }
  const { data } = await client.POST('/calls/stream_query', {
    body: { project_id, query: ${query} },
    headers: { accept: 'application/json' },
  });
  return data?.map(({ id }) => id);
};
`,
};

/** Compiles a program beside its client in strict mode. */
const compile = async (folder: string): Promise<string> => {
  const options = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions'];
  const target = ['--module', 'nodenext', '--target', 'es2024', '--ignoreConfig'];
  const tsc = join(root, 'node_modules/.bin/tsc');
  const compiled = run(tsc, [...options, ...target, join(folder, 'program.ts')], { cwd: folder });
  return (await compiled.catch((error: { stdout: string }) => error)).stdout;
};

/** Bundles a program and runs it: the ids that its query finds. */
const runProgram = async (folder: string, project: string): Promise<string[]> => {
  const outfile = join(folder, 'program.mjs');
  const entryPoints = [join(folder, 'program.ts')];
  const options = { bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' } as const;
  await build({ ...options, entryPoints, outfile });
  const program = (await import(outfile)) as { run: (...args: string[]) => Promise<string[]> };
  const authorization = `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`;
  return (await program.run(service.url, authorization, project)).toSorted();
};

describe('a client that is generated from the OpenAPI document', () => {
  it('queries what its program says, by swagger-typescript-api', async () => {
    const folder = temporaryFolder();
    // It loads a TypeScript compiler and takes 700 MB, which this process would keep.
    const generator = join(root, 'node_modules/.bin/swagger-typescript-api');
    const output = ['--output', folder, '--name', 'client.ts', '--silent'];
    await run(generator, ['generate', '--path', `${service.url}/openapi.json`, ...output]);
    writeFileSync(join(folder, 'program.ts'), programs.swagger);
    expect(await compile(folder)).toBe('');
    expect(await runProgram(folder, 'acme/generated')).toEqual(['one', 'three']);
  });

  it('queries what its program says, by openapi-typescript and openapi-fetch', async () => {
    const folder = temporaryFolder();
    await mkdir(join(folder, 'node_modules'));
    await symlink(packageFolder('openapi-fetch'), join(folder, 'node_modules/openapi-fetch'));
    const generator = join(packageFolder('openapi-typescript'), 'bin/cli.js');
    await run(process.execPath, [
      generator,
      `${service.url}/openapi.json`,
      '-o',
      join(folder, 'client.d.ts'),
    ]);
    writeFileSync(join(folder, 'program.ts'), programs.openapiTypescript);
    expect(await compile(folder)).toBe('');
    expect(await runProgram(folder, 'acme/generated-types')).toEqual(['one', 'three']);
  });
});
