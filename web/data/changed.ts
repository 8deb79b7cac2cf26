/**
 * A view's state with changes. What is changed to undefined is left out, so that the URL has only
 * what differs from the default.
 */
export const changed = <T extends object>(
  before: object,
  changes: { readonly [Field in keyof T]?: T[Field] | undefined },
): T =>
  Object.fromEntries(
    Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined),
  ) as unknown as T;
