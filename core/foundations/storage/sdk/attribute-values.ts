/*
 * Takes the place of `@aws-sdk/util-dynamodb` in the bundles (lib/bundles.ts). It knows sets,
 * classes and numbers beyond a double as well, which our items do not hold. They would be 4 KB of
 * every cold start.
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Value } from '../items.ts';

/** Stands where the SDK exports its class for numbers that no double spells. */
export const NumberValueImpl = {
  /** Never makes one: no item that a function reads holds such a number. Throws. */
  from: (text: string): never => {
    throw new Error(`an item holds a number that no double spells: ${text}`);
  },
};

const numberText = (value: number): string => {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
  throw new Error(`no item may hold the number ${value}`);
};

const mapped = <From, To>(map: Readonly<Record<string, From>>, change: (value: From) => To) =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));

/** A value as DynamoDB's API carries it. */
export const marshall = (value: Value): AttributeValue => {
  if (value instanceof Uint8Array) return { B: value };
  if (Array.isArray(value)) return { L: value.map((element: Value) => marshall(element)) };
  if (value === null) return { NULL: true };
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'number':
      return { N: numberText(value) };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      return { M: mapped(value as Readonly<Record<string, Value>>, marshall) };
    default:
      throw new Error(`no item may hold a ${typeof value}`);
  }
};

/**
 * A value, out of what DynamoDB's API carries.
 *
 * @param options the document client's: what is made of a number's text
 */
export const unmarshall = (
  value: AttributeValue,
  options: { readonly wrapNumbers: (text: string) => number },
): Value => {
  if (value.S !== undefined) return value.S;
  if (value.B !== undefined) return value.B;
  if (value.N !== undefined) return options.wrapNumbers(value.N);
  if (value.M !== undefined) return mapped(value.M, (element) => unmarshall(element, options));
  if (value.L !== undefined) return value.L.map((element) => unmarshall(element, options));
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.NULL !== undefined) return null;
  throw new Error(`no item may hold a value of the type ${Object.keys(value)}`);
};
