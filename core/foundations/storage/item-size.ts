import { asMap, type Item, type Value } from './item.ts';

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

/** The size of an item in bytes: names and values of its attributes. */
export const itemBytes = (item: Item): number =>
  sum(Object.entries(item).map((entry) => attributeBytes(...entry)));
