import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allRoutes } from '../../../api/routes.ts';
import { root } from '../../support/run/project.ts';

const isDescription = (value: unknown): value is { readonly path: string } =>
  typeof value === 'object' && value !== null && 'path' in value && 'operations' in value;

describe('the descriptions of endpoints', () => {
  const folder = 'api';

  it('are all in a list of routes', async () => {
    const files = globSync('*.ts', { cwd: join(root, folder), exclude: ['routes.ts'] });
    const modules = await Promise.all(files.map((name) => import(join(root, folder, name))));
    const described = modules.flatMap((exports: object) => Object.values(exports)).filter(isDescription);
    const listed = new Set(allRoutes.map(({ path }) => path));
    const missing = described.map(({ path }) => path).filter((path) => !listed.has(path as never));
    expect(described.length).toBeGreaterThan(5);
    expect(missing, `add the description to ${folder}/routes.ts`).toEqual([]);
  });
});
