import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap } from '../../../../../core/foundations/listing/heap.ts';

const byValue = (a: { value: number }, b: { value: number }) => a.value - b.value;
const step = fc.oneof(
  fc.record({ do: fc.constant('push' as const), value: fc.nat(20) }),
  fc.record({ do: fc.constant('pop' as const), value: fc.constant(0) }),
  fc.record({ do: fc.constant('change' as const), value: fc.nat(20) }),
);

describe('a heap', () => {
  it('always has the least of its items first, whatever is pushed, popped and changed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const heap = new Heap(byValue);
        const model: { value: number }[] = [];
        for (const { do: what, value } of steps) {
          const { first } = heap;
          if (what === 'push') {
            const item = { value };
            heap.push(item);
            model.push(item);
          } else if (what === 'pop') {
            expect(heap.pop()).toBe(first);
            if (first) model.splice(model.indexOf(first), 1);
          } else if (first) {
            first.value = value;
            heap.update();
          }
          expect(heap.size).toBe(model.length);
          expect(heap.first?.value).toBe(model.toSorted(byValue)[0]?.value);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('does nothing when it is empty', () => {
    const heap = new Heap(byValue);
    heap.update();
    expect([heap.pop(), heap.first, heap.size]).toEqual([undefined, undefined, 0]);
  });
});
