/*
 * What people type into a filter: a number, a boolean and null are meant as such, unless they stand
 * in quotes.
 */

/** A typed text as the value it means: `12`, `true` and `null` are no texts, `"12"` is. */
export const literalOf = (text: string): string | number | boolean | null => {
  try {
    const value: unknown = JSON.parse(text);
    if (
      typeof value === 'number' ||
      typeof value === 'boolean' ||
      typeof value === 'string' ||
      value === null
    )
      return value;
  } catch {
    // It is a text without quotes.
  }
  return text;
};

/** How a text is typed: in quotes if it would mean something else without. */
export const typedText = (text: string): string => (literalOf(text) === text ? text : JSON.stringify(text));
