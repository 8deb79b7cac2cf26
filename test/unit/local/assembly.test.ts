import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { getHandlers } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import { requireHandlers } from '../../../lib/bundles.ts';
import { assemble, sources } from '../../../local/assembly.ts';

const root = resolve(import.meta.dirname, '../../..');
const scratch = mkdtempSync(join(tmpdir(), 'pennytrace-kept-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const emptyFolder = (): string => mkdtempSync(join(scratch, 'folder-'));

/** Stacks of one file each that counts them, and the number of stacks made so far. */
const maker = () => {
  let made = 0;
  const make = async (outdir: string): Promise<void> => {
    made++;
    writeFileSync(join(outdir, 'stack'), `${made}`);
  };
  return { make, count: () => made };
};

const stackIn = (folder: string): string => readFileSync(join(folder, 'stack'), 'utf8');

describe('a stack for a local start', () => {
  it('is made once for the same settings', async () => {
    const folder = emptyFolder();
    const { make, count } = maker();
    const made: string[] = [];
    for (const settings of [{}, {}, { shards: 8 }, {}, { shards: 8 }]) {
      const outdir = emptyFolder();
      await assemble(outdir, settings, undefined, { folder, make });
      made.push(stackIn(outdir));
    }
    expect(made).toEqual(['1', '1', '2', '1', '2']);
    expect(count()).toBe(2);
  });

  it('is also kept if another app made it, which itself makes its own', async () => {
    const folder = emptyFolder();
    const { make, count } = maker();
    const options = { folder, make, program: 'bin/keys.ts' };
    await assemble(emptyFolder(), {}, undefined, options);
    await assemble(emptyFolder(), {}, undefined, options);
    const outdir = emptyFolder();
    await assemble(outdir, {}, undefined, { folder, make });
    expect([stackIn(outdir), count()]).toEqual(['1', 1]);
    await assemble(emptyFolder(), {}, undefined, { ...options, program: 'bin/cost.ts' });
    expect(count()).toBe(2);
  });

  it('shares its files with those that were made from the same', async () => {
    const folder = emptyFolder();
    const outdirs = [emptyFolder(), emptyFolder()];
    const make = async (outdir: string) => {
      mkdirSync(join(outdir, 'bundles/a'), { recursive: true });
      writeFileSync(join(outdir, 'bundles/a/index.cjs'), '// a');
    };
    for (const outdir of outdirs) await assemble(outdir, {}, undefined, { folder, make });
    const [one, other] = outdirs.map((outdir) => statSync(join(outdir, 'bundles/a/index.cjs')).ino);
    expect(other).toBe(one);
    for (const outdir of outdirs) rmSync(outdir, { recursive: true });
    const later = emptyFolder();
    await assemble(later, {}, undefined, { folder, make: () => Promise.reject(new Error('made again')) });
    expect(readFileSync(join(later, 'bundles/a/index.cjs'), 'utf8')).toBe('// a');
  });

  it('is not kept if it could not be made', async () => {
    const folder = emptyFolder();
    const make = () => Promise.reject(new Error('no stack'));
    await expect(assemble(emptyFolder(), {}, undefined, { folder, make })).rejects.toThrow('no stack');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is made where none can be kept', async () => {
    const folder = join(emptyFolder(), 'file');
    writeFileSync(folder, '');
    const outdir = emptyFolder();
    await assemble(outdir, {}, undefined, { folder, make: maker().make });
    expect(stackIn(outdir)).toBe('1');
  });

  it('takes the place of the one that was not used for longest', async () => {
    const folder = emptyFolder();
    for (let age = 1; age <= 9; age++) {
      const old = join(folder, `old-${age}`);
      mkdirSync(old);
      utimesSync(old, 1000 - age, 1000 - age);
    }
    await assemble(emptyFolder(), {}, undefined, { folder, make: maker().make });
    const [digest, ...others] = readdirSync(folder).sort();
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(others).toEqual([1, 2, 3, 4, 5, 6, 7].map((age) => `old-${age}`));
  });

  it('is made anew after a change to any file that it is made from', () => {
    requireHandlers(root, getHandlers(routes));
    const { metafile } = buildSync({
      absWorkingDir: root,
      entryPoints: [
        'bin/pennytrace.ts',
        ...getHandlers(routes).map((handler) => `lambdas/endpoints/${handler}.ts`),
      ],
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      metafile: true,
      write: false,
      outdir: 'none',
    });
    const inputs = Object.keys(metafile.inputs);
    expect(inputs).toEqual(expect.arrayContaining(['lib/app.ts', 'core/records/calls/write.ts']));
    const counts = (path: string) =>
      sources.some((source) => path === source || path.startsWith(`${source}/`));
    expect(inputs.filter((path) => !counts(path))).toEqual([]);
  });
});
