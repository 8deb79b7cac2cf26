/*
 * Takes the place of `node:fs/promises` in the bundles (lib/bundles.ts): the SDK alone imports it
 * there, to look for `~/.aws/config` and its like, which a function does not have.
 */

/** Reads no file: fails as where there is none, which the SDK takes for an empty one. */
export const readFile = async (path: string): Promise<never> => {
  throw Object.assign(new Error(`there are no shared AWS files in a function: ${path}`), { code: 'ENOENT' });
};
