import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../../support/run/project.ts';
import { requires } from '../../support/run/requirements.ts';

const folder = mkdtempSync(join(tmpdir(), 'lean-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A program that says how it runs. */
const program = join(folder, 'program.mjs');
writeFileSync(
  program,
  'const { pid, execArgv, env, argv } = process;\n' +
    'console.log(JSON.stringify({ pid, arenas: env.MALLOC_ARENA_MAX, flags: execArgv.slice(2), args: argv.slice(2) }));\n',
);

const run = (flags: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
  const lean = join(root, 'local/lean.ts');
  const args = ['--import', lean, ...flags, program, 'one', 'two words'];
  const { pid, stdout, stderr } = spawnSync(process.execPath, args, { env: environment, encoding: 'utf8' });
  return { pid, stderr, said: JSON.parse(stdout) };
};

describe('the service', () => {
  it('starts anew with few arenas, the same id and its arguments', requires('Linux on x64'), () => {
    const { pid, stderr, said } = run([]);
    const flags = ['--max-semi-space-size=4'];
    expect(said).toEqual({ pid, arenas: '2', flags, args: ['one', 'two words'] });
    expect(stderr).toBe('');
  });

  it('keeps what it was told of its memory', requires('Linux on x64'), () => {
    expect(run(['--max-semi-space-size=8']).said.flags).toEqual(['--max-semi-space-size=8']);
    expect(run([], { MALLOC_ARENA_MAX: '7' }).said).toMatchObject({ arenas: '7', flags: [] });
  });
});
