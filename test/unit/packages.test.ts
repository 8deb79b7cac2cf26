import { isBuiltin } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesLike, readText } from '../support/documents/documents.ts';

/** What a file imports: paths and names of packages, also of types and of what is loaded later. */
const findImports = (file: string): string[] =>
  [...readText(file).matchAll(/^(?:import|export) (?:[^;'"]* from )?'([^']+)'|\bimport\('([^']+)'\)/gm)].map(
    ([, first, later]) => first ?? later ?? '',
  );

/** The package of an import: `@aws-sdk/client-s3` of itself, `aws-stand-in` of `aws-stand-in/thread-code`. */
const getPackage = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const readManifest = (folder: string): Manifest => JSON.parse(readText(join(folder, 'package.json')));

const folders = filesLike('packages/*');
const ours = /pennytrace|\bsvc[_:]|\bweave\b|DATA_DIR|DYNAMODB_LOCAL=|LOCAL_KEY|ALLOWED_HOSTS/i;

describe.each(folders)('%s', (folder) => {
  const files = filesLike(`${folder}/**/*.{ts,js,mjs}`);

  it('imports nothing beyond itself but what it declares', () => {
    const { name, dependencies, devDependencies, peerDependencies } = readManifest(folder);
    const declared = new Set([
      name,
      ...Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }),
    ]);
    // Types of Lambda's events have a package of another name.
    if (declared.has('@types/aws-lambda')) declared.add('aws-lambda');
    const foreign = files.flatMap((file) =>
      findImports(file)
        .filter((path) =>
          path.startsWith('.')
            ? !normalize(join(dirname(file), path)).startsWith(`${folder}/`)
            : !isBuiltin(path) && !declared.has(getPackage(path)),
        )
        .map((path) => `${file}: ${path}`),
    );
    expect(files.length).toBeGreaterThan(4);
    expect(foreign).toEqual([]);
  });

  it('names nothing of the product', () => {
    const all = [...files, ...filesLike(`${folder}/*.{md,json}`)];
    expect(all.filter((file) => ours.test(readText(file)))).toEqual([]);
  });

  it('has a README that shows its API', () => {
    const { name } = readManifest(folder);
    expect(readText(join(folder, 'README.md'))).toContain(`from '${name}`);
  });

  it('depends on the versions that the project has', () => {
    const project = readManifest('.');
    const siblings = folders.map(readManifest).map(({ name, version }) => [name, version]);
    const versions: Readonly<Record<string, string>> = {
      ...Object.fromEntries(siblings),
      ...project.devDependencies,
      ...project.dependencies,
    };
    const { dependencies, devDependencies } = readManifest(folder);
    const own = Object.entries({ ...dependencies, ...devDependencies });
    expect(Object.fromEntries(own)).toEqual(
      Object.fromEntries(own.map(([name]) => [name, versions[name] ?? 'not in the project'])),
    );
  });
});

describe('the product', () => {
  it('runs on AWS without the packages', () => {
    const names = new Set(folders.map((folder) => readManifest(folder).name));
    const deployed = filesLike('{api,core,foundations,lambdas,lib,openapi,weave,web}/**/*.{ts,tsx}');
    expect(deployed.length).toBeGreaterThan(300);
    const importing = deployed.filter((file) =>
      findImports(file).some((path) => names.has(getPackage(path))),
    );
    expect(importing).toEqual([]);
  });
});
