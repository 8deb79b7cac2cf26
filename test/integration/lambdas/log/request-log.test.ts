import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inSources } from '../../../../lambdas/log/request-log.ts';
import { bundle } from '../../../../lib/bundles.ts';
import { root, temporaryFolder } from '../../../support/project.ts';

/** Bundles a handler that throws where it says so, and gives the stack of its error. */
const stackOfBundle = async (): Promise<{ stack: string; file: string }> => {
  const project = temporaryFolder();
  mkdirSync(join(project, 'lambdas/call'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  const source = [
    '// a line',
    'export const handler = (name: string): never => {',
    '  throw new Error(name);',
    '};',
  ];
  writeFileSync(join(project, 'lambdas/call/start.ts'), source.join('\n'));
  await bundle({ root: project, handlers: ['call/start'], outdir: join(project, 'out') });
  const file = join(project, 'out/call/start/index.cjs');
  const script = `try { require(${JSON.stringify(file)}).handler('as it should') } catch (error) { console.log(error.stack) }`;
  return { stack: execFileSync(process.execPath, ['--eval', script], { encoding: 'utf8' }), file };
};

describe('a stack trace in the sources', () => {
  it('names the source, line and column of what was bundled', async () => {
    const { stack, file } = await stackOfBundle();
    expect(stack).toContain(file);
    const mapped = inSources(stack);
    expect(mapped).toContain('Error: as it should');
    expect(mapped).toContain('lambdas/call/start.ts:3:9');
    expect(mapped).not.toContain(file);
  });

  it('keeps lines without a map unchanged', () => {
    const stack = 'Error: no\n    at f (/nowhere/index.cjs:1:20)\n    at node:internal/timers:5:6';
    expect(inSources(stack)).toBe(stack);
  });
});
