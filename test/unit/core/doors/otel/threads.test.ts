import { describe, expect, it } from 'vitest';
import { type ThreadAndTurn, type Threaded, threadsOf } from '../../../../../core/doors/otel/threads.ts';

const span = (key: string, parent?: string, threadId?: string, hasRemoteParent = false): Threaded => ({
  ...{ key, parent, threadId, hasRemoteParent },
});
const threads = (...spans: Threaded[]): Record<string, ThreadAndTurn> => Object.fromEntries(threadsOf(spans));
const nowhere = { threadId: null, turn: null };

describe('a turn', () => {
  it('is a root with a thread, and what is below it belongs to it, in any order', () => {
    const inTurn = { threadId: 't', turn: 'a' };
    expect(threads(span('c', 'b'), span('b', 'a', 't'), span('a', undefined, 't'))).toEqual({
      a: inTurn,
      b: inTurn,
      c: inTurn,
    });
  });

  it('is the topmost span with a thread, below one without', () => {
    expect(threads(span('a'), span('b', 'a', 't'), span('c', 'b'))).toEqual({
      a: nowhere,
      b: { threadId: 't', turn: 'b' },
      c: { threadId: 't', turn: 'b' },
    });
  });

  it('is not known while the parent has not come', () => {
    expect(threads(span('b', 'a', 't'), span('c', 'b'))).toEqual({
      b: { threadId: 't', turn: null },
      c: { threadId: 't', turn: null },
    });
  });

  it('is below a parent in another process', () => {
    expect(threads(span('b', 'a', 't', true))).toEqual({ b: { threadId: 't', turn: 'b' } });
  });

  it('is another one in another thread', () => {
    expect(threads(span('a', undefined, 't'), span('b', 'a', 'u'))).toEqual({
      a: { threadId: 't', turn: 'a' },
      b: { threadId: 'u', turn: 'b' },
    });
  });
});

describe('parents', () => {
  it('that make a circle end nothing and lose nobody', () => {
    const found = threads(span('a', 'c', 't'), span('b', 'a'), span('c', 'b'));
    expect(Object.keys(found).sort()).toEqual(['a', 'b', 'c']);
  });

  it('may be 50,000 deep', () => {
    const line = Array.from({ length: 50_000 }, (_, i) =>
      span(`${i}`, i === 0 ? undefined : `${i - 1}`, i === 0 ? 't' : undefined),
    );
    expect(threadsOf(line.toReversed()).get('49999')).toEqual({ threadId: 't', turn: '0' });
  });
});
