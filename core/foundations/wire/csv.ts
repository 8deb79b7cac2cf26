import type { JsonValue } from './json.ts';

/** A field after RFC 4180: in quotes if it holds a comma, a quote or a line break. */
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A value as a field: a text as it is, nothing for null, anything else as JSON. */
const csvField = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null) return '';
  return quoted(typeof value === 'string' ? value : JSON.stringify(value));
};

/** Values as a line of CSV (RFC 4180), without its line break. */
export const csvLine = (values: readonly (JsonValue | undefined)[]): string => values.map(csvField).join(',');
