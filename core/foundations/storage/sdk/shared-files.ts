/*
 * Takes the place of `node:fs/promises` in the bundles (lib/bundles.ts). Only the SDK imports it
 * there, to look for `~/.aws/config` and its like. A function has no such files.
 */

/** Fails as if there were no file, which the SDK takes for an empty one. */
export const readFile = async (path: string): Promise<never> => {
  throw Object.assign(new Error(`there are no shared AWS files in a function: ${path}`), { code: 'ENOENT' });
};
