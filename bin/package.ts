/**
 * `npm pack` runs this before it packs, and with `--restore` afterwards. It builds what the package
 * has into the folder that is packed, and lends it the package's manifest. See docs/construct.md.
 * `--bundles <folder>` has it take bundles that are there, as tests do.
 */

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { buildSync } from 'esbuild';
import { bundle } from '../lib/bundles.ts';
import { everyHandler } from '../lib/features.ts';
import { bundledConstants, getBundle } from '../lib/handlers.ts';
import { addPage, buildPage, pageHandler } from '../lib/page.ts';
import { root as projectRoot } from './common.ts';

/** The fields of the project's manifest that mean something to whoever installs the package. */
const kept = [
  'name',
  'version',
  'description',
  'license',
  'private',
  'type',
  'main',
  'types',
  'exports',
  'files',
  'sideEffects',
  'engines',
  'peerDependencies',
];

type Manifest = Readonly<Record<string, unknown>>;

/**
 * The manifest of the package. What only the bundles import has no place among its dependencies:
 * npm would install it for nothing. `bundled` says which versions they have.
 */
const manifestOfPackage = (own: Manifest): Manifest => ({
  ...Object.fromEntries(kept.flatMap((name) => (name in own ? [[name, own[name]]] : []))),
  bundled: own.dependencies,
});

const manifestIn = (folder: string): string => join(folder, 'package.json');
/** Where the project's manifest waits while npm packs the other. */
const waitingIn = (folder: string): string => join(folder, '.local/package.json');

/** Puts the project's manifest back, if a pack has put another in its place. */
const restoreManifest = (folder: string): void => {
  if (existsSync(waitingIn(folder))) renameSync(waitingIn(folder), manifestIn(folder));
};

/** Puts the package's manifest in the place of the project's, until {@link restoreManifest}. */
const swapManifest = (folder: string): void => {
  const text = readFileSync(manifestIn(folder), 'utf8');
  mkdirSync(dirname(waitingIn(folder)), { recursive: true });
  writeFileSync(waitingIn(folder), text);
  writeFileSync(manifestIn(folder), `${JSON.stringify(manifestOfPackage(JSON.parse(text)), null, 2)}\n`);
};

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
const writeDeclarations = (root: string, outdir: string): void => {
  const all = mkdtempSync(join(tmpdir(), 'pennytrace-types-'));
  try {
    const { status, stdout } = spawnSync(
      join(root, 'node_modules/.bin/tsc'),
      // Two threads would each check most of what the other does.
      ['-p', 'tsconfig.package.json', '--singleThreaded', '--outDir', all],
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

/** The construct as one module, which needs nothing but CDK. */
const buildConstruct = (root: string, outdir: string): void => {
  buildSync({
    absWorkingDir: root,
    entryPoints: { 'lib/index': 'lib/index.ts' },
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    external: ['aws-cdk-lib', 'constructs'],
    legalComments: 'linked',
    logLevel: 'warning',
  });
};

/**
 * Makes the bundles as the package has them.
 *
 * @param root the project's root, an absolute path
 * @param outdir the folder for the bundles, an absolute path
 * @param handlers what is bundled. @default - every handler
 * @throws Error if a handler or the page does not build; esbuild prints where and why
 */
export const makeBundles = async (root: string, outdir: string, handlers = everyHandler): Promise<void> => {
  const bundles = await bundle({ root, handlers, outdir, constants: bundledConstants() });
  rmSync(join(outdir, 'meta.json'));
  if (handlers.includes(pageHandler)) addPage(await buildPage(root), getBundle(bundles, pageHandler));
};

/**
 * Builds what the package has besides its documents: the construct with its declarations, and every
 * handler's bundle.
 *
 * @param root the project's root, an absolute path
 * @param outdir an absolute path; what is there is removed
 * @param bundlesFolder a folder with the bundles. @default - they are made
 * @throws Error if something does not build; esbuild prints where and why
 */
const buildPackage = async (root: string, outdir: string, bundlesFolder?: string): Promise<void> => {
  rmSync(outdir, { recursive: true, force: true });
  buildConstruct(root, outdir);
  writeDeclarations(root, outdir);
  const bundles = join(outdir, 'bundles');
  if (bundlesFolder !== undefined) cpSync(bundlesFolder, bundles, { recursive: true });
  else await makeBundles(root, bundles);
};

if (import.meta.main) {
  const { values } = parseArgs({ options: { restore: { type: 'boolean' }, bundles: { type: 'string' } } });
  const folder = process.cwd();
  restoreManifest(folder);
  if (!values.restore) {
    await buildPackage(projectRoot, join(folder, 'dist'), values.bundles);
    swapManifest(folder);
  }
}
