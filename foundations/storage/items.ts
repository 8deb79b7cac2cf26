import { NumberValue } from '@aws-sdk/lib-dynamodb';

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
