let count = 0;

/**
 * A name, such as a project's, that no other try of a test has. A test that failed halfway is tried
 * again, and finds nothing of what its first try left behind.
 */
export const newName = (name: string): string => `${name}-${++count}`;
