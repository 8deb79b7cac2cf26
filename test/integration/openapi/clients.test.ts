import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { generateApi } from 'swagger-typescript-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, temporaryFolder } from '../../support/project.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A program as a user of the generated client writes it. The compiler checks it. */
const program = `
import { Api, type CallOperation } from './client.ts';

const is = (path: string, value: unknown): CallOperation => ({
  $eq: [{ $getField: path }, { $literal: value }],
});

export const run = async (baseUrl: string, authorization: string) => {
  const headers = { authorization, accept: 'application/json' };
  const { call, calls } = new Api({ baseUrl, baseApiParams: { headers } });
  for (const [id, city] of [['one', 'Oslo'], ['two', 'Rome'], ['three', null]] as const) {
    const start = { id, project_id: 'acme/generated', op_name: 'travel', inputs: { city } };
    await call.callStart({ start: { ...start, started_at: '2026-10-01T09:30:00Z' } });
  }
  const { data } = await calls.callsQuery({
    project_id: 'acme/generated',
    query: {
      $expr: {
        $and: [
          is('op_name', 'travel'),
          { $or: [is('inputs.city', null), { $contains: { input: { $getField: 'inputs.city' }, substr: { $literal: 'Os' } } }] },
          { $not: [{ $in: [{ $getField: 'id' }, [{ $literal: 'two' }, { $literal: null }]] }] },
        ],
      },
    },
  });
  return data.map(({ id }) => id);
};
`;

describe('a client that swagger-typescript-api makes of the OpenAPI document', () => {
  it('compiles in strict mode, and queries what its program says', async () => {
    const folder = temporaryFolder();
    const spec = (await (await fetch(`${service.url}/openapi.json`)).json()) as Record<string, never>;
    const { files } = await generateApi({ spec, output: false, silent: true });
    writeFileSync(join(folder, 'client.ts'), files[0]?.fileContent ?? '');
    writeFileSync(join(folder, 'program.ts'), program);
    const options = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions'];
    const wanted = [
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--ignoreConfig',
      join(folder, 'program.ts'),
    ];
    const tsc = join(root, 'node_modules/.bin/tsc');
    const { stdout } = await promisify(execFile)(tsc, [...options, ...wanted], { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');

    const outfile = join(folder, 'program.mjs');
    const entryPoints = [join(folder, 'program.ts')];
    await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' });
    const { run } = (await import(outfile)) as { run: (...args: string[]) => Promise<string[]> };
    const authorization = `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`;
    expect((await run(service.url, authorization)).toSorted()).toEqual(['one', 'three']);
  });
});
