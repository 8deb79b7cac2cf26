import { isJsonObject, type JsonObject, type JsonValue } from '../../foundations/wire/index.ts';
import type { CharacterAllowance } from './allowance.ts';

/** Text fields that arrive complete, perhaps repeatedly. All others arrive in pieces. */
const completeFields = new Set(['finish_reason', 'id', 'name', 'object', 'role', 'type']);

/** What an entry costs beside its text, in characters. */
const overhead = 16;
const maxDepth = 16;
const maxListLength = 1024;

/** Skips the key that would set a prototype. */
const isKey = (key: string): boolean => key !== '__proto__';

const ownOf = (object: JsonObject, key: string): JsonValue | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

const lengthOf = (value: JsonValue): number => JSON.stringify(value).length;

/** Sets or replaces a value if the allowance suffices for its growth. */
export const setIfAllowed = (
  target: JsonObject,
  key: string,
  value: JsonValue,
  allowance: CharacterAllowance,
): void => {
  if (!isKey(key)) return;
  const before = ownOf(target, key);
  if (before === value) return;
  const growth =
    before === undefined ? overhead + key.length + lengthOf(value) : lengthOf(value) - lengthOf(before);
  if (allowance.take(Math.max(0, growth))) target[key] = value;
};

const mergeText = (target: JsonObject, key: string, piece: string, allowance: CharacterAllowance): void => {
  const before = ownOf(target, key);
  if (typeof before !== 'string' || completeFields.has(key)) setIfAllowed(target, key, piece, allowance);
  else if (allowance.take(piece.length)) target[key] = before + piece;
};

const indexOf = (item: JsonValue): number | undefined =>
  isJsonObject(item) && typeof item.index === 'number' ? item.index : undefined;

const mergeItem = (
  list: JsonValue[],
  item: JsonValue,
  allowance: CharacterAllowance,
  depth: number,
): void => {
  const index = indexOf(item);
  if (!isJsonObject(item) || index === undefined) {
    if (allowance.take(overhead + lengthOf(item))) list.push(item);
    return;
  }
  const before = list.find((other) => indexOf(other) === index);
  if (isJsonObject(before)) mergeDelta(before, item, allowance, depth + 1);
  else if (list.length >= maxListLength) allowance.exceed();
  else if (allowance.take(overhead)) {
    const fresh: JsonObject = {};
    list.push(fresh);
    mergeDelta(fresh, item, allowance, depth + 1);
  }
};

/**
 * Merges a piece of a streamed message into what came before. Texts and lists are concatenated, and
 * items with an `index` are merged with those of the same index. The last of any other value
 * counts.
 *
 * @param target is changed
 * @param depth the depth of the piece in its message
 */
export const mergeDelta = (
  target: JsonObject,
  delta: JsonObject,
  allowance: CharacterAllowance,
  depth = 0,
): void => {
  if (depth > maxDepth) {
    allowance.exceed();
    return;
  }
  for (const [key, value] of Object.entries(delta)) {
    if (!isKey(key)) continue;
    const before = ownOf(target, key);
    if (value === null && before !== undefined) continue;
    if (typeof value === 'string') mergeText(target, key, value, allowance);
    else if (Array.isArray(value)) {
      const list = Array.isArray(before) ? before : [];
      if (list !== before && allowance.take(overhead + key.length)) target[key] = list;
      for (const item of value) mergeItem(list, item, allowance, depth);
    } else if (isJsonObject(value)) {
      const object = isJsonObject(before) ? before : {};
      if (object !== before && allowance.take(overhead + key.length)) target[key] = object;
      mergeDelta(object, value, allowance, depth + 1);
    } else setIfAllowed(target, key, value, allowance);
  }
};
