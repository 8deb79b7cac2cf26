/*
 * Takes the place of `@aws/lambda-invoke-store` in the bundles (lib/bundles.ts). It tells requests
 * apart in a container that serves several at once. Ours serves one, whose trace is in its
 * environment.
 */

/** Stands where the SDK asks for the request's own store. */
export const InvokeStore = {
  /** There is none: the SDK then looks into the environment. */
  getInstanceAsync: async (): Promise<undefined> => undefined,
};
