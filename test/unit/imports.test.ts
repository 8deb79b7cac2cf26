import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesLike, readText } from '../support/documents/documents.ts';

/** The product's own files, but for those of the page: `web/imports.test.ts` looks at these. */
const files = filesLike('{api,bin,core,foundations,lambdas,lib,local}/**/*.ts');

/** The files that a file imports: for types, and later, too. */
const findImports = (file: string): string[] =>
  [...readText(file).matchAll(/(?:\bfrom |\bimport[ (])'(\.[^']+)'/g)].map(([, path = '']) =>
    join(dirname(file), path),
  );

/** The circles of files that import each other, as their files from one that was met first. */
const circles = (): string[] => {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) found.push([...way.slice(way.indexOf(file)), file].join(' → '));
    else if (!done.has(file)) for (const other of findImports(file)) visit(other, [...way, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return found;
};

/** All names that a file imports or passes on, and the files that it takes whole. */
const takenBy = (file: string): string[] => {
  const text = readText(file);
  const lists = [...text.matchAll(/^(?:import|export)\b[^;'"{]*\{([^}]*)\}\s*from/gm)];
  const whole = [...text.matchAll(/\bimport\('(\.[^']+)'\)|^import \* as \w+ from '(\.[^']+)'/gm)];
  return [
    ...lists.flatMap(([, list = '']) =>
      list.split(',').map((name) => name.trim().replace(/^type | as .*$/g, '')),
    ),
    ...whole.map(([, later, space]) => join(dirname(file), later ?? space ?? '')),
  ];
};

describe('the files of the service', () => {
  it('form no circle, not even by types', () => {
    expect(files.length).toBeGreaterThan(300);
    expect(circles()).toEqual([]);
  });

  it('export no value that only their own file uses', () => {
    const users = new Map<string, string[]>();
    const everything = filesLike(
      '{api,bench,bin,core,examples,foundations,lambdas,lib,local,test,web}/**/*.{ts,tsx,mjs}',
    );
    for (const user of everything)
      for (const name of takenBy(user)) users.set(name, [...(users.get(name) ?? []), user]);
    const own = files
      .filter((file) => !users.has(file))
      .flatMap((file) =>
        [...readText(file).matchAll(/^export (?:async )?(?:const|function\*?|class) (\w+)/gm)]
          .map(([, name = '']) => name)
          // Lambda finds handlers by their name.
          .filter((name) => name !== 'handler' && users.get(name)?.some((user) => user !== file) !== true)
          .map((name) => `${file}: ${name}`),
      );
    expect(own).toEqual([]);
  });
});
