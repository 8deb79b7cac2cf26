import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** Modules of values that the page and the service share: browsers load them as they are. */
const shared = [...globSync('api/shared/*.ts', { cwd: root }), 'foundations/auth/roles.ts'].sort();

/** The files that a file imports values of: imports of types are gone when it runs. */
const findImports = (file: string): string[] => {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/^(?:import|export) (?!type )(?:[^;'"]* from )?'(\.[^']+)'/gm)].map(
    ([, path = '']) => relative(root, join(root, dirname(file), path)),
  );
};

/** The parts of the page, from the bottom up: each may import what stands before it. */
const layers = ['data', 'api', 'ui', 'session', 'navigation', 'calls', 'views', 'app', 'main.tsx'];

/** The layer of a file of the page, such as `calls`. */
const getLayer = (file: string): string => file.split('/')[1] ?? '';

/** The files of the page that a file imports: types, and what loads later, included. */
const pageImports = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/(?:\bfrom |\bimport[ (])'(\.[^']+)'/g)]
    .map(([, path = '']) => join(dirname(file), path))
    .filter((path) => path.startsWith('web/'));

const arrows = globSync('web/**/*.{ts,tsx}', { cwd: root }).flatMap((from) =>
  pageImports(from).map((to) => ({ from, to })),
);

const arrowText = ({ from, to }: (typeof arrows)[number]): string => `${from} imports ${to}`;

/** A circle that begins at a folder, as the folders on it; undefined if there is none. */
const circleFrom = (
  folder: string,
  next: ReadonlyMap<string, ReadonlySet<string>>,
  way: readonly string[] = [],
): readonly string[] | undefined => {
  if (way.includes(folder)) return [...way.slice(way.indexOf(folder)), folder];
  for (const other of next.get(folder) ?? []) {
    const circle = circleFrom(other, next, [...way, folder]);
    if (circle) return circle;
  }
  return undefined;
};

describe('the folders of the page', () => {
  it('import only what stands below them', () => {
    expect(arrows.length).toBeGreaterThan(500);
    expect([...new Set(arrows.flatMap(({ from, to }) => [getLayer(from), getLayer(to)]))].sort()).toEqual(
      layers.toSorted(),
    );
    const upward = arrows.filter(
      ({ from, to }) => layers.indexOf(getLayer(to)) > layers.indexOf(getLayer(from)),
    );
    expect(upward.map(arrowText)).toEqual([]);
  });

  it('share what several views need in `calls`: no view imports another', () => {
    const isBetweenViews = ({ from, to }: (typeof arrows)[number]) =>
      getLayer(from) === 'views' && getLayer(to) === 'views' && dirname(from) !== dirname(to);
    expect(arrows.filter(isBetweenViews).map(arrowText)).toEqual([]);
  });

  it('have no circle', () => {
    const next = new Map<string, Set<string>>();
    for (const { from, to } of arrows)
      if (dirname(from) !== dirname(to))
        next.set(dirname(from), (next.get(dirname(from)) ?? new Set()).add(dirname(to)));
    for (const folder of next.keys()) expect(circleFrom(folder, next)).toBeUndefined();
  });
});

describe('the page', () => {
  it('loads of the other folders only what imports nothing else', () => {
    const files = globSync('web/**/*.{ts,tsx}', { cwd: root });
    expect(files.length).toBeGreaterThan(100);
    const imported = new Set(files.flatMap(findImports).filter((path) => !path.startsWith('web/')));
    expect([...imported].sort()).toEqual(shared);
    for (const file of shared)
      expect(
        findImports(file).filter((path) => !shared.includes(path)),
        file,
      ).toEqual([]);
  });
});
