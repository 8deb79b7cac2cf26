import type { AnyValue, KeyValue } from '../proto/opentelemetry/proto/common/v1/common_pb.js';
import type { Attributes, AttributeValue } from '../span.ts';

const { MAX_SAFE_INTEGER } = Number;

const toNumber = (value: bigint): number | bigint =>
  value >= -MAX_SAFE_INTEGER && value <= MAX_SAFE_INTEGER ? Number(value) : value;

/** An attribute's value without its protobuf wrapping. A value that is not set is null. */
export const plainValue = (wrapped: AnyValue | undefined): AttributeValue => {
  const { case: kind, value } = wrapped?.value ?? { case: undefined };
  switch (kind) {
    case 'intValue':
      return toNumber(value);
    case 'arrayValue':
      return value.values.map(plainValue);
    case 'kvlistValue':
      return objectOf(value.values);
    case 'stringValue':
    case 'boolValue':
    case 'doubleValue':
    case 'bytesValue':
      return value;
    default:
      return null;
  }
};

/** Without a prototype, so that any key is a field of its own. */
const objectOf = (pairs: readonly KeyValue[]): { readonly [key: string]: AttributeValue } => {
  const object: Record<string, AttributeValue> = Object.create(null);
  for (const { key, value } of pairs) object[key] = plainValue(value);
  return object;
};

/** Attributes by key, in order. The last of duplicate keys counts. */
export const attributesOf = (pairs: readonly KeyValue[]): Attributes =>
  new Map(pairs.map(({ key, value }) => [key, plainValue(value)]));
