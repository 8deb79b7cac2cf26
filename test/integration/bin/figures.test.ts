import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents, templateFigures, withFigures } from '../../../bin/figures.ts';
import { root } from '../../support/run/project.ts';
import { assembly } from '../../support/stack/assembly.ts';

const figures = templateFigures();
const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('figures of the template in documents', () => {
  it.each(documents)('of %s are those of today; `npm run generate` writes them', (path) => {
    expect(read(path)).toBe(withFigures(path, read(path), figures));
  });

  it('are marked wherever a document shows them', () => {
    const names = documents.flatMap((path) =>
      [...read(path).matchAll(/<!-- figure: (\w+) -->/g)].map(([, name]) => name),
    );
    expect(names.length).toBeGreaterThan(10);
    // Markdown takes a line that begins with a comment for HTML, and ends the paragraph before it.
    for (const path of documents) expect(read(path)).not.toMatch(/^<!-- figure/m);
    // A number of resources, roles, bundles or metrics that somebody typed.
    const typed = documents.flatMap((path) =>
      [...read(path).matchAll(/\b\d{2,3} (?:resources to|roles of|bundles\b|alarm metrics of the)/g)].map(
        ([text]) => `${path}: ${text}`,
      ),
    );
    expect(typed).toEqual([]);
  });

  it('are counted', () => {
    // The template of the app itself.
    const { Resources } = JSON.parse(readFileSync(join(assembly(), 'Pennytrace.template.json'), 'utf8'));
    const types = Object.values<{ Type: string }>(Resources).map(({ Type }) => Type);
    const count = (type: string) => String(types.filter((one) => one === type).length);
    expect(figures.resources).toBe(String(types.length));
    expect(figures.roles).toBe(count('AWS::IAM::Role'));
    expect(figures.bundles).toBe(count('AWS::Lambda::Function'));
    expect(figures.alarms).toBe(count('AWS::CloudWatch::Alarm'));
    expect(Number(figures.dashboardMetrics)).toBeGreaterThan(30);
    expect(Number(figures.dashboardMetrics)).toBeLessThan(50);
  });

  it('are refused if nobody counts them', () => {
    expect(() => withFigures('a.md', 'some <!-- figure: nobodys -->7<!-- end -->', figures)).toThrow(
      'a.md has the unknown figure "nobodys"',
    );
  });
});
