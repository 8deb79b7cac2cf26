import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Position } from '../../../../../core/records/feedback/model.ts';
import { PendingRevisions } from '../../../../../core/records/feedback/pending-revisions.ts';

const chain = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g');
const step = fc.oneof(
  fc.record({ do: fc.constant('set' as const), chain, at: fc.nat(20) }),
  fc.record({ do: fc.constant('delete' as const), chain, at: fc.constant(0) }),
  fc.record({ do: fc.constant('take' as const), chain: fc.constant(''), at: fc.nat(22) }),
);

describe('pending revisions', () => {
  it('are taken in order of time, each chain as it was last set', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const pending = new PendingRevisions();
        const model = new Map<string, Position>();
        for (const { do: what, chain: of, at } of steps) {
          const position = { createdAt: at, id: of };
          if (what === 'set') {
            pending.set(of, position);
            model.set(of, position);
          } else if (what === 'delete') {
            pending.delete(of);
            model.delete(of);
          } else {
            const due = [...model.values()].filter(({ createdAt }) => createdAt < at);
            const first = Math.min(...due.map(({ createdAt }) => createdAt));
            const taken = pending.takeBefore(at);
            expect(taken?.createdAt).toBe(due.length > 0 ? first : undefined);
            if (taken) model.delete(taken.id);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('are taken in order when there are many', () => {
    const pending = new PendingRevisions();
    const count = 20_000;
    for (let i = 0; i < count; i++) pending.set(`${i}`, { createdAt: (i * 7919) % count, id: `${i}` });
    const taken = Array.from(
      { length: count + 1 },
      () => pending.takeBefore(Number.POSITIVE_INFINITY)?.createdAt,
    );
    expect(taken).toEqual([...Array(count).keys(), undefined]);
  });
});
