import type { NumberValue } from '@aws-sdk/lib-dynamodb';

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
