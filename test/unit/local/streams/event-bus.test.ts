import { describe, expect, it } from 'vitest';
import { changesOfCalls, changesOfFeedback } from '../../../../lib/streams.ts';
import { fitsPattern } from '../../../../local/streams/event-bus.ts';

const event = { source: 'pennytrace', detail: { status: 'error', score: 0.4, tags: ['a', 'b'] } };

describe('a pattern', () => {
  it.each([
    [{ source: ['pennytrace'] }, true],
    [{ source: ['other'] }, false],
    [{ detail: { status: ['success', 'error'] } }, true],
    [{ detail: { tags: ['b'] } }, true],
    [{ detail: { score: [{ numeric: ['>', 0, '<', 0.5] }] } }, true],
    [{ detail: { score: [{ numeric: ['>=', 0.5] }] } }, false],
    [{ detail: { missing: [{ exists: false }] } }, true],
    [{ detail: { status: [{ exists: false }] } }, false],
    [{ detail: { status: [{ 'anything-but': ['error'] }] } }, false],
    [{ detail: { status: [{ prefix: 'err' }] } }, true],
  ])('%j fits: %s', (pattern, fits) => {
    expect(fitsPattern(pattern, event)).toBe(fits);
  });

  it('with an operator that is not known is refused', () => {
    expect(() => fitsPattern({ source: [{ wildcard: '*' }] }, event)).toThrow('not supported locally');
  });
});

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
