import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BuildOptions, buildSync, type Metafile } from 'esbuild';

interface BundleOptions {
  /** The project's root, an absolute path: it has `lambdas/` and resolves every import. */
  readonly root: string;
  /** The handlers' modules below `lambdas/`, without their extension. */
  readonly handlers: readonly string[];
  /** The folder for the bundles. It is made if it is missing. */
  readonly outdir: string;
  /** Texts of constants that handlers declare but don't define, by name. @default - none */
  readonly constants?: Readonly<Record<string, string>>;
}

/** Where esbuild believes it writes to. Source maps name their sources relative to this folder. */
const virtualOutdir = 'bundles';

/**
 * Packages that are large and seldom needed, and what is used of each. A handler imports them
 * dynamically and finds them beside its bundle. So nothing of them is read before it is needed.
 */
const lazyPackages: Readonly<Record<string, string>> = {
  '@pydantic/genai-prices': '*',
  '@aws-sdk/client-s3': '{ S3Client, GetObjectCommand, PutObjectCommand, DeleteObjectCommand }',
  '@aws-sdk/client-sqs': '{ SQSClient, SendMessageCommand }',
  '@aws-sdk/client-secrets-manager': '{ SecretsManagerClient, GetSecretValueCommand, PutSecretValueCommand }',
};

/** How everything that functions load is bundled. */
const buildOptions: BuildOptions = {
  bundle: true,
  // An ES module that imports a built-in module asks for each of its exports. That loads what they
  // load lazily: all of undici for `node:http`, for a WebSocket that nobody wants.
  // docs/decisions/0140 measured it.
  format: 'cjs',
  platform: 'node',
  target: 'node24',
  // A dynamic import of a built-in module would import it as an ES module again.
  supported: { 'dynamic-import': false },
  // Many packages offer their ES modules only here, and only those can be tree-shaken.
  mainFields: ['module', 'main'],
  // The SDK looks for credentials in files, SSO, processes and instance metadata, with code that is
  // 135 KB and 15 ms of every cold start.
  alias: { '@aws-sdk/credential-provider-node': './core/foundations/storage/credentials.ts' },
  minify: true,
  sourcemap: true,
  // A stack trace needs the mapping alone. The texts would be most of what a cold start reads.
  sourcesContent: false,
  legalComments: 'none',
  metafile: true,
  outExtension: { '.js': '.cjs' },
  logLevel: 'warning',
  external: Object.keys(lazyPackages),
};

/** The lazy packages that a handler's bundle imports. */
const lazyImports = (metafile: Metafile | undefined, handler: string): string[] => {
  const imports = metafile?.outputs[`${virtualOutdir}/${handler}/index.cjs`]?.imports ?? [];
  return Object.keys(lazyPackages).filter((name) => imports.some(({ path }) => path === name));
};

/** A lazy package as one file, and what went into it. */
interface PackageBundle {
  readonly contents: Uint8Array;
  readonly account: Metafile['outputs'][string] | undefined;
}

const packageBundle = (root: string, name: string): PackageBundle => {
  const { outputFiles, metafile } = buildSync({
    ...buildOptions,
    external: [],
    sourcemap: false,
    absWorkingDir: root,
    stdin: { contents: `export ${lazyPackages[name]} from '${name}';`, resolveDir: root },
    write: false,
  });
  const [file] = outputFiles;
  if (!file) throw new Error(`esbuild made nothing of ${name}`);
  return { contents: file.contents, account: Object.values(metafile?.outputs ?? {})[0] };
};

/**
 * Puts lazy packages beside the bundles that import them, where Node looks for them. Each is
 * bundled once.
 *
 * @returns esbuild's account of each
 */
const addPackages = (
  root: string,
  outdir: string,
  importers: ReadonlyMap<string, readonly string[]>,
): Metafile['outputs'] => {
  const packages = new Map<string, PackageBundle>();
  for (const [handler, names] of importers) {
    for (const name of names) {
      const made = packages.get(name) ?? packageBundle(root, name);
      packages.set(name, made);
      const folder = join(outdir, handler, 'node_modules', name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'index.cjs'), made.contents);
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, exports: './index.cjs' }));
    }
  }
  return Object.fromEntries(
    [...packages].flatMap(([name, { account }]) =>
      account ? [[`${virtualOutdir}/node_modules/${name}/index.cjs`, account]] : [],
    ),
  );
};

/**
 * Bundles every handler with all that it imports, in one esbuild run. Each has a folder with
 * `index.cjs` and `index.cjs.map`, and `node_modules` if it imports lazy packages. esbuild's
 * account of the bundles is `meta.json` in `outdir`. Bundles depend on the sources alone, not on
 * where the project or `outdir` is.
 *
 * @returns each handler's folder, an absolute path if `outdir` is one
 * @throws Error if a handler does not build; esbuild prints where and why
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
  const importers = new Map(handlers.map((handler) => [handler, lazyImports(metafile, handler)]));
  const outputs = { ...metafile?.outputs, ...addPackages(root, outdir, importers) };
  writeFileSync(join(outdir, 'meta.json'), JSON.stringify({ ...metafile, outputs }));
  return new Map(handlers.map((handler) => [handler, join(outdir, handler)]));
};
