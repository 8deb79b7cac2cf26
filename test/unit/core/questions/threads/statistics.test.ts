import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ThreadFold, type Turn } from '../../../../../core/questions/threads/statistics.ts';

const turn = (id: string, startedAt: number, endedAt: number | null): Turn => ({ id, startedAt, endedAt });

const fold = (first: Turn, ...more: Turn[]) => {
  const thread = new ThreadFold('thread', first);
  for (const each of more) thread.add(each);
  return thread.statistics();
};

describe('the statistics of a thread', () => {
  it('equal the turn if there is only one', () => {
    expect(fold(turn('a', 1000, 3500))).toEqual({
      threadId: 'thread',
      turnCount: 1,
      startTime: 1000,
      lastUpdated: 3500,
      firstTurnId: 'a',
      lastTurnId: 'a',
      p50TurnDurationMs: 2.5,
      p99TurnDurationMs: 2.5,
    });
  });

  it('have the start of a running turn and no durations', () => {
    expect(fold(turn('a', 1000, null))).toMatchObject({
      lastUpdated: 1000,
      p50TurnDurationMs: null,
      p99TurnDurationMs: null,
    });
  });

  it('count running turns, but only durations of finished ones', () => {
    expect(fold(turn('a', 0, 1000), turn('b', 2000, null), turn('c', 500, 3500))).toMatchObject({
      turnCount: 3,
      lastUpdated: 3500,
      p50TurnDurationMs: 2,
      p99TurnDurationMs: 2.98,
    });
  });

  it('name the turn that started first and the one that was updated last', () => {
    const long = turn('long', 0, 9000);
    expect(fold(turn('short', 1000, 2000), long)).toMatchObject({ firstTurnId: 'long', lastTurnId: 'long' });
    expect(fold(long, turn('next', 9500, null))).toMatchObject({ firstTurnId: 'long', lastTurnId: 'next' });
    expect(fold(long, turn('beside', 500, null))).toMatchObject({ lastUpdated: 9000, lastTurnId: 'long' });
  });

  it('break ties by start, then by id', () => {
    expect(fold(turn('b', 0, 5), turn('a', 0, 5))).toMatchObject({ firstTurnId: 'a', lastTurnId: 'b' });
    expect(fold(turn('z', 0, 5), turn('a', 5, null))).toMatchObject({ firstTurnId: 'z', lastTurnId: 'a' });
  });

  it('are the same for any order of the turns', () => {
    const turns = fc.uniqueArray(
      fc.record({
        id: fc.string({ minLength: 1, maxLength: 2 }),
        startedAt: fc.nat(20),
        endedAt: fc.option(fc.nat(40)),
      }),
      { minLength: 1, selector: ({ id }) => id },
    );
    const shuffled = turns.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        expect(fold(...(list as [Turn]))).toEqual(fold(...(other as [Turn])));
      }),
    );
  });
});
