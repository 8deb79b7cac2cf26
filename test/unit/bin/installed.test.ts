import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../../support/run/project.ts';

const folder = mkdtempSync(join(tmpdir(), 'pennytrace-installed-'));
mkdirSync(join(folder, 'bin'));
cpSync(join(root, 'bin/installed.mjs'), join(folder, 'bin/installed.mjs'));
writeFileSync(join(folder, 'main.mjs'), "console.log('runs');\n");
afterAll(() => rmSync(folder, { recursive: true }));

/** What a script prints that is started as npm scripts are, perhaps by an older Node. */
const start = (version?: string) => {
  const older = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
  const imports = [...(version ? [older] : []), './bin/installed.mjs'].flatMap((module) => [
    '--import',
    module,
  ]);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...imports, 'main.mjs'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

/** Stands for the packages that only development needs. */
const install = () => {
  mkdirSync(join(folder, 'node_modules/node'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/node/package.json'), '{}');
};

describe('an npm script', () => {
  it('says that packages for development are missing', () => {
    const { status, stdout, stderr } = start();
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^the packages for development are missing.*: run npm ci, without --omit=dev\n$/);
  });

  it('says that the Node of npm ci is missing', () => {
    install();
    const { status, stdout, stderr } = start('20.20.2');
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'this is Node 20.20.2, and node_modules has no Node 24: run npm ci, without --ignore-scripts\n',
    );
  });

  it('runs if all is there', () => {
    install();
    expect(start()).toEqual({ status: 0, stdout: 'runs\n', stderr: '' });
  });
});
