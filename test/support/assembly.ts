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
