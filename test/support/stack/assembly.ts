import { join } from 'node:path';
import { inject } from 'vitest';

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
export const bundlesOf = (handlers: readonly string[]): ReadonlyMap<string, string> =>
  new Map(handlers.map((handler) => [handler, join(bundlesFolder(), handler)]));
