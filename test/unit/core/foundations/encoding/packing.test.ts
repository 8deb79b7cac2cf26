import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { decode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  contentSize,
  decodeMessagePack,
  encodeMessagePack,
  pack,
  unpack,
} from '../../../../../core/foundations/encoding/packing.ts';

const lengths = [0, 1, 2, 255, 256, 257, 300, 65_791, 65_792, 65_793, 3_000_000];

describe('a packed frame', () => {
  it.each(lengths)('states its length of %d bytes if it is long, and is unpacked', async (length) => {
    for (const bytes of [randomBytes(length), Buffer.alloc(length, 'agent ')]) {
      const frame = await pack(bytes);
      expect(contentSize(frame)).toBe(frame.length < 14 ? undefined : length);
      expect(await unpack(frame)).toEqual(bytes);
    }
  });

  it('is unpacked unchanged, whatever its content', () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100_000 }), async (bytes) => {
        expect(Buffer.compare(await unpack(await pack(bytes)), bytes)).toBe(0);
      }),
    ));

  it.each(lengths)('may omit its length of %d bytes, as older versions did', async (length) => {
    const bytes = Buffer.alloc(length, 'agent ');
    const frame = await promisify(zstdCompress)(bytes);
    expect(contentSize(frame)).toBeUndefined();
    expect(await unpack(frame)).toEqual(bytes);
  });

  it.each([
    ['one byte', '2405', 5],
    ['two bytes, from 256 on', '64bc01', 700],
    ['four bytes', 'a4010203ff', 0xff030201],
    ['eight bytes', 'e40000000001000000', 2 ** 32],
    ['four bytes behind one for the window', '8468010203ff', 0xff030201],
    ['none', '0468', undefined],
  ])('states its length in %s', (_, header, size) => {
    const frame = Buffer.concat([Buffer.from(`28b52ffd${header}`, 'hex'), Buffer.alloc(20)]);
    expect(contentSize(frame)).toBe(size);
  });

  it.each([
    ['at its end', (frame: Buffer) => (frame[frame.length - 1] ?? 0) ^ 1, -1],
    ['where it says its length', (frame: Buffer) => (frame[5] ?? 0) ^ 1, 5],
  ])('is refused if it is damaged %s', async (_, damaged, at) => {
    const frame = await pack(Buffer.from('hello hello hello'));
    frame[at < 0 ? frame.length + at : at] = damaged(frame);
    await expect(unpack(frame)).rejects.toThrow();
  });

  it('is refused if its stated length exceeds the memory', async () => {
    const frame = await pack(randomBytes(100_000));
    frame.writeUInt32LE(0xfffffff0, 5);
    await expect(unpack(frame)).rejects.toThrow();
  });
});

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
