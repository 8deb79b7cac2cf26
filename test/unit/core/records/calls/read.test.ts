import { describe, expect, it } from 'vitest';
import { UnpackedSegments } from '../../../../../core/records/calls/read.ts';
import { pack } from '../../../../../foundations/encoding/index.ts';

const texts = ['the first segment', 'the second one', 'a third'].map((text) => Buffer.from(text.repeat(100)));

/** Packed segments of those texts, and room for all of them but a byte. */
const setUp = async () => {
  const packed = await Promise.all(texts.map((text) => pack(text)));
  const bytes = packed.reduce((sum, { length }) => sum + length, 0);
  const [first, second, third] = packed as [Buffer, Buffer, Buffer];
  return { first, second, third, bytes };
};

describe('unpacked segments', () => {
  it('are given again for the same bytes', async () => {
    const { first, bytes } = await setUp();
    const segments = new UnpackedSegments(bytes);
    const unpacked = segments.unpack('a', first);
    expect(unpacked).toEqual(texts[0]);
    expect(segments.unpack('a', Buffer.from(first))).toBe(unpacked);
  });

  it('are unpacked anew when the segment has other bytes', async () => {
    const { first, second, bytes } = await setUp();
    const segments = new UnpackedSegments(bytes);
    segments.unpack('a', first);
    expect(segments.unpack('a', second)).toEqual(texts[1]);
  });

  it('are forgotten by their bytes, the one used least recently first', async () => {
    const { first, second, third, bytes } = await setUp();
    const segments = new UnpackedSegments(bytes - 1);
    const one = segments.unpack('a', first);
    const two = segments.unpack('b', second);
    segments.unpack('a', first);
    segments.unpack('c', third);
    expect(segments.unpack('a', first)).toBe(one);
    expect(segments.unpack('b', second)).not.toBe(two);
  });

  it('are not kept if one alone is too large', async () => {
    const { first } = await setUp();
    const segments = new UnpackedSegments(first.length - 1);
    const unpacked = segments.unpack('a', first);
    expect(segments.unpack('a', first)).not.toBe(unpacked);
  });
});
