/*
 * What the service and the page know of values of any shape. Browsers load this as it is.
 */

/** Whether a value is an object with fields: no list, and not null. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text; undefined for any other value. */
export const asString = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The value of a text in JSON; undefined if it is none. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
