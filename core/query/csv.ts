import { toPath, valueAt } from '../expression/index.ts';
import type { JsonValue, WireNames } from '../wire/index.ts';
import { projectionOf } from './columns.ts';
import type { CallsQuery } from './request.ts';
import type { CallRow } from './row.ts';

/** A field as RFC 4180 has it: in quotes where it holds a comma, a quote or a line break. */
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A value as a field: texts as they are, nothing for null, anything else as JSON. */
const fieldOf = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null) return '';
  return quoted(typeof value === 'string' ? value : JSON.stringify(value));
};

/** Calls as lines of CSV (RFC 4180, without their line breaks). */
export interface CsvEncoder {
  readonly header: string;
  readonly line: (row: CallRow) => string;
}

/** Makes what turns calls into CSV: a column for each that was asked for, a path by its own name and with what it leads to. */
export const csvEncoder = (names: WireNames, query: CallsQuery): CsvEncoder => {
  const columns = projectionOf(names, query).flatMap(({ column, paths }) => {
    const texts = paths.some(({ steps }) => steps.length === 0) ? [column] : paths.map(({ text }) => text);
    return [...new Set(texts)].map((text) => ({ column, path: toPath(text) }));
  });
  return {
    header: columns.map(({ path }) => quoted(path.text)).join(','),
    line: (row) =>
      columns
        .map(({ column, path }) =>
          fieldOf(valueAt(JSON.parse(row.json(column, query.returnExpanded)) as JsonValue, path.steps)),
        )
        .join(','),
  };
};
