import { toPath, valueAt } from '../../foundations/expression/index.ts';
import { csvLine, type JsonValue, parseJson, type WireNames } from '../../foundations/wire/index.ts';
import { projectionOf } from './columns.ts';
import type { CallsQuery } from './request.ts';
import type { CallRow } from './row.ts';

/** Calls as lines of CSV (RFC 4180, without their line breaks). */
export interface CsvEncoder {
  readonly header: string;
  readonly line: (row: CallRow) => string;
}

/** Makes the encoder of calls as CSV. A path that was asked for has a column of its own. */
export const csvEncoder = (names: WireNames, query: CallsQuery): CsvEncoder => {
  const columns = projectionOf(names, query).flatMap(({ column, paths }) => {
    const texts = paths.some(({ steps }) => steps.length === 0) ? [column] : paths.map(({ text }) => text);
    return [...new Set(texts)].map((text) => ({ column, path: toPath(text) }));
  });
  return {
    header: csvLine(columns.map(({ path }) => path.text)),
    line: (row) =>
      csvLine(
        columns.map(({ column, path }) =>
          valueAt(parseJson(row.json(column, query.returnExpanded)) as JsonValue, path.steps),
        ),
      ),
  };
};
