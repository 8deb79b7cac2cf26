/** Random messages of OpenTelemetry, made of the official definitions. */
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import fc from 'fast-check';

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '__proto__',
    'a.b.__proto__.c',
    'gen_ai.request.model',
    'gen_ai.usage.input_tokens',
    'gen_ai.prompt.0.content',
    'input.value',
    'llm.input_messages.0.message.role',
    'session.id',
    '{"a": [1, {"__proto__": {}}]}',
    '[',
  ),
);
const bytes = (name: string) => {
  const length = { trace_id: 16, span_id: 8, parent_span_id: 8 }[name];
  if (length === undefined) return fc.uint8Array({ maxLength: 20 });
  const id = fc.uint8Array({ minLength: length, maxLength: length });
  return fc.oneof({ weight: 9, arbitrary: id }, fc.uint8Array({ maxLength: 20 }));
};

/** Scalars by the names of their types. */
const scalar = (field: DescField): fc.Arbitrary<unknown> => {
  if (field.fieldKind === 'enum') return fc.integer({ min: 0, max: 7 });
  const type = String(field).includes('time') ? 'time' : field.scalar;
  if (type === 'time') return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const float = 1;
  const int64 = 3;
  const uint64 = 4;
  const int32 = 5;
  const fixed64 = 6;
  const fixed32 = 7;
  const bool = 8;
  const string = 9;
  const ofBytes = 12;
  const uint32 = 13;
  switch (type) {
    case float:
      return fc.double();
    case int64:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case uint64:
    case fixed64:
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    case int32:
      return fc.integer({ min: 0, max: 9 });
    case fixed32:
    case uint32:
      return fc.nat(0x3ff);
    case bool:
      return fc.boolean();
    case string:
      return text;
    case ofBytes:
      return bytes(field.name);
    default:
      throw new Error(`no arbitrary for ${String(field)}`);
  }
};

const valueOfField = (field: DescField, levels: number): fc.Arbitrary<unknown> => {
  if (field.message && field.fieldKind === 'list')
    return fc.array(arbitraryMessage(field.message, levels - 1), { maxLength: levels > 0 ? 3 : 0 });
  if (field.message) return levels > 0 ? arbitraryMessage(field.message, levels - 1) : fc.constant(undefined);
  if (field.fieldKind === 'list') return fc.constant([]);
  return scalar(field);
};

/** Messages by their definition: every field of every message, to some depth. */
export const arbitraryMessage = (desc: DescMessage, levels: number): fc.Arbitrary<object> => {
  const plain = desc.fields.filter((field) => field.oneof === undefined);
  const fields = Object.fromEntries(plain.map((field) => [field.localName, valueOfField(field, levels)]));
  const oneofs = Object.fromEntries(
    desc.oneofs.map((oneof) => [
      oneof.localName,
      fc.oneof(
        ...oneof.fields
          .filter((field) => levels > 0 || !field.message)
          .map((field) => valueOfField(field, levels).map((value) => ({ case: field.localName, value }))),
      ),
    ]),
  );
  return fc.record({ ...fields, ...oneofs }, { requiredKeys: [] });
};
