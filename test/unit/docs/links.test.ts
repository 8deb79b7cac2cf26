import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  documents,
  filesLike,
  findAnchors,
  readText,
  repository,
  toLines,
} from '../../support/documents/documents.ts';

/** Text of a document that is not fenced code. */
const outsideCode = (markdown: string): string =>
  toLines(markdown)
    .map(({ text, code }) => (code ? '' : text))
    .join('\n');

const exists = (file: string): boolean => existsSync(join(repository, file));

/** Whether a path below the repository, perhaps with an anchor, leads somewhere. */
const resolves = (target: string): boolean => {
  const [file = '', anchor] = target.split('#');
  if (!exists(file)) return false;
  return anchor === undefined || findAnchors(readText(file)).has(anchor);
};

/** The targets of a document's links, as paths below the repository, but for addresses. */
const findTargets = (file: string): string[] =>
  [...outsideCode(readText(file)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^\w+:/.test(target))
    .map((target) => (target.startsWith('#') ? `${file}${target}` : normalize(join(dirname(file), target))));

/** Folders of the repository, by whose names a path is told from other code. */
const folders = filesLike('*/').map((folder) => folder.replace(/\/$/, ''));

/** Code spans of a document that are paths of the repository; `<…>` and `…` stand for anything. */
const pathsIn = (file: string): string[] =>
  [...outsideCode(readText(file)).matchAll(/`([\w.{},*/-]+\/[\w.{},*/-]*)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => folders.includes(path.split('/')[0] ?? ''));

describe.each(documents)('%s', (file) => {
  it('links to files and headings that there are', () => {
    expect(findTargets(file).filter((target) => !resolves(target))).toEqual([]);
  });

  it('names paths that there are', () => {
    const missing = pathsIn(file).filter((path) => !exists(path) && filesLike(path).length === 0);
    expect(missing).toEqual([]);
  });
});

describe('every document', () => {
  it('names npm scripts that there are', () => {
    const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
    const missing = documents.flatMap((file) =>
      [...readText(file).matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)]
        .filter(([, name = '']) => !Object.hasOwn(scripts, name))
        .map(([command]) => `${file}: ${command}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('a documented command', () => {
  it('runs TypeScript by the Node that npm ci brings, since that of the machine may be too old', () => {
    const files = [...documents, ...filesLike('examples/**/*.{ts,py}')];
    const bare = files.flatMap((file) =>
      [...readText(file).matchAll(/^.*(?<!npx |bin\/)\bnode [\w./-]*\.ts\b.*$/gm)].map(
        ([line]) => `${file}: ${line}`,
      ),
    );
    expect(bare).toEqual([]);
  });

  it('says what is missing before Node fails, if an npm script runs TypeScript', () => {
    const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
    const unguarded = Object.entries(scripts).filter(
      ([, script]) =>
        /\bnode\b.*\.ts\b/.test(script) && !script.includes('node --import ./bin/installed.mjs '),
    );
    expect(unguarded).toEqual([]);
  });
});

describe('code', () => {
  it('names documents, headings and decisions that there are', () => {
    const decisions = new Set(filesLike('docs/decisions/*.md').map((file) => file.slice(15, 19)));
    const missing = filesLike('**/*.ts', '.github/**/*.yml', '.ci/*').flatMap((file) => {
      const text = readText(file);
      const pages = [...text.matchAll(/\bdocs\/[\w-]+\.md(?:#[\w-]+)?/g)].map(([page]) => page);
      const numbers = [...text.matchAll(/\bdecisions?[ /](\d{4})\b/g)].map(([, number = '']) => number);
      return [
        ...pages.filter((page) => !resolves(page)),
        ...numbers.filter((number) => !decisions.has(number)),
      ].map((target) => `${file}: ${target}`);
    });
    expect(missing).toEqual([]);
  });
});

describe('the table of folders', () => {
  it('has every folder of code or schemas and every module of the core', () => {
    const [, section = ''] = /\n## Folders\n(.*?)\n## /s.exec(readText('docs/architecture.md')) ?? [];
    const named = [...section.matchAll(/^\| `([\w/-]+?)\/?` \|/gm)].map(([, folder]) => folder);
    const code = folders.filter(
      (folder) =>
        filesLike(`${folder}/**/*.{ts,json}`).length > 0 && !['core', 'foundations'].includes(folder),
    );
    const modules = filesLike('core/*/*/', 'foundations/*/').map((folder) => folder.replace(/\/$/, ''));
    expect(named.toSorted()).toEqual([...code, ...modules].toSorted());
  });
});
