/*
 * What the service and the page know of values of any shape. Browsers load this as it is.
 */

/** Whether a value is an object with fields: no list, and not null. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text; undefined for any other value. */
export const asString = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** A text that is not empty; undefined for any other value. */
export const nonEmptyString = (value: unknown): string | undefined => asString(value) || undefined;

/** The value of a text in JSON; undefined if it is none. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/**
 * What a dotted path leads to; undefined for nothing. Like the service, it tries the longest key
 * first, since a key may hold dots itself (`summary.usage.gpt-4.1.total_tokens`).
 */
export const valueAt = (value: unknown, path: string): unknown => {
  if (path === '') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const key = path.slice(0, end);
    if (!Object.hasOwn(value, key)) continue;
    const found = valueAt((value as Record<string, unknown>)[key], path.slice(end + 1));
    if (found !== undefined) return found;
  }
  return undefined;
};
