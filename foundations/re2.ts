import type { RE2JS } from 're2js';

/**
 * Compiles a regular expression of RE2, which takes time in proportion to the text, whatever the
 * expression. The package is large, so it is loaded at its first use.
 *
 * @throws RE2JSException that says what is wrong with the expression
 */
export const compileRe2 = async (pattern: string): Promise<RE2JS> => {
  const { RE2JS: library } = await import('re2js');
  return library.compile(pattern);
};

/** What is wrong with an expression, as RE2 says it; undefined for a good one. */
export const re2Problem = async (pattern: string): Promise<string | undefined> => {
  try {
    await compileRe2(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
