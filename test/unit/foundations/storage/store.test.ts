import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseShard } from '../../../../foundations/encoding/index.ts';
import {
  everyShard,
  expiry,
  expiryIn,
  getBucketDays,
  type NotedProjects,
  possibleShards,
  shardCount,
} from '../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../foundations/wire/index.ts';

const project = 'acme/shop' as ProjectId;

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
    expect(expiry({}, project)).toEqual({});
    expect(expiry({}, project, 2)).toEqual({});
  });

  it('is after the retention, and after the days of grace', () => {
    expect(expiry({ retentionDays: 3 }, project)).toEqual(expiryIn(3));
    expect(expiry({ retentionDays: 3 }, project, 2)).toEqual(expiryIn(5));
  });

  const projects: NotedProjects = {
    expectCalls: async () => {},
    expectsCalls: async () => false,
    learnRetention: async () => {},
    getRetention: (id) => (id === project ? { callsDays: 40, feedbackDays: 2 } : {}),
  };

  it("is after a project's own retention, where that is shorter and the store's", () => {
    const calls = { projects, projectDays: 'callsDays' } as const;
    expect(expiry(calls, project)).toEqual(expiryIn(40));
    expect(expiry(calls, 'acme/other' as ProjectId)).toEqual({});
    expect(expiry({ ...calls, projectDays: 'feedbackDays' }, project)).toEqual(expiryIn(2));
    expect(expiry({ ...calls, retentionDays: 30 }, project)).toEqual(expiryIn(30));
    expect(expiry({ ...calls, retentionDays: 50 }, project)).toEqual(expiryIn(40));
    expect(expiry({ projects }, project)).toEqual({});
  });

  it('ends in the bucket with the next of its rules, and never after that of the deployment', () => {
    const calls = { projects, projectDays: 'callsDays' } as const;
    expect(getBucketDays(calls, project)).toBe(45);
    expect(getBucketDays({ ...calls, retentionDays: 41 }, project)).toBe(41);
    expect(getBucketDays({ ...calls, retentionDays: 33 }, project)).toBe(33);
    expect(getBucketDays(calls, 'acme/other' as ProjectId)).toBeUndefined();
  });
});
