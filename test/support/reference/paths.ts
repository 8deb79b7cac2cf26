import { isJsonObject, type JsonObject, type JsonValue } from '../../../foundations/wire/index.ts';
import type { Value } from './values.ts';

const getChild = (value: JsonValue, key: string): Value => {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
};

/**
 * The keys and indexes along which a path leads into a value, or undefined where it leads nowhere.
 * Keys may hold dots themselves: the shortest that leads on is taken.
 *
 * @param segments the path, cut at its dots
 */
const stepsInto = (value: JsonValue, segments: readonly string[]): string[] | undefined => {
  if (segments.length === 0) return [];
  for (let length = 1; length <= segments.length; length++) {
    const key = segments.slice(0, length).join('.');
    const child = getChild(value, key);
    if (child === undefined) continue;
    const rest = stepsInto(child, segments.slice(length));
    if (rest) return [key, ...rest];
  }
  return undefined;
};

/** A path's column and the segments that go on into its value. */
const cutPath = (call: JsonObject, path: string): [column: string, segments: string[]] => {
  const [column = '', ...segments] = path.split('.');
  if (!Object.hasOwn(call, column)) throw new RangeError(`there is no column ${column}`);
  return [column, segments];
};

/**
 * What a dotted path leads to in a call; undefined where it leads nowhere.
 *
 * @throws RangeError where its first segment is no column
 */
export const valueAt = (call: JsonObject, path: string): Value => {
  const [column, segments] = cutPath(call, path);
  const root = call[column] ?? null;
  return stepsInto(root, segments)?.reduce<Value>((value, step) => getChild(value ?? null, step), root);
};

/**
 * What of a value lies on the way of some chains of steps, in its own shape. Null stands for list
 * items that no chain takes.
 */
const pick = (value: JsonValue, chains: readonly (readonly string[])[]): JsonValue => {
  if (chains.some((chain) => chain.length === 0)) return value;
  const after = (key: string | number): string[][] =>
    chains.filter(([first]) => String(first) === String(key)).map(([, ...rest]) => rest);
  if (Array.isArray(value)) {
    const length = Math.max(0, ...chains.map(([index]) => Number(index) + 1));
    return Array.from({ length }, (_, i) => (after(i).length > 0 ? pick(value[i] ?? null, after(i)) : null));
  }
  if (!isJsonObject(value)) return null;
  const kept = Object.entries(value).filter(([key]) => after(key).length > 0);
  return Object.fromEntries(kept.map(([key, member]) => [key, pick(member, after(key))]));
};

/**
 * One column of a call, cut to the paths that lead into it.
 *
 * @param paths dotted paths that begin with the column; the column itself asks for all of it
 */
export const pickColumn = (call: JsonObject, column: string, paths: readonly string[]): JsonValue => {
  const root = call[column] ?? null;
  const chains = paths.map((path) => stepsInto(root, cutPath(call, path)[1]));
  return pick(
    root,
    chains.filter((chain) => chain !== undefined),
  );
};
