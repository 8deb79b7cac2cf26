import { type CallHeader, callColumns, columnJson, type Payload } from '../calls/index.ts';
import { isJsonObject, type JsonObject, type JsonValue, type WireNames } from '../wire/index.ts';

/** The column that a name or dotted path is of: `inputs` for `inputs.model`. */
export const rootOf = (path: string): string => path.split('.', 1)[0] ?? path;

/** Columns that are answered whether they were asked for or not. */
const always: readonly string[] = ['id', 'project_id', 'op_name', 'trace_id', 'started_at'];

/** Columns as they are to be answered: each root once, in the order of a whole call, whole or by paths into it. */
export interface Projection {
  readonly column: string;
  /** Paths below the column; null for all of it. */
  readonly paths: readonly (readonly string[])[] | null;
}

/** Puts the asked-for columns in order. Names that are no columns are the caller's to refuse. */
export const projectionOf = (names: WireNames, columns: readonly string[]): Projection[] => {
  const byRoot = Map.groupBy([...always, ...columns], rootOf);
  return callColumns(names).flatMap((column) => {
    const asked = byRoot.get(column);
    if (!asked) return [];
    const paths = asked.includes(column) ? null : asked.map((path) => path.split('.').slice(1));
    return [{ column, paths }];
  });
};

/** Where a dotted path leads in a value: the keys as they stand in it, or undefined where it leads nowhere. */
const resolve = (value: JsonValue, path: readonly string[]): string[] | undefined => {
  if (path.length === 0) return [];
  if (Array.isArray(value)) {
    const [index = '', ...rest] = path;
    const item = /^\d+$/.test(index) ? value[Number(index)] : undefined;
    const below = item === undefined ? undefined : resolve(item, rest);
    return below && [index, ...below];
  }
  if (!isJsonObject(value)) return undefined;
  // A key may hold dots itself (gpt-4.1): the shortest that leads on wins.
  for (let length = 1; length <= path.length; length++) {
    const key = path.slice(0, length).join('.');
    if (!Object.hasOwn(value, key)) continue;
    const below = resolve(value[key] ?? null, path.slice(length));
    if (below) return [key, ...below];
  }
  return undefined;
};

/** Copies what lies at `keys` from one value into another of the same shape, making what is missing on the way. */
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

/** The part of a value that the paths lead to, in the value's own shape; null for a value that no path leads into. */
export const pick = (value: JsonValue, paths: readonly (readonly string[])[]): JsonValue => {
  if (typeof value !== 'object' || value === null) return null;
  let picked: JsonValue = Array.isArray(value) ? [] : {};
  for (const path of paths) {
    const keys = resolve(value, path);
    if (keys) picked = graft(value, picked, keys);
  }
  return picked;
};

/** The JSON text of the asked-for columns of a call. Only what is answered by paths is parsed. */
export const projectedJson = (
  names: WireNames,
  call: CallHeader,
  payload: Payload | null,
  projection: readonly Projection[],
): string => {
  const fields = projection.map(({ column, paths }) => {
    const text = paths
      ? JSON.stringify(pick(JSON.parse(columnJson(names, call, payload, column)), paths))
      : columnJson(names, call, payload, column);
    return `${JSON.stringify(column)}:${text}`;
  });
  return `{${fields.join(',')}}`;
};
