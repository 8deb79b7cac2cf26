import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { headerFormat } from '../../../core/records/calls/header-format.ts';
import { tables } from '../../../foundations/storage/tables.ts';
import { root, temporaryFolder } from '../../support/run/project.ts';

const run = promisify(execFile);

/** What a copy of the project does not need. */
const left = new Set(['.git', 'node_modules', 'cdk.out', 'dist', 'coverage', 'otel', 'pictures']);

/** A copy of the project, with the packages that are installed here. */
const copyProject = (): string => {
  const folder = join(temporaryFolder(), 'pennytrace');
  mkdirSync(folder);
  cpSync(root, folder, {
    recursive: true,
    filter: (path) =>
      !relative(root, path)
        .split('/')
        .some((name) => left.has(name)),
  });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
};

/** The command of the recipe in CONTRIBUTING.md, for another version. */
const readCommand = (version: string): string => {
  const recipe = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const command = /`npm (version) \d+\.\d+\.\d+ ([^`]+)`/.exec(recipe);
  if (!command) throw new Error('CONTRIBUTING.md has no npm version');
  return `${command[1]} ${version} ${command[2]}`;
};

describe('the recipe of a release', () => {
  const folder = copyProject();
  const text = (path: string) => readFileSync(join(folder, path), 'utf8');
  const release = (version: string) =>
    run('npm', [...readCommand(version).split(' '), '--offline', '--cache', join(folder, 'cache')], {
      cwd: folder,
      timeout: 120_000,
    });
  const upgradeTests = ['test/unit/foundations/storage/upgrade.test.ts', 'header-format'];
  const compare = () =>
    run('npx', ['vitest', 'run', '--project', 'unit', ...upgradeTests], {
      cwd: folder,
      timeout: 240_000,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    });
  const own: string = JSON.parse(text('package.json')).version;

  it('takes the version that package.json has already, as for the first release', async () => {
    await release(own);
    const released = JSON.parse(text('foundations/storage/released.json'));
    expect(released).toEqual(JSON.parse(JSON.stringify({ version: own, tables, headers: headerFormat() })));
  }, 150_000);

  it('names the next version everywhere, and keeps its tables and formats to compare with', async () => {
    await release('9.8.7');
    for (const path of ['package.json', 'package-lock.json', 'foundations/storage/released.json'])
      expect(JSON.parse(text(path)).version).toBe('9.8.7');
    expect(text('docs/api.md')).toContain('9.8.7');
    expect(text('docs/construct.md')).toContain('pennytrace-9.8.7.tgz');
    expect(text('api/service.ts')).toContain("version: '9.8.7'");
    expect(existsSync(join(folder, 'node_modules/vitest'))).toBe(true);
  }, 150_000);

  it('has later versions compared with it', async () => {
    const declared = text('foundations/storage/tables.ts');
    writeFileSync(
      join(folder, 'foundations/storage/tables.ts'),
      declared.replace("stream: 'NEW_AND_OLD_IMAGES'", "stream: 'KEYS_ONLY'"),
    );
    const words = text('core/records/calls/header-format.ts');
    writeFileSync(
      join(folder, 'core/records/calls/header-format.ts'),
      words.replace("'descendant_error']", "'descendant_error', 'success']"),
    );
    const { stdout, stderr } = await compare().catch((error: { stdout: string; stderr: string }) => error);
    expect(stdout).toMatch(/× a stack of the last release can be updated to this one/);
    expect(stdout).toMatch(/× functions of the last release and of this one read each other/);
    expect(stderr).toContain('calls has another stream');
    expect(stderr).toContain('statuses has 4 that are written, of which the last release reads 3');
  }, 500_000);
});
