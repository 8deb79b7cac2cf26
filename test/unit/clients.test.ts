import { isBuiltin } from 'node:module';
import { describe, expect, it } from 'vitest';
import { filesLike, readText } from '../support/documents/documents.ts';

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const readManifest = (file: string): Manifest => JSON.parse(readText(file));

/** A part of a file, as its lines. */
const cut = (file: string, from: RegExp, to: RegExp): string[] => {
  const lines = readText(file).split('\n');
  const start = lines.findIndex((line) => from.test(line)) + 1;
  return lines.slice(
    start,
    lines.findIndex((line, index) => index >= start && to.test(line)),
  );
};

describe('the clients', () => {
  it('import nothing of the service but its reader of templates, and no package but OpenTelemetry', () => {
    const files = filesLike('clients/js/{src,*.ts}/**', 'clients/js/*.ts').filter((file) =>
      file.endsWith('.ts'),
    );
    const imported = files.flatMap((file) =>
      [...readText(file).matchAll(/^(?:import|export) (?:[^;'"]* from )?'([^']+)'/gm)].map(
        ([, path = '']) => path,
      ),
    );
    const foreign = imported.filter((path) => !isBuiltin(path) && !path.startsWith('./'));
    expect(files.length).toBeGreaterThan(3);
    expect(foreign.toSorted()).toEqual(['../../../api/shared/prompt-variables.ts', '@opentelemetry/api']);
    const modules = filesLike('clients/python/pennytrace/*.py').flatMap((file) =>
      [...readText(file).matchAll(/^(?:from|import) (\w+)/gm)].map(([, name]) => `${file}: ${name}`),
    );
    const inOne = 'clients/python/pennytrace/opentelemetry.py: opentelemetry';
    expect(new Set(modules.filter((each) => /opentelemetry$|requests|httpx/.test(each)))).toEqual(
      new Set([inOne]),
    );
  });

  it('know the same spans as model calls', () => {
    const known = (lines: readonly string[]) =>
      lines.map((line) => /['"]([\w.]+)['"]/.exec(line)?.[1]).filter((name) => name !== undefined);
    const ofJs = known(cut('clients/js/src/opentelemetry.ts', /^const modelCalls/, /^\];/));
    expect(ofJs.length).toBeGreaterThan(5);
    expect(known(cut('clients/python/pennytrace/opentelemetry.py', /^_MODEL_CALLS/, /^\}/))).toEqual(ofJs);
  });

  it('have one version, and are built with the versions that the project has', () => {
    const { version, dependencies, devDependencies } = readManifest('clients/js/package.json');
    expect(/^version = "(.*)"$/m.exec(readText('clients/python/pyproject.toml'))?.[1]).toBe(version);
    expect(dependencies).toBeUndefined();
    expect(readManifest('package.json').devDependencies).toMatchObject(devDependencies);
  });
});
