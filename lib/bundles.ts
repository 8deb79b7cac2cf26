import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BuildOptions, buildSync, type Metafile } from 'esbuild';

/** What to bundle, and where to. */
export interface BundleOptions {
  /** The project's root, an absolute path: it has `lambdas/` and resolves every import. */
  readonly root: string;
  /** The handlers' modules below `lambdas/`, without their extension. */
  readonly handlers: readonly string[];
  /** The folder that the bundles are written to; made if missing. */
  readonly outdir: string;
  /** Texts that stand in for the names of constants which handlers declare and nothing defines, by those names. @default - none */
  readonly constants?: Readonly<Record<string, string>>;
}

/** Where esbuild believes it writes to: source maps name their sources relative to this, never to `outdir`. */
const virtualOutdir = 'bundles';

/**
 * Packages that are large and seldom needed. A handler imports them dynamically and finds them beside its bundle, not in it: nothing of them is
 * read before they are.
 */
const lazyPackages: readonly string[] = ['@pydantic/genai-prices'];

const buildOptions: BuildOptions = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Many packages offer their ES modules only here, and only those can be tree-shaken.
  mainFields: ['module', 'main'],
  // The SDK's default goes through a dozen sources of credentials; a function's are in its environment.
  alias: { '@aws-sdk/credential-provider-node': './core/storage/environment-credentials.ts' },
  minify: true,
  sourcemap: true,
  // A stack trace needs the mapping alone; the texts would be most of what a cold start reads.
  sourcesContent: false,
  legalComments: 'none',
  metafile: true,
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
  external: [...lazyPackages],
};

/** The lazy packages that a handler's bundle imports. */
const lazyImports = (metafile: Metafile | undefined, handler: string): string[] => {
  const imports = metafile?.outputs[`${virtualOutdir}/${handler}/index.mjs`]?.imports ?? [];
  return lazyPackages.filter((name) => imports.some(({ path }) => path === name));
};

/** Bundles a lazy package into a folder of its own below `folder`, where Node looks for it. */
const bundlePackage = (root: string, name: string, folder: string): void => {
  const target = join(folder, 'node_modules', name);
  buildSync({
    ...buildOptions,
    external: [],
    sourcemap: false,
    absWorkingDir: root,
    stdin: { contents: `export * from '${name}';`, resolveDir: root },
    outfile: join(target, 'index.mjs'),
  });
  writeFileSync(join(target, 'package.json'), JSON.stringify({ name, exports: './index.mjs' }));
};

/**
 * Bundles every handler with all that it imports, in one esbuild run: a folder each, with `index.mjs` and
 * `index.mjs.map`, and `node_modules` where it imports lazy packages. esbuild's account of what went into them is written beside, as `meta.json`. The bundles
 * depend on the sources alone, not on where the project or `outdir` lie.
 *
 * @returns each handler's folder, an absolute path if `outdir` is one
 * @throws Error when a handler does not build; esbuild prints where and why
 */
export const bundle = ({
  root,
  handlers,
  outdir,
  constants = {},
}: BundleOptions): ReadonlyMap<string, string> => {
  const { outputFiles = [], metafile } = buildSync({
    ...buildOptions,
    absWorkingDir: root,
    define: Object.fromEntries(Object.entries(constants).map(([name, text]) => [name, JSON.stringify(text)])),
    entryPoints: handlers.map((handler) => ({ in: `lambdas/${handler}.ts`, out: `${handler}/index` })),
    outdir: virtualOutdir,
    write: false,
  });
  for (const { path, contents } of outputFiles) {
    const target = join(outdir, path.slice(join(root, virtualOutdir).length));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, contents);
  }
  for (const handler of handlers) {
    for (const name of lazyImports(metafile, handler)) bundlePackage(root, name, join(outdir, handler));
  }
  writeFileSync(join(outdir, 'meta.json'), JSON.stringify(metafile));
  return new Map(handlers.map((handler) => [handler, join(outdir, handler)]));
};
