import { join } from 'node:path';
import { inject } from 'vitest';
import type { Dialect } from '../../weave/policy.ts';

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

/**
 * The folder of all bundles of this test run, those that are deployed: one for each handler. Those
 * of Weave's dialect are in `weave` below it.
 */
export const bundlesFolder = (dialect: Dialect = 'svc'): string =>
  join(assembly(), 'bundles', dialect === 'svc' ? '' : dialect);

/** The bundles of handlers, as stacks in a dialect take them. */
export const bundlesOf = (handlers: readonly string[], dialect?: Dialect): ReadonlyMap<string, string> =>
  new Map(handlers.map((handler) => [handler, join(bundlesFolder(dialect), handler)]));
