import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Awaited } from '../../../../core/feedback/awaited.ts';
import type { Place } from '../../../../core/feedback/model.ts';

const line = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g');
const step = fc.oneof(
  fc.record({ do: fc.constant('set' as const), line, at: fc.nat(20) }),
  fc.record({ do: fc.constant('delete' as const), line, at: fc.constant(0) }),
  fc.record({ do: fc.constant('take' as const), line: fc.constant(''), at: fc.nat(22) }),
);

describe('what is awaited', () => {
  it('is given out in order of time, each line as it was last set', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const awaited = new Awaited();
        const model = new Map<string, Place>();
        for (const { do: what, line: of, at } of steps) {
          const place = { createdAt: at, id: of };
          if (what === 'set') {
            awaited.set(of, place);
            model.set(of, place);
          } else if (what === 'delete') {
            awaited.delete(of);
            model.delete(of);
          } else {
            const due = [...model.values()].filter(({ createdAt }) => createdAt < at);
            const first = Math.min(...due.map(({ createdAt }) => createdAt));
            const taken = awaited.takeBefore(at);
            expect(taken?.createdAt).toBe(due.length > 0 ? first : undefined);
            if (taken) model.delete(taken.id);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('comes in order when there is much of it', () => {
    const awaited = new Awaited();
    const count = 20_000;
    for (let i = 0; i < count; i++) awaited.set(`${i}`, { createdAt: (i * 7919) % count, id: `${i}` });
    const taken = Array.from(
      { length: count + 1 },
      () => awaited.takeBefore(Number.POSITIVE_INFINITY)?.createdAt,
    );
    expect(taken).toEqual([...Array(count).keys(), undefined]);
  });
});
