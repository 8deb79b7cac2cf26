import { decode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeMessagePack,
  encodeMessagePack,
} from '../../../../../core/foundations/encoding/message-pack.ts';

/** The library reads no object with a field `__proto__`. What is stored has lists alone. */
const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__":'));
const fields = fc.array(fc.oneof(json, fc.uint8Array(), fc.constant(null)));

describe('MessagePack', () => {
  it('restores every value as its library does', () => {
    fc.assert(
      fc.property(fields, (list) => {
        const bytes = encodeMessagePack(list);
        expect(decode(bytes)).toEqual(decodeMessagePack(bytes));
        expect(encodeMessagePack(decodeMessagePack(bytes))).toEqual(bytes);
      }),
    );
  });

  it('keeps its bytes while other values are encoded', () => {
    const first = encodeMessagePack(['first']);
    encodeMessagePack(['other']);
    expect(decodeMessagePack(first)).toEqual(['first']);
  });

  it('is refused if bytes are missing or left over', () => {
    const bytes = encodeMessagePack(['a', 'b']);
    expect(() => decodeMessagePack(bytes.subarray(0, -1))).toThrow();
    expect(() => decodeMessagePack(Buffer.concat([bytes, Buffer.of(1)]))).toThrow();
  });
});
