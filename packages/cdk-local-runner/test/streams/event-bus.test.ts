import { describe, expect, it } from 'vitest';
import { fitsPattern } from '../../src/streams/event-bus.ts';

const event = { source: 'shop', detail: { status: 'error', score: 0.4, tags: ['a', 'b'] } };

describe('a pattern', () => {
  it.each([
    [{ source: ['shop'] }, true],
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
