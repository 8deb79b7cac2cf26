import { describe, expect, it } from 'vitest';
import { shardOf } from '../../../../../core/foundations/encoding/shard-of.ts';

describe('shardOf', () => {
  it('spreads traces evenly', () => {
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 4000; i++) {
      const shard = shardOf(`01a0f4c3-0874-7424-a0b8-${i.toString(16).padStart(12, '0')}`, 4);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(200);
  });

  // http://www.isthe.com/chongo/src/fnv/test_fnv.c has these of ASCII.
  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('hashes "%s" by FNV-1a', (id, hash) => {
    expect(shardOf(id, 2 ** 32)).toBe(hash);
  });
});
