import { type FieldPath, keysTo, toPath } from '../../foundations/expression/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  type WireNames,
} from '../../foundations/wire/index.ts';
import { fieldsOf } from './fields.ts';
import type { CallsQuery } from './request.ts';
import type { CallRow } from './row.ts';

/** Columns that are always answered. */
const always: readonly string[] = ['id', 'project_id', 'op_name', 'trace_id', 'started_at'];

/** A column as it is to be answered: by paths into it, or whole if one of them has no steps. */
export interface Projection {
  readonly column: string;
  readonly paths: readonly FieldPath[];
}

/** What is always answered, what was asked for, and what is to be included. */
const askedColumns = (
  names: WireNames,
  columns: readonly string[],
  { includes }: Pick<CallsQuery, 'includes'>,
) => [
  ...always,
  ...columns,
  ...fieldsOf(names, includes).slice(
    fieldsOf(names, { ...includes, storageSize: false, totalStorageSize: false }).length,
  ),
  ...(includes.costs ? [`summary.${names.service}.costs`] : []),
  ...(includes.feedback ? [`summary.${names.service}.feedback`] : []),
];

/** The columns of an answer, each once and in the order of a whole call. */
export const projectionOf = (
  names: WireNames,
  { columns, includes }: Pick<CallsQuery, 'columns' | 'includes'>,
): Projection[] => {
  const fields = fieldsOf(names, includes);
  if (columns === null) return fields.map((column) => ({ column, paths: [toPath(column)] }));
  const byField = Map.groupBy(askedColumns(names, columns, { includes }).map(toPath), ({ field }) => field);
  return fields.flatMap((column) => {
    const paths = byField.get(column);
    return paths ? [{ column, paths }] : [];
  });
};

/** Copies what is at `keys` from one value to another of the same shape, with all on the way. */
const graft = (from: JsonValue, to: JsonValue, keys: readonly string[]): JsonValue => {
  const [key, ...rest] = keys;
  if (key === undefined) return from;
  if (Array.isArray(from)) {
    const list = Array.isArray(to) ? to : [];
    const index = Number(key);
    while (list.length <= index) list.push(null);
    list[index] = graft(from[index] ?? null, list[index] ?? null, rest);
    return list;
  }
  const source = from as JsonObject;
  const target: JsonObject = isJsonObject(to) ? to : {};
  const before = Object.hasOwn(target, key) ? target[key] : null;
  const value = graft(source[key] ?? null, before ?? null, rest);
  // A plain assignment to __proto__ would set the prototype.
  return Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
};

/** What paths lead to in a value, in the value's own shape; null for a value that has no fields. */
export const pick = (value: JsonValue, paths: readonly (readonly string[])[]): JsonValue => {
  if (!Array.isArray(value) && !isJsonObject(value)) return null;
  let picked: JsonValue = Array.isArray(value) ? [] : {};
  for (const path of paths) {
    const keys = keysTo(value, path);
    if (keys) picked = graft(value, picked, keys);
  }
  return picked;
};

/**
 * Makes the encoder of calls as JSON text with the columns that were asked for. It parses only what
 * is answered by paths.
 */
export const jsonEncoder = (names: WireNames, query: CallsQuery): ((row: CallRow) => string) => {
  const columns = projectionOf(names, query).map(({ column, paths }) => ({
    column,
    key: JSON.stringify(column),
    steps: paths.some(({ steps }) => steps.length === 0) ? null : paths.map(({ steps }) => steps),
  }));
  const username = query.usernames
    ? (row: CallRow) => [`"wb_username":${JSON.stringify(row.header.start.userId)}`]
    : () => [];
  return (row) => {
    const fields = columns.map(({ column, key, steps }) => {
      const text = row.json(column, query.returnExpanded);
      return `${key}:${steps ? JSON.stringify(pick(parseJson(text) as JsonValue, steps)) : text}`;
    });
    return `{${[...fields, ...username(row)].join(',')}}`;
  };
};
