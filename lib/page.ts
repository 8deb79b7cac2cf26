import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type BuildOptions, type BuildResult, build, type Metafile, type Plugin } from 'esbuild';
import { index, type PageFile } from '../lambdas/common/page/answer.ts';
import { subsetFonts } from './font.ts';

/** The handler whose function serves the page. */
export const pageHandler = 'ui';

/** The folder of the page's files, beside the handler's bundle. */
const folder = 'page';

/** Names of files end in a hash of their content, so that browsers may keep them for good. */
const names = 'assets/[name]-[hash]';

const fontLicence = 'node_modules/@fontsource-variable/inter/LICENSE';

const entry = 'web/main.tsx';

/** The files that sources import when they are needed, by their absolute paths. */
const findLazy = (root: string, sources: readonly string[]): ReadonlySet<string> =>
  new Set(
    sources.flatMap((source) =>
      [...readFileSync(join(root, source), 'utf8').matchAll(/\bimport\('(\.[^']+)'\)/g)].map(
        ([, path = '']) => resolve(root, dirname(source), path),
      ),
    ),
  );

/**
 * Libraries of what the entry needs, which are a file of their own: an update of the page leaves it in
 * caches, and no file is so large that who fetches it over and over costs much (`openAnswerBytes`).
 */
const libraries = [
  'react',
  'react-dom/client',
  '@tanstack/react-query',
  '@tanstack/react-router',
  '@tanstack/react-virtual',
  'zustand',
];

/** What sources import of a library, by name: the rest of it is left out. */
const findImported = (root: string, sources: readonly string[], library: string): readonly string[] => {
  const statement = new RegExp(`^import (?!type)\\{([^}]*)\\} from '${library}';`, 'gm');
  const names = sources.flatMap((source) =>
    [...readFileSync(join(root, source), 'utf8').matchAll(statement)].flatMap(([, list = '']) =>
      list.split(',').map((name) => name.trim().replace(/ as .*/, '')),
    ),
  );
  return [...new Set(names)].filter((name) => name !== '' && !name.startsWith('type ')).sort();
};

const importText = (path: string): string => ['import ', JSON.stringify(path), ';'].join('');

const iconImport = /^import \{([^}]*)\} from 'lucide-react';/gm;

/** The icons that a source imports, as its import names them: `X`, `Menu as MenuIcon`. */
const findIcons = (list: string): readonly string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '));

/** Where the library of icons has each: its file by its name. */
const readIconFiles = (root: string): ReadonlyMap<string, string> => {
  const text = readFileSync(join(root, 'node_modules/lucide-react/dist/esm/lucide-react.mjs'), 'utf8');
  return new Map(
    [...text.matchAll(/^export \{([^}]*)\} from '\.\/(icons\/[^']+)\.mjs';$/gm)].flatMap(
      ([, names = '', file = '']) =>
        [...names.matchAll(/default as (\w+)/g)].map(
          ([, name = '']) => [name, `lucide-react/${file}`] as const,
        ),
    ),
  );
};

/**
 * Has a source import each icon from its own file. From the one module of all icons, esbuild puts every icon that
 * the page has into the file that loads first.
 */
const importIcons = (source: string, files: ReadonlyMap<string, string>): string =>
  source.replace(iconImport, (statement, list: string) => {
    const imports = findIcons(list).map((name) => {
      const [icon = '', local = icon] = name.split(' as ');
      return `import ${local} from ${JSON.stringify(files.get(icon) ?? 'lucide-react')};`;
    });
    // As many lines as before, so that errors name the right one.
    return imports.join(' ') + '\n'.repeat(statement.split('\n').length - 1);
  });

/** What loads later and before any view but the first: it does not wait for what views share. */
const beforeViews = /\/web\/(?:app\/(?:home|command-menu)|session\/sign-in.*|ui\/overlays)\.tsx?$/;

/**
 * Has browsers fetch few files, since each takes an invocation of the function. esbuild makes a file of
 * what the same parts need. So every part that loads later is told to need the entry as well, which is
 * there already: all that the entry needs becomes one file. Nearly all also need what views share: each part that
 * needs some of it alone would make several files of it.
 */
const fewFiles: Plugin = {
  name: 'few-files',
  setup: ({ onLoad, onResolve, initialOptions: { absWorkingDir: root = '' } }) => {
    const sources = globSync('web/**/*.{ts,tsx}', { cwd: root });
    const lazy = findLazy(root, sources);
    const shared = sources.filter(
      (source) => /^web\/(calls|ui)\//.test(source) && !lazy.has(join(root, source)),
    );
    onResolve({ filter: /^page:/ }, ({ path }) => ({ path, namespace: 'page' }));
    onLoad({ filter: /^page:libraries$/, namespace: 'page' }, () => ({
      contents: libraries
        .map((library, at) => {
          const names = findImported(root, sources, library).map((name) => `${name} as ${name}${at}`);
          return `export { ${names.join(', ')} } from ${JSON.stringify(library)};`;
        })
        .join('\n'),
      resolveDir: root,
    }));
    const iconFiles = readIconFiles(root);
    const icons = new Set(
      sources
        .filter((source) => source.startsWith('web/views/'))
        .flatMap((source) => [...readFileSync(join(root, source), 'utf8').matchAll(iconImport)])
        .flatMap(([, list = '']) => findIcons(list).map((name) => iconFiles.get(name.replace(/ as .*/, '')))),
    );
    onLoad({ filter: /^page:shared$/, namespace: 'page' }, () => ({
      contents: [
        ...shared.map((source) => importText(`./${source}`)),
        ...[...icons].map((file, at) => `export { default as icon${at} } from ${JSON.stringify(file)};`),
      ].join(''),
      resolveDir: root,
    }));
    onLoad({ filter: /\/web\/.*\.tsx?$/ }, ({ path }) => {
      const needed = lazy.has(path)
        ? [join(root, entry), ...(beforeViews.test(path) ? [] : ['page:shared'])]
        : [];
      return {
        // In one line, so that errors name the right one.
        contents: `${needed.map(importText).join('')}${importIcons(readFileSync(path, 'utf8'), iconFiles)}`,
        loader: path.endsWith('x') ? 'tsx' : 'ts',
      };
    });
  },
};

/** How the page is bundled. */
export const pageOptions: BuildOptions = {
  entryPoints: [
    { in: entry, out: 'main' },
    { in: 'page:libraries', out: 'libraries' },
    { in: 'web/styles/index.css', out: 'index' },
    { in: 'web/styles/later.css', out: 'later' },
    { in: 'web/icon.svg', out: 'icon' },
  ],
  plugins: [fewFiles, subsetFonts],
  // They are there to be needed, not for what they do.
  logOverride: { 'ignored-bare-import': 'silent' },
  outdir: folder,
  bundle: true,
  format: 'esm',
  splitting: true,
  platform: 'browser',
  target: 'es2024',
  jsx: 'automatic',
  tsconfig: 'web/tsconfig.json',
  define: { 'process.env.NODE_ENV': '"production"' },
  loader: { '.svg': 'copy' },
  entryNames: names,
  chunkNames: names,
  assetNames: names,
  minify: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
};

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  txt: 'text/plain; charset=utf-8',
  html: 'text/html; charset=utf-8',
};

/** The content type of a file of the page. Throws an Error for a kind that has none yet. */
export const contentType = (name: string): string => {
  const type = types[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`the page has ${name}: say its content type in lib/page.ts`);
  return type;
};

/** The page as esbuild made it, by name: `index.html`, `assets/chunk-ABCD.js`. */
export interface BuiltPage {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The scripts and styles that the first view loads. Everything else loads on demand. */
  readonly first: readonly string[];
}

/** The scripts that a script imports statically, itself first, each once. */
const staticImports = (outputs: Metafile['outputs'], path: string, seen = new Set<string>()): string[] => {
  if (seen.has(path)) return [];
  seen.add(path);
  const imports = outputs[path]?.imports.filter(({ kind }) => kind === 'import-statement') ?? [];
  return [path, ...imports.flatMap((found) => staticImports(outputs, found.path, seen))];
};

const toName = (path: string): string => path.slice(folder.length + 1);

/** What the document names, by their paths. */
interface Head {
  /** The entry, then what it imports. */
  readonly scripts: readonly string[];
  readonly styles: string;
  /** Those of what loads later. */
  readonly laterStyles: string;
  readonly icon: string;
  readonly font: string;
}

/** Fills the template of index.html in. Its paths are relative, so that it works below any path. */
const indexHtml = (template: string, head: Head): string => {
  const { scripts, styles, laterStyles, icon, font } = head;
  const [main, ...chunks] = scripts;
  const lines = [
    `<link rel="icon" href="${icon}">`,
    `<link rel="preload" href="${font}" as="font" type="font/woff2" crossorigin>`,
    `<link rel="stylesheet" href="${styles}">`,
    // Not as a link: browsers would fetch it at once, even if it is disabled. web/ui/lazy.ts makes one.
    `<meta name="later-styles" content="${laterStyles}">`,
    ...chunks.map((chunk) => `<link rel="modulepreload" href="${chunk}">`),
    `<script type="module" src="${main}"></script>`,
  ];
  return template.replace('<!-- bundle -->', () => lines.join('\n    '));
};

/**
 * Puts the page together from what esbuild made of it.
 *
 * @throws Error if an entry is missing
 */
export const toPage = (
  root: string,
  { outputFiles = [], metafile }: Pick<BuildResult, 'outputFiles' | 'metafile'>,
): BuiltPage => {
  const outputs = metafile?.outputs ?? {};
  const findOutput = (entry: string): string => {
    const [path] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry) ?? [];
    if (path === undefined) throw new Error(`esbuild made nothing of ${entry}`);
    return path;
  };
  // Parts that load later need the entry, too. So it lies in a file of its own, which esbuild's for the entry imports.
  const [main] = Object.entries(outputs).find(([, { inputs }]) => entry in inputs) ?? [];
  if (main === undefined) throw new Error(`esbuild made nothing of ${entry}`);
  const styles = findOutput('web/styles/index.css');
  const [icon, font] = [/\/icon-\w+\.svg$/, /\.woff2$/].map((name) =>
    Object.keys(outputs).find((path) => name.test(path)),
  );
  if (icon === undefined || font === undefined) throw new Error('the page has no icon, or no font');
  const scripts = staticImports(outputs, main).map(toName);
  const html = indexHtml(readFileSync(join(root, 'web/index.html'), 'utf8'), {
    scripts,
    styles: toName(styles),
    laterStyles: toName(findOutput('web/styles/later.css')),
    icon: toName(icon),
    font: toName(font),
  });
  const built = outputFiles.map(({ path, contents }): [string, Uint8Array] => [
    path.slice(join(root, folder).length + 1),
    contents,
  ]);
  return {
    files: new Map([
      ...built,
      [index, Buffer.from(html)],
      // The licence of the font wants to be with it.
      ['assets/inter-license.txt', readFileSync(join(root, fontLicence))],
    ]),
    first: [...scripts, toName(styles)],
  };
};

/** Builds the page. Throws an Error if it does not build; esbuild prints where and why. */
export const buildPage = async (root: string): Promise<BuiltPage> =>
  toPage(root, await build({ ...pageOptions, absWorkingDir: root }));

/** How well files are compressed: as well as brotli can, since they are compressed once. */
export const brotli = (contents: Uint8Array): Buffer =>
  brotliCompressSync(contents, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: contents.length,
    },
  });

/**
 * Puts the page beside the bundle of its handler. Each file is there as it is, with
 * brotli (`.br`) and with gzip (`.gz`), and the list of all in `files.json`.
 *
 * @param bundle the folder of the handler's bundle
 */
export const addPage = ({ files }: BuiltPage, bundle: string): void => {
  const list: Record<string, PageFile> = {};
  for (const [name, contents] of files) {
    const target = join(bundle, folder, name);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, contents);
    writeFileSync(`${target}.br`, brotli(contents));
    writeFileSync(`${target}.gz`, gzipSync(contents, { level: 9 }));
    const etag = `"${createHash('sha256').update(contents).digest('base64url').slice(0, 22)}"`;
    list[name] = { type: contentType(name), etag };
  }
  writeFileSync(join(bundle, folder, 'files.json'), JSON.stringify(list));
};
