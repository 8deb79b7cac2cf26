import { fitsPattern } from 'cdk-local-runner/streams';
import { describe, expect, it } from 'vitest';
import { changesOfCalls, changesOfFeedback } from '../../../lib/streams.ts';

/** A record of an item with this sort key; perhaps of its expiry. */
const record = (eventName: string, p: string, expired = false) => ({
  eventName,
  dynamodb: { Keys: { p: { S: p } }, ...(eventName !== 'REMOVE' && { NewImage: { h: { B: 'aA==' } } }) },
  ...(expired && { userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' } }),
});
const wakes = (filters: readonly Readonly<Record<string, unknown>>[], value: object) =>
  filters.some((filter) => fitsPattern(filter, value));

describe('the filters of streams', () => {
  it('wake for starts and ends, never for segments', () => {
    for (const deletions of [false, true])
      for (const name of ['INSERT', 'MODIFY', 'REMOVE'])
        expect(wakes(changesOfCalls({ deletions }), record(name, 'P'))).toBe(false);
    expect(wakes(changesOfCalls({ deletions: false }), record('MODIFY', 'S'))).toBe(true);
    expect(wakes(changesOfCalls({ deletions: false }), record('REMOVE', 'S'))).toBe(false);
  });

  it('wake for what is deleted, but not for what expires', () => {
    for (const filters of [changesOfCalls({ deletions: true }), changesOfFeedback({ deletions: true })]) {
      expect(wakes(filters, record('REMOVE', 'E'))).toBe(true);
      expect(wakes(filters, record('REMOVE', 'E', true))).toBe(false);
    }
  });

  it('wake for records of feedback, not for tombstones', () => {
    const filters = changesOfFeedback({ deletions: false });
    expect(wakes(filters, record('INSERT', 'x'))).toBe(true);
    expect(wakes(filters, { eventName: 'MODIFY', dynamodb: { NewImage: { r: { B: 'aA==' } } } })).toBe(false);
  });
});
