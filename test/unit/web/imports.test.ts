import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** Modules of values that the page and the service share: browsers load them as they are. */
const shared = [...globSync('api/shared/*.ts', { cwd: root }), 'foundations/auth/roles.ts'].sort();

/** The files that a file imports values of: imports of types are gone when it runs. */
const importsOf = (file: string): string[] => {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/^(?:import|export) (?!type )(?:[^;'"]* from )?'(\.[^']+)'/gm)].map(
    ([, path = '']) => relative(root, join(root, dirname(file), path)),
  );
};

describe('the page', () => {
  it('loads of the other folders only what imports nothing', () => {
    const files = globSync('web/**/*.{ts,tsx}', { cwd: root });
    expect(files.length).toBeGreaterThan(100);
    const imported = new Set(files.flatMap(importsOf).filter((path) => !path.startsWith('web/')));
    expect([...imported].sort()).toEqual(shared);
    for (const file of shared) expect(importsOf(file), file).toEqual([]);
  });
});
