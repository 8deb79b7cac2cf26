import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { allRoutes } from '../api/routes.ts';

interface BundleOptions {
  /** The project's root, an absolute path: it has `lambdas/` and resolves every import. */
  readonly root: string;
  /** The handlers, each by its name: {@link findModule} finds its module. */
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
  '@modelcontextprotocol/server':
    '{ Server, ProtocolError, ProtocolErrorCode, createMcpHandler, isLegacyRequest, WebStandardStreamableHTTPServerTransport }',
  '@pydantic/genai-prices': '*',
  '@aws-sdk/client-s3':
    '{ S3Client, GetObjectCommand, PutObjectCommand, DeleteObjectCommand, ListObjectsV2Command, PutObjectTaggingCommand }',
  '@smithy/core/event-streams':
    '{ EventStreamCodec, EventStreamSerde, eventStreamSerdeProvider, getChunkedStream }',
  '@aws-sdk/client-sqs':
    '{ SQSClient, SendMessageCommand, SendMessageBatchCommand, GetQueueAttributesCommand }',
  '@cfworker/json-schema': '{ Validator, format }',
  jose: '{ createLocalJWKSet, jwtVerify }',
  re2js: '{ RE2JS }',
  '@aws-sdk/client-secrets-manager': '{ SecretsManagerClient, GetSecretValueCommand, PutSecretValueCommand }',
};

/**
 * What threads of functions run, by the module that starts the thread from a file beside itself. A
 * handler with that module finds the file beside its bundle.
 */
const threads: Readonly<Record<string, string>> = {
  'core/workers/evaluators/check-runner.ts': 'core/workers/evaluators/check-thread.ts',
};

/** All that an expression's first group finds in a file. */
const found = (file: string, expression: RegExp): string[] =>
  [...readFileSync(file, 'utf8').matchAll(expression)].map(([, group]) => String(group));

const ownFolder = join(import.meta.dirname, '..');

/** The operations that functions ask DynamoDB for, as `lib-dynamodb` names them: by themselves, and page by page. */
const operations = () => {
  const inSources = (expression: RegExp) =>
    globSync('foundations/**/*.ts', { cwd: ownFolder }).flatMap((file) =>
      found(join(ownFolder, file), expression),
    );
  const paged = inSources(/\bpaginate([A-Z]\w+)\b/g);
  return { paged, all: [...inSources(/\b([A-Z]\w+)Command\b/g), ...paged] };
};

/** The commands that DynamoDB's client has for these, and the errors that they throw. */
const usedOfClient = (client: string): { commands: string[]; errors: string[] } => {
  const wrappers = globSync(`../lib-dynamodb/dist-es/commands/{${operations().all}}Command.js`, {
    cwd: client,
  });
  const commands = wrappers.flatMap((wrapper) =>
    found(join(client, wrapper), /import \{ (\w+) as \w+ \} from "@aws-sdk\/client-dynamodb"/g),
  );
  const errors = commands.flatMap((name) =>
    found(join(client, `dist-types/commands/${name}.d.ts`), /@throws \{@link (\w+)\}/g),
  );
  return { commands, errors: [...new Set(errors)].filter((name) => name !== 'DynamoDBServiceException') };
};

const passOn = (modules: readonly string[]): string =>
  modules.map((module) => `export * from ${JSON.stringify(module)};\n`).join('');

/**
 * Leaves out what nothing imports of DynamoDB's clients: operations on tables, backups and exports, with their shapes
 * and errors. In a bundle that imports its own parts dynamically, esbuild keeps all that a module passes on from others.
 */
const usedOfDynamoDb: Plugin = {
  name: 'used-of-dynamodb',
  setup: ({ onLoad }) => {
    onLoad({ filter: /lib-dynamodb.dist-es.commands.index\.js$/ }, ({ path }) => {
      const wrappers = globSync(`{${operations().all}}Command.js`, { cwd: dirname(path) });
      return { contents: passOn(wrappers.map((wrapper) => `./${wrapper}`)) };
    });
    onLoad({ filter: /lib-dynamodb.dist-es.pagination.index\.js$/ }, () => ({
      contents: passOn(operations().paged.map((name) => `./${name}Paginator`)),
    }));
    onLoad({ filter: /lib-dynamodb.dist-es.index\.js$/ }, () => ({
      contents: `${passOn(['./commands', './pagination', './DynamoDBDocumentClient'])}export { NumberValueImpl as NumberValue } from "@aws-sdk/util-dynamodb";`,
    }));
    onLoad({ filter: /client-dynamodb.dist-es.index\.js$/ }, ({ path }) => {
      const { commands, errors } = usedOfClient(join(dirname(path), '..'));
      const modules = ['./DynamoDBClient', ...commands.map((name) => `./commands/${name}`)];
      return {
        contents: `${passOn(modules)}export { ${errors.join(', ')} } from ${JSON.stringify('./models/errors')};`,
      };
    });
    // Node has SHA-256 by itself.
    onLoad({ filter: /checksum.sha256.Sha256Js\.js$/ }, () => ({
      contents: 'export const Sha256Js = undefined;',
    }));
    // Of its description, requests name the version.
    onLoad({ filter: /client-dynamodb.package\.json$/ }, ({ path }) => ({
      contents: JSON.stringify({ version: JSON.parse(readFileSync(path, 'utf8')).version }),
      loader: 'json',
    }));
    onLoad({ filter: /client-dynamodb.dist-es.schemas.schemas_0\.js$/ }, ({ path }) => {
      const { errors } = usedOfClient(join(dirname(path), '../..'));
      return {
        contents: readFileSync(path, 'utf8').replaceAll(
          /^export var (\w+)\$ = \[-3, n0, .*?^n0_registry\.registerError\(\1\$, \1\);$/gms,
          (shape, name) => (errors.includes(name) ? shape : ''),
        ),
      };
    });
  },
};

/**
 * Leaves out the descriptions of endpoints that a handler does not use, with their texts and examples. esbuild drops an
 * unused call that is pure, but not if its arguments call something or are spread.
 */
const usedEndpoints: Plugin = {
  name: 'used-endpoints',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/](?:api|weave[\\/]endpoints)[\\/][^\\/]+\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(
        /(= \/\* @__PURE__ \*\/ )(\w*[eE]ndpoint\(\{\n.*?\n\}\));/gs,
        '$1(() => $2)();',
      ),
      loader: 'ts',
    }));
  },
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
  alias: {
    '@aws-sdk/credential-provider-node': './foundations/storage/credentials.ts',
    // MCP's SDK validates what a client fills into forms, which no tool asks for, with a validator of
    // 150 KB.
    '@modelcontextprotocol/server/_shims': './core/doors/mcp/no-forms.ts',
  },
  minify: true,
  sourcemap: true,
  // A stack trace needs the mapping alone. The texts would be most of what a cold start reads.
  sourcesContent: false,
  legalComments: 'none',
  // What a bundle says of itself is where its own file is.
  define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
  metafile: true,
  plugins: [usedOfDynamoDb, usedEndpoints],
  outExtension: { '.js': '.cjs' },
  logLevel: 'warning',
  external: Object.keys(lazyPackages),
};

type Output = Metafile['outputs'][string];

const lazyImports = (output: Output | undefined): string[] =>
  Object.keys(lazyPackages).filter((name) => output?.imports.some(({ path }) => path === name));

/** A lazy package as one file, and esbuild's account of it. */
interface PackageBundle {
  readonly name: string;
  readonly contents: Uint8Array;
  readonly account: Output | undefined;
}

const packageBundle = async (root: string, name: string): Promise<PackageBundle> => {
  const { outputFiles = [], metafile } = await build({
    ...buildOptions,
    external: [],
    sourcemap: false,
    absWorkingDir: root,
    stdin: { contents: `export ${lazyPackages[name]} from '${name}';`, resolveDir: root },
    write: false,
  });
  const [file] = outputFiles;
  if (!file) throw new Error(`esbuild made nothing of ${name}`);
  return { name, contents: file.contents, account: Object.values(metafile?.outputs ?? {})[0] };
};

/** What a thread runs as one file, and the lazy packages that it imports. */
interface ThreadBundle {
  /** The module that starts it. */
  readonly starter: string;
  readonly file: string;
  readonly contents: Uint8Array;
  readonly account: Output | undefined;
  readonly imports: readonly string[];
}

const threadBundle = async (root: string, starter: string): Promise<ThreadBundle> => {
  const entry = threads[starter];
  if (entry === undefined) throw new Error(`${starter} starts no thread`);
  const { outputFiles = [], metafile } = await build({
    ...buildOptions,
    sourcemap: false,
    absWorkingDir: root,
    entryPoints: [entry],
    outdir: virtualOutdir,
    write: false,
  });
  const [file] = outputFiles;
  if (!file) throw new Error(`esbuild made nothing of ${entry}`);
  const account = Object.values(metafile?.outputs ?? {})[0];
  return {
    starter,
    file: basename(file.path),
    contents: file.contents,
    account,
    imports: lazyImports(account),
  };
};

/** Where handlers are: those of endpoints, those that AWS calls otherwise, and what both load. */
const folders = ['endpoints', 'background', 'common'];

/** The module of a handler, relative to the project's root. Undefined if there is none. */
const findModule = (root: string, handler: string): string | undefined =>
  folders.map((folder) => `lambdas/${folder}/${handler}.ts`).find((module) => existsSync(join(root, module)));

/** Where the module of a handler belongs. */
const expectedModule = (handler: string): string =>
  `lambdas/${allRoutes.some((route) => route.handler === handler) ? 'endpoints' : 'background'}/${handler}.ts`;

/** Where endpoints are described. */
const descriptions = ['api/*.ts', 'core/doors/weave/endpoints/*.ts'];

/** What says that there is a handler: a route in the module that describes it, or a setting. */
const namedBy = (root: string, handler: string): string => {
  const route = allRoutes.find((candidate) => candidate.handler === handler);
  if (!route) return 'lib/handlers.ts or lib/features.ts names it';
  const module = globSync(descriptions, { cwd: root }).find((file) =>
    readFileSync(join(root, file), 'utf8').includes(`path: '${route.path}'`),
  );
  return `it answers ${route.method} ${route.path}, which ${module ?? 'api/routes.ts'} describes`;
};

/**
 * Checks that handlers have modules.
 *
 * @throws Error which names each module that is missing, and what says that it is there
 */
export const requireHandlers = (root: string, handlers: readonly string[]): void => {
  const missing = handlers.filter((handler) => findModule(root, handler) === undefined);
  if (missing.length === 0) return;
  const lines = missing.map(
    (handler) =>
      `${expectedModule(handler)} is missing: ${namedBy(root, handler)}. Write it, or name another`,
  );
  throw new Error(lines.join('\n'));
};

/** Puts a lazy package beside a bundle that imports it, where Node looks for it. */
const addPackage = (folder: string, { name, contents }: PackageBundle): void => {
  const target = join(folder, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'index.cjs'), contents);
  writeFileSync(join(target, 'package.json'), JSON.stringify({ name, main: './index.cjs' }));
};

/**
 * Bundles every handler with all that it imports, in one esbuild run. Each has a folder with
 * `index.cjs` and `index.cjs.map`, and `node_modules` if it imports lazy packages, and what its
 * threads run. esbuild's account of the bundles is `meta.json` in `outdir`. Bundles depend on the sources alone, not on
 * where the project or `outdir` is.
 *
 * @returns each handler's folder, an absolute path if `outdir` is one
 * @throws Error if a handler is missing, which names what needs it, or does not build; esbuild prints where
 *   and why
 */
export const bundle = async ({
  root,
  handlers,
  outdir,
  constants = {},
}: BundleOptions): Promise<ReadonlyMap<string, string>> => {
  requireHandlers(root, handlers);
  const { outputFiles = [], metafile } = await build({
    ...buildOptions,
    absWorkingDir: root,
    define: {
      ...buildOptions.define,
      ...Object.fromEntries(Object.entries(constants).map(([name, text]) => [name, JSON.stringify(text)])),
    },
    entryPoints: handlers.map((handler) => ({
      in: findModule(root, handler) ?? expectedModule(handler),
      out: `${handler}/index`,
    })),
    outdir: virtualOutdir,
    write: false,
  });
  const getOutput = (handler: string) => metafile?.outputs[`${virtualOutdir}/${handler}/index.cjs`];
  const startersIn = (handler: string) =>
    Object.keys(threads).filter((starter) => Object.hasOwn(getOutput(handler)?.inputs ?? {}, starter));
  const starters = new Set(handlers.flatMap(startersIn));
  const threadBundles = await Promise.all([...starters].map((starter) => threadBundle(root, starter)));
  const started = new Map(
    handlers.map((handler) => {
      const names = startersIn(handler);
      return [handler, threadBundles.filter(({ starter }) => names.includes(starter))];
    }),
  );
  const imported = new Map(
    handlers.map((handler) => [
      handler,
      [...lazyImports(getOutput(handler)), ...(started.get(handler) ?? []).flatMap(({ imports }) => imports)],
    ]),
  );
  const needed = new Set([...imported.values()].flat());
  const packages = await Promise.all([...needed].map((name) => packageBundle(root, name)));
  for (const { path, contents } of outputFiles) {
    const target = join(outdir, path.slice(join(root, virtualOutdir).length));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, contents);
  }
  for (const [handler, names] of imported)
    for (const added of packages) if (names.includes(added.name)) addPackage(join(outdir, handler), added);
  for (const [handler, files] of started)
    for (const { file, contents } of files) writeFileSync(join(outdir, handler, file), contents);
  const accounts = [
    ...packages.map(({ name, account }) => [`${virtualOutdir}/node_modules/${name}/index.cjs`, account]),
    ...threadBundles.map(({ file, account }) => [`${virtualOutdir}/${file}`, account]),
  ];
  const outputs = { ...metafile?.outputs, ...Object.fromEntries(accounts) };
  writeFileSync(join(outdir, 'meta.json'), JSON.stringify({ ...metafile, outputs }));
  return new Map(handlers.map((handler) => [handler, join(outdir, handler)]));
};
