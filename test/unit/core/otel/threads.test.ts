import { describe, expect, it } from 'vitest';
import { type Place, placesOf, type Threaded } from '../../../../core/otel/threads.ts';

const span = (key: string, parent?: string, threadId?: string, hasRemoteParent = false): Threaded => ({
  ...{ key, parent, threadId, hasRemoteParent },
});
const placed = (...spans: Threaded[]): Record<string, Place> => Object.fromEntries(placesOf(spans));
const nowhere = { threadId: null, turn: null };

describe('a turn', () => {
  it('is a root with a thread, and what is below it belongs to it, in any order', () => {
    const inTurn = { threadId: 't', turn: 'a' };
    expect(placed(span('c', 'b'), span('b', 'a', 't'), span('a', undefined, 't'))).toEqual({
      a: inTurn,
      b: inTurn,
      c: inTurn,
    });
  });

  it('is the topmost span with a thread, below one without', () => {
    expect(placed(span('a'), span('b', 'a', 't'), span('c', 'b'))).toEqual({
      a: nowhere,
      b: { threadId: 't', turn: 'b' },
      c: { threadId: 't', turn: 'b' },
    });
  });

  it('is not known while the parent has not come', () => {
    expect(placed(span('b', 'a', 't'), span('c', 'b'))).toEqual({
      b: { threadId: 't', turn: null },
      c: { threadId: 't', turn: null },
    });
  });

  it('is below a parent in another process', () => {
    expect(placed(span('b', 'a', 't', true))).toEqual({ b: { threadId: 't', turn: 'b' } });
  });

  it('is another one in another thread', () => {
    expect(placed(span('a', undefined, 't'), span('b', 'a', 'u'))).toEqual({
      a: { threadId: 't', turn: 'a' },
      b: { threadId: 'u', turn: 'b' },
    });
  });
});

describe('parents', () => {
  it('that make a circle end nothing and lose nobody', () => {
    const places = placed(span('a', 'c', 't'), span('b', 'a'), span('c', 'b'));
    expect(Object.keys(places).sort()).toEqual(['a', 'b', 'c']);
  });

  it('may be 50,000 deep', () => {
    const line = Array.from({ length: 50_000 }, (_, i) =>
      span(`${i}`, i === 0 ? undefined : `${i - 1}`, i === 0 ? 't' : undefined),
    );
    expect(placesOf(line.toReversed()).get('49999')).toEqual({ threadId: 't', turn: '0' });
  });
});
