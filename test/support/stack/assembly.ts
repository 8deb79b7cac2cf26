import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import { onceInRun } from '../run/once-in-run.ts';

/**
 * The folder that the stack was synthesized to, once for this test run.
 *
 * @throws Error where it does not synthesize, with why
 */
export const assembly = (): string => {
  const { folder, error } = inject('assembly');
  if (error !== undefined) throw new Error(`the stack does not synthesize: ${error}`);
  return folder;
};

/** The folder of all bundles of this test run, those that are deployed: one for each handler. */
export const bundlesFolder = (): string => join(assembly(), 'bundles');

/** The bundles of handlers, as stacks take them. */
export const getBundles = (handlers: readonly string[]): ReadonlyMap<string, string> =>
  new Map(handlers.map((handler) => [handler, join(bundlesFolder(), handler)]));

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
    const { synthesizeWith } = await import('./template.ts');
    synthesizeWith(settings, unfinished);
  });
  return folder;
};
