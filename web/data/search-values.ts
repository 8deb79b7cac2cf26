/** A value of a URL as text: the router reads text of digits as a number. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

/** A time of a URL as it is written there; undefined if it is none. */
export const timeOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
};
