import { type JsonObject, type JsonValue, parseJson, problemOf } from '../../foundations/wire/index.ts';
import type { AttributeValue } from './span.ts';

/** How deep the dots of a key nest. What is left of a longer key stays together. */
const maxKeyLevels = 32;

/** How deep a value that is JSON text may nest. A deeper one stays text. */
const maxParsedLevels = 256;

/** An object that takes any key, `__proto__` too. */
const emptyObject = (): JsonObject => Object.create(null) as JsonObject;

const parsed = (text: string): JsonValue => {
  try {
    const value = parseJson(text) as JsonValue;
    return problemOf(value, maxParsedLevels) ? text : value;
  } catch {
    return text;
  }
};

/**
 * The value of a text: what it says if it is a JSON object or list, else the text. Numbers and
 * words stay text, for `"007"` is more often a name than a number.
 */
const ofText = (text: string): JsonValue => {
  const first = text.trimStart()[0];
  return first === '{' || first === '[' ? parsed(text) : text;
};

/** A value within another, where a text stays what it is. */
const plain = (value: AttributeValue): JsonValue => {
  switch (typeof value) {
    case 'number':
      // JSON has neither.
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return String(value);
    case 'object':
      return ofObject(value);
    default:
      return value;
  }
};

const ofObject = (value: Exclude<AttributeValue, string | number | bigint | boolean>): JsonValue => {
  if (value === null) return null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(plain);
  const object = emptyObject();
  for (const [key, field] of Object.entries(value as Readonly<Record<string, AttributeValue>>))
    object[key] = plain(field);
  return object;
};

/**
 * The JSON of an attribute's value. Text that is a JSON object or list is parsed, bytes become
 * base64, integers beyond 2^53 and what is no number become text.
 */
export const jsonOf = (value: AttributeValue): JsonValue =>
  typeof value === 'string' ? ofText(value) : plain(value);

/** A part of a key: its own value, if it is a whole key too, and the parts that follow it. */
interface Node {
  value: JsonValue | undefined;
  readonly parts: Map<string, Node>;
}

const newNode = (): Node => ({ value: undefined, parts: new Map() });

const partsOf = (key: string): string[] => {
  const parts = key.split('.');
  return parts.length <= maxKeyLevels
    ? parts
    : [...parts.slice(0, maxKeyLevels - 1), parts.slice(maxKeyLevels - 1).join('.')];
};

const insert = (root: Node, key: string, value: JsonValue): void => {
  let node = root;
  for (const part of partsOf(key)) {
    let next = node.parts.get(part);
    if (!next) {
      next = newNode();
      node.parts.set(part, next);
    }
    node = next;
  }
  node.value = value;
};

/** The name that the value of `a` gets beside `a.b`: `value`, unless there is `a.value` too. */
const valueName = ({ parts }: Node): string => {
  let name = 'value';
  while (parts.has(name)) name += '_';
  return name;
};

const toJson = (node: Node): JsonValue => {
  if (node.parts.size === 0) return node.value ?? null;
  const object = emptyObject();
  if (node.value !== undefined) object[valueName(node)] = node.value;
  for (const [part, next] of node.parts) object[part] = toJson(next);
  return object;
};

/**
 * Nests attributes at the dots of their keys: `a.b` becomes field `b` of `a`. Where `a` is an
 * attribute too, its value becomes `a.value`. The objects have no prototype.
 */
export const nested = (attributes: Iterable<readonly [key: string, value: AttributeValue]>): JsonObject => {
  const root = newNode();
  for (const [key, value] of attributes) insert(root, key, jsonOf(value));
  return root.parts.size === 0 ? emptyObject() : (toJson(root) as JsonObject);
};
