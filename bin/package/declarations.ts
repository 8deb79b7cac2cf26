import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** A module of the project that a declaration imports, by its path from there. */
const relativeImport = /from '(\.{1,2}\/[^']+)\.ts'/g;

/** A declaration and all that it imports, each once. */
const reachable = (file: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(relativeImport))
    reachable(`${join(dirname(file), path)}.d.ts`, seen);
  return seen;
};

/**
 * Writes the declarations that users of the package can see: that of `lib/index.ts`, and those that
 * it imports.
 *
 * @param root the project's root
 * @param outdir where to: `lib/index.d.ts` is below it
 * @throws Error with what the compiler printed
 */
export const writeDeclarations = (root: string, outdir: string): void => {
  const all = mkdtempSync(join(tmpdir(), 'pennytrace-types-'));
  try {
    const { status, stdout } = spawnSync(
      join(root, 'node_modules/.bin/tsc'),
      ['-p', 'tsconfig.package.json', '--outDir', all],
      { cwd: root, encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(`the declarations do not compile:\n${stdout}`);
    for (const file of reachable(join(all, 'lib/index.d.ts'))) {
      const target = join(outdir, relative(all, file));
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(file, target);
    }
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
};
