import { randomBytes } from 'node:crypto';
import { decode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ByteReader,
  ByteWriter,
  decodeMessagePack,
  encodeMessagePack,
  pack,
  unpack,
} from '../../../../foundations/encoding/packing.ts';
import { anyCharacter } from '../../../support/values/arbitraries/character.ts';

const lengths = [0, 1, 300, 65_792, 3_000_000];

describe('a packed frame', () => {
  it.each(lengths)('of %d bytes is unpacked', async (length) => {
    for (const bytes of [randomBytes(length), Buffer.alloc(length, 'agent ')])
      expect(Buffer.compare(unpack(await pack(bytes)), bytes)).toBe(0);
  });

  it('is unpacked unchanged, whatever its content', () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100_000 }), async (bytes) => {
        expect(Buffer.compare(unpack(await pack(bytes)), bytes)).toBe(0);
      }),
    ));

  it.each([
    ['at its end', (frame: Buffer) => (frame[frame.length - 1] ?? 0) ^ 1, -1],
    ['where it says its length', (frame: Buffer) => (frame[5] ?? 0) ^ 1, 5],
  ])('is refused if it is damaged %s', async (_, damaged, at) => {
    const frame = await pack(Buffer.from('hello hello hello'));
    frame[at < 0 ? frame.length + at : at] = damaged(frame);
    expect(() => unpack(frame)).toThrow();
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

const safe = Number.MAX_SAFE_INTEGER;
const counts = fc.oneof(fc.nat(200), fc.nat(), fc.integer({ min: 0, max: safe }), fc.constant(safe));
const integers = fc.oneof(fc.integer({ min: -70, max: 70 }), fc.integer({ min: -safe, max: safe }));
const texts = fc.oneof(fc.string({ unit: anyCharacter }), fc.string({ minLength: 24, maxLength: 3000 }));

describe('ByteWriter', () => {
  it('writes what ByteReader reads in the same order', () => {
    const value = fc.record({
      count: counts,
      integer: integers,
      double: fc.double(),
      text: texts,
      hex: fc.uint8Array(),
    });
    fc.assert(
      fc.property(fc.array(value), (values) => {
        const writer = new ByteWriter();
        for (const { count, integer, double, text, hex } of values) {
          writer.count(count);
          writer.integer(integer);
          writer.double(double);
          writer.text(text);
          writer.block(hex);
        }
        const reader = new ByteReader(writer.toBytes());
        for (const { count, integer, double, text, hex } of values) {
          expect(reader.count()).toBe(count);
          expect(reader.integer()).toBe(integer);
          expect(reader.double()).toBe(double);
          expect(reader.text()).toBe(text);
          expect(reader.hex(reader.count())).toBe(Buffer.from(hex).toString('hex'));
        }
        expect(reader.isDone).toBe(true);
      }),
    );
  });

  it('keeps its bytes while others are written', () => {
    const writer = new ByteWriter();
    writer.text('first');
    const first = writer.toBytes();
    writer.clear();
    writer.text('other');
    expect(new ByteReader(first).text()).toBe('first');
  });

  it('takes a byte for a count below 128, and for an integer of less than 64', () => {
    const writer = new ByteWriter();
    writer.count(127);
    writer.integer(-63);
    expect(writer.toBytes().length).toBe(2);
  });
});

describe('ByteWriter, given what it cannot write', () => {
  it.each([-1, 0.5, 2 ** 53, Number.NaN])('refuses %d rather than writing another number', (value) => {
    expect(() => new ByteWriter().count(value)).toThrow('as a count');
    if (value !== -1) expect(() => new ByteWriter().integer(value)).toThrow('as an integer');
  });
});

describe('ByteReader', () => {
  it('refuses bytes that end too early', () => {
    const reader = new ByteReader(Uint8Array.of(3, 97));
    expect(() => reader.text()).toThrow('too early');
    expect(() => new ByteReader(Uint8Array.of(0x80)).count()).toThrow('too early');
  });
});
