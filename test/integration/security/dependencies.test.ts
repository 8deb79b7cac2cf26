import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { root } from '../../support/run/project.ts';
import { bundlesFolder } from '../../support/stack/assembly.ts';

/** A package in the lockfile. */
interface Locked {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly inBundle?: boolean;
  readonly link?: boolean;
  readonly license?: string;
}

const readJson = (file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(root, file), 'utf8'));

/** All that is installed from a registry: neither the project, nor a workspace or its link. */
const locked = Object.fromEntries(
  Object.entries(readJson('package-lock.json').packages as Record<string, Locked>).filter(
    ([path, { link }]) => path.includes('node_modules/') && !link,
  ),
);
const getName = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** The rows of a table of docs/dependencies.md: their cells, the first without its backquotes. */
const tableUnder = (heading: string): string[][] => {
  const [, section = ''] = readFileSync(join(root, 'docs/dependencies.md'), 'utf8').split(`## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/^\| `(.+?)` \|(.*)\|$/gm)].map(([, name = '', rest = '']) => [
    name,
    ...rest.split('|').map((cell) => cell.trim()),
  ]);
};

describe('the lockfile', () => {
  it('has the hash of every package, or of the one that contains it', () => {
    const unhashed = Object.entries(locked).filter(
      ([, { integrity, inBundle }]) => !inBundle && !integrity?.startsWith('sha512-'),
    );
    expect(unhashed.map(([path]) => path)).toEqual([]);
  });

  it('names no host, so that packages come from the configured registry', () => {
    const hosted = Object.entries(locked).filter(([, { resolved }]) => resolved !== undefined);
    expect(hosted.map(([path]) => path)).toEqual([]);
  });

  it('has install scripts only of packages that are allowed and explained', () => {
    const scripted = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript);
    const names = scripted.map(([path]) => getName(path)).sort();
    const rules = Object.entries(readJson('package.json').allowScripts as Record<string, boolean>);
    expect(names).toEqual(rules.flatMap(([name, allowed]) => (allowed ? [name] : [])).sort());
    expect(names).toEqual(tableUnder('Install scripts').map(([name]) => name));
  });
});

describe('every deployed package', () => {
  const { outputs } = JSON.parse(readFileSync(join(bundlesFolder(), 'meta.json'), 'utf8')) as Metafile;
  const bundled = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 && path.startsWith('node_modules/') ? [path] : [],
    ),
  );
  const packages = [
    ...new Set(bundled.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path)),
  ];

  it('is listed with its licence', () => {
    const listed = tableUnder('What is deployed').map(([name, , licence]) => `${name} ${licence}`);
    expect(listed).toEqual(packages.map((path) => `${getName(path)} ${locked[path]?.license}`).sort());
  });

  it('has a licence that requires only its text', () => {
    const licences = new Set(packages.map((path) => locked[path]?.license));
    expect([...licences].sort()).toEqual(['(Apache-2.0 AND BSD-3-Clause)', 'Apache-2.0', 'ISC', 'MIT']);
  });
});
