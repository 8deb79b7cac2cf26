import { buffer } from 'node:stream/consumers';
import { NumberValue, type QueryCommand } from '@aws-sdk/lib-dynamodb';

/**
 * A value of an attribute: text, a number, bytes, truth, nothing, or a list or map of those. A
 * number that no double spells as DynamoDB does is a {@link NumberValue}, which is stored as it was
 * read.
 */
export type Value =
  | string
  | number
  | NumberValue
  | Uint8Array
  | boolean
  | null
  | readonly Value[]
  | { readonly [name: string]: Value };

/** An item, or the key of one: values by the names of their attributes. */
export type Item = Readonly<Record<string, Value>>;

/** The value where it is bytes, else undefined. */
export const asBytes = (value: Value | undefined): Uint8Array | undefined =>
  value instanceof Uint8Array ? value : undefined;

/** The value where it is text, else undefined. */
export const asText = (value: Value | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The value where it is a number that a double holds, else undefined. */
export const asNumber = (value: Value | undefined): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** The value where it is a map, else undefined. */
export const asMap = (value: Value | undefined): Item | undefined =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    ? (value as Item)
    : undefined;

/**
 * A number as a plain one where that has the same digits. Others keep their text: a copy of an item
 * must be the same to the last digit.
 */
export const exactNumber = (text: string): number | NumberValue => {
  const number = Number(text);
  return String(number) === text ? number : NumberValue.from(text);
};

/*
 * DynamoDB's rules for item sizes, from its Developer Guide: "DynamoDB item sizes and formats".
 */

/** A number takes a byte per two significant digits, one more, and one for a minus sign. */
const numberBytes = (text: string): number => {
  const digits = text.replace(/^-/, '').replace(/e.*$/i, '').replace('.', '').replace(/^0+/, '');
  const significant = text.includes('.') ? digits : digits.replace(/0+$/, '');
  return Math.ceil(significant.length / 2) + 1 + (text.startsWith('-') ? 1 : 0);
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The size of an attribute's value, in bytes. */
const valueBytes = (value: Value): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberBytes(String(value));
  if (value instanceof Uint8Array) return value.byteLength;
  if (Array.isArray(value)) return 3 + sum(value.map((element: Value) => 1 + valueBytes(element)));
  if (typeof value === 'boolean' || value === null) return 1;
  const map = asMap(value);
  if (!map) throw new Error(`no rule for the size of ${value}`);
  return 3 + sum(Object.entries(map).map((entry) => 1 + attributeBytes(...entry)));
};

const attributeBytes = (name: string, value: Value): number => Buffer.byteLength(name) + valueBytes(value);

/** An item of at most so many bytes takes one write unit, and at most one in each index. */
export const writeUnitBytes = 1024;

/** The size of an item in bytes: names and values of its attributes. */
export const itemBytes = (item: Item): number =>
  sum(Object.entries(item).map((entry) => attributeBytes(...entry)));

/*
 * The SDK makes two objects of every attribute, each by way of a schema and several calls. A scan
 * of headers spends more time on that than on the headers. So the items of a query's answer are
 * read here, from the JSON that DynamoDB's API writes. The SDK reads all else of the answer,
 * errors included.
 *
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
 */

/** An attribute's value on the wire, e.g. `{"B": "<base64>"}`. */
type WireValue = Readonly<Record<string, unknown>>;
export type WireItem = Readonly<Record<string, WireValue>>;

/**
 * Reads an attribute's value.
 *
 * @throws Error if it is of a type that items do not have: a set
 */
const fromWire = (wire: WireValue): Value => {
  if (wire.B !== undefined) return Buffer.from(wire.B as string, 'base64');
  if (wire.S !== undefined) return wire.S as string;
  if (wire.N !== undefined) return exactNumber(wire.N as string);
  if (wire.BOOL !== undefined) return wire.BOOL as boolean;
  if (wire.NULL !== undefined) return null;
  if (wire.L !== undefined) return (wire.L as WireValue[]).map(fromWire);
  if (wire.M !== undefined) return itemFromWire(wire.M as WireItem);
  throw new Error(`no item may hold a value of the type ${Object.keys(wire)}`);
};

/**
 * Reads an item.
 *
 * @throws Error if an attribute is of a type that items do not have: a set
 */
export const itemFromWire = (wire: WireItem): Item => {
  const item: Record<string, Value> = {};
  for (const name in wire) {
    const value = wire[name];
    if (value !== undefined) item[name] = fromWire(value);
  }
  return item;
};

/** The answer to a request, as far as it is read here. */
interface HttpAnswer {
  readonly statusCode: number;
  body: unknown;
}

/** The body of a query's answer, parsed; undefined if it is no JSON, which the SDK reports. */
const parsed = (bytes: Buffer): { Items?: readonly WireItem[] } | undefined => {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
};

/**
 * Has a query's items read here.
 *
 * @returns what gives the items of the last answer
 */
export const rawItems = (command: QueryCommand): (() => Item[]) => {
  let items: Item[] = [];
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as HttpAnswer;
      if (response.statusCode !== 200) return result;
      const bytes =
        response.body instanceof Uint8Array
          ? Buffer.from(response.body)
          : await buffer(response.body as NodeJS.ReadableStream);
      const { Items, ...rest } = parsed(bytes) ?? {};
      items = Items?.map(itemFromWire) ?? [];
      response.body = Items ? Buffer.from(JSON.stringify(rest)) : bytes;
      return result;
    },
    // Between the SDK's reading of the answer and its sending of the request.
    { step: 'deserialize', priority: 'low', name: 'rawItems', override: true },
  );
  return () => items;
};
