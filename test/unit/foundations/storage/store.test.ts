import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseShard } from '../../../../foundations/encoding/index.ts';
import {
  everyShard,
  expiry,
  expiryIn,
  possibleShards,
  shardCount,
} from '../../../../foundations/storage/index.ts';

describe('the shards of a store', () => {
  it('are written to by the present count, and looked for by every count there has been', () => {
    const grown = { shards: [2, 8, 4] } as const;
    expect(shardCount(grown)).toBe(4);
    expect(everyShard(grown)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('of an id are those that each count gives it, each once', () => {
    for (const id of ['a', 'b', 'c', 'd']) {
      const shards = possibleShards({ shards: [1, 4, 8] }, id);
      expect(new Set(shards)).toEqual(new Set([0, chooseShard(id, 4), chooseShard(id, 8)]));
      expect(shards.length).toBe(new Set(shards).size);
    }
  });
});

describe('the expiry of an item', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_999 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is in whole seconds, days after now', () => {
    expect(expiryIn(1)).toEqual({ x: 86_401 });
  });

  it('is none without a retention', () => {
    expect(expiry({})).toEqual({});
    expect(expiry({}, 2)).toEqual({});
  });

  it('is after the retention, and after the days of grace', () => {
    expect(expiry({ retentionDays: 3 })).toEqual(expiryIn(3));
    expect(expiry({ retentionDays: 3 }, 2)).toEqual(expiryIn(5));
  });
});
