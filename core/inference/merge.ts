import { isJsonObject, type JsonObject, type JsonValue } from '../wire/index.ts';
import type { CharacterAllowance } from './allowance.ts';

/** Texts that come whole, and perhaps again and again; all others come in pieces. */
const whole = new Set(['finish_reason', 'id', 'name', 'object', 'role', 'type']);

/** What an entry costs beside its text. */
const overhead = 16;
const deepest = 16;
const maxList = 1024;

/** A key that would set a prototype is no data. */
const isKey = (key: string): boolean => key !== '__proto__';

const ownOf = (object: JsonObject, key: string): JsonValue | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

const lengthOf = (value: JsonValue): number => JSON.stringify(value).length;

/** Sets a value in the place of whatever there is, if the allowance allows. */
export const setKept = (
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
  if (typeof before !== 'string' || whole.has(key)) setKept(target, key, piece, allowance);
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
  else if (list.length >= maxList) allowance.exceed();
  else if (allowance.take(overhead)) {
    const fresh: JsonObject = {};
    list.push(fresh);
    mergeDelta(fresh, item, allowance, depth + 1);
  }
};

/**
 * Merges a piece of a streamed message into what came before: texts are put one behind the other,
 * lists too, but for items with an `index`, which are merged with those of the same index; of
 * everything else the last is in force.
 *
 * @param target is changed
 * @param depth how deep the piece lies in its message
 */
export const mergeDelta = (
  target: JsonObject,
  delta: JsonObject,
  allowance: CharacterAllowance,
  depth = 0,
): void => {
  if (depth > deepest) {
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
    } else setKept(target, key, value, allowance);
  }
};
