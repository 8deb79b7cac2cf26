import {
  ExactNumber,
  findProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  plainNumber,
} from '../../../foundations/wire/index.ts';
import type { AttributeValue } from './span.ts';

/** A JSON object whose values are not known. */
export type Dict = Record<string, unknown>;

export const isDict = (value: unknown): value is Dict => isJsonObject(value);

/** A property of the object itself, so that `constructor` and `__proto__` are nothing special. */
export const get = (value: unknown, key: string): unknown =>
  isDict(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** The first of the keys that the object has a value under: not null, not undefined. */
export const first = (value: unknown, ...keys: readonly string[]): unknown => {
  for (const key of keys) {
    const found = get(value, key);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
};

/** A count of tokens: a whole number from 0, perhaps written as text. */
export const toCount = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : plainNumber(value);
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
    ? Math.abs(number)
    : undefined;
};

/**
 * An attribute's value as JSON, where a text stays what it is. Integers beyond 2^53 and numbers that
 * JSON cannot write become text, bytes become base64.
 */
export const plain = (value: AttributeValue): JsonValue => {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof ExactNumber) return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
};

/** How deep a value that is JSON text may nest. A deeper one stays text. */
const maxParsedLevels = 256;

/** The value of a JSON text; the text itself if it is not JSON, or is JSON that storage could not keep. */
const fromJson = (text: string): unknown => {
  try {
    const value: unknown = parseJson(text);
    return findProblem(value, maxParsedLevels) ? text : value;
  } catch {
    return text;
  }
};

/** Most text is no JSON, and a failing JSON.parse is slow. So only text that begins like JSON is parsed. */
const parsing =
  (beginning: RegExp) =>
  (value: unknown): unknown =>
    typeof value === 'string' && beginning.test(value) ? fromJson(value) : value;

/** The value of a JSON text, whatever it is. Anything else stays as it is. */
export const parsed = parsing(/^\s*["[{\d\-tfn]/);

/**
 * The list or object of a JSON text. Anything else stays as it is, numbers and words in text too:
 * `"007"` is more often a name than a number.
 */
export const structured = parsing(/^\s*[[{]/);

/** The same, with text that is a JSON string unquoted. */
export const unquoted = parsing(/^\s*["[{]/);

/** The JSON of an attribute's value: as in {@link plain}, with text that is an object or list parsed. */
export const toJson = (value: AttributeValue): JsonValue =>
  typeof value === 'string' ? (structured(value) as JsonValue) : plain(value);

/** A value as the text of a message: text as it is, all else as JSON. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** An object as `inputs`; anything else goes under `input`. undefined and '' are nothing. */
export const asInputs = (value: unknown): Dict | undefined => {
  if (value === undefined || value === null || value === '') return undefined;
  if (!isDict(value)) return { input: value };
  return Object.keys(value).length === 0 ? undefined : value;
};

/** The entries that have a value, or undefined when none has. */
export const present = (fields: Dict): Dict | undefined => {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
};

/** How deep the dots of a key nest. What is left of a longer key stays together. */
const maxKeyLevels = 32;

/** A segment of a key: its own value, if it is a whole key too, and the segments that follow it. */
interface Node {
  value: unknown;
  readonly children: Map<string, Node>;
}

const newNode = (): Node => ({ value: undefined, children: new Map() });

const splitKey = (key: string): string[] => {
  const segments = key.split('.');
  return segments.length <= maxKeyLevels
    ? segments
    : [...segments.slice(0, maxKeyLevels - 1), segments.slice(maxKeyLevels - 1).join('.')];
};

const toTree = (entries: Iterable<readonly [key: string, value: unknown]>): Node => {
  const root = newNode();
  for (const [key, value] of entries) {
    let node = root;
    for (const segment of splitKey(key)) {
      const next = node.children.get(segment) ?? newNode();
      node.children.set(segment, next);
      node = next;
    }
    node.value = value;
  }
  return root;
};

/** The name that the value of `a` gets beside `a.b`: `value`, unless there is `a.value` too. */
const valueName = ({ children }: Node): string => {
  let name = 'value';
  while (children.has(name)) name += '_';
  return name;
};

const build = (node: Node, withLists: boolean): unknown => {
  if (node.children.size === 0) return node.value ?? null;
  const children = [...node.children];
  if (withLists && node.value === undefined && children.every(([key]) => /^\d+$/.test(key)))
    return children.sort(([a], [b]) => Number(a) - Number(b)).map(([, child]) => build(child, true));
  const fields = children.map(([key, child]) => [key, build(child, withLists)] as const);
  return Object.fromEntries(node.value === undefined ? fields : [[valueName(node), node.value], ...fields]);
};

/**
 * Nests attributes at the dots of their keys: `a.b` becomes field `b` of `a`. Where `a` is an
 * attribute too, its value becomes `a.value`.
 */
export const nested = (attributes: Iterable<readonly [key: string, value: AttributeValue]>): JsonObject => {
  const root = toTree(Array.from(attributes, ([key, value]) => [key, toJson(value)] as const));
  return root.children.size === 0 ? {} : (build(root, false) as JsonObject);
};

/**
 * Nests values that are JSON already, likewise. Objects whose keys are all numbers become lists,
 * without gaps.
 *
 * @returns undefined for no keys
 */
export const unflatten = (entries: ReadonlyMap<string, unknown>): unknown =>
  entries.size === 0 ? undefined : build(toTree(entries), true);
