import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import { onceInRun } from '../run/once-in-run.ts';
import { assembly } from './assembly.ts';

/**
 * The folder of the stack with settings, synthesized once in a test run. CDK takes two seconds to
 * load, so that only the worker that synthesizes loads it.
 *
 * @param settings override the context of cdk.json. @default - the stack of this test run
 * @throws Error if the stack does not synthesize
 */
export const assemblyWith = async (settings?: Readonly<Record<string, unknown>>): Promise<string> => {
  if (!settings) return assembly();
  const name = createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 16);
  const folder = join(inject('scratch'), `assembly-${name}`);
  await onceInRun(folder, async (unfinished) => {
    const { synthesizeWith } = await import('./synthesize-with.ts');
    synthesizeWith(settings, unfinished);
  });
  return folder;
};
