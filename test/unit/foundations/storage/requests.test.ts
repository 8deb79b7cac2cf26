import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { compareAndSwap, compareAndSwapAll, requestBudget } from '../../../../foundations/storage/index.ts';

/** How long was waited before each further round, in milliseconds. */
let waits: number[];
/** What happens while it is waited. */
let meanwhile: () => void;

const sleep = async (ms = 0, _value?: unknown, options?: { readonly signal?: AbortSignal }) => {
  waits.push(ms);
  meanwhile();
  options?.signal?.throwIfAborted();
  vi.setSystemTime(Date.now() + Math.ceil(ms));
};

beforeEach(() => {
  waits = [];
  meanwhile = () => {};
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.spyOn(Math, 'random').mockReturnValue(1);
  // Vitest's fake timers leave those of Node that are promises.
  vi.spyOn(timers, 'setTimeout').mockImplementation(sleep as typeof timers.setTimeout);
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  vi.useRealTimers();
});

describe('a compare-and-swap', () => {
  it('makes one round, at once, where nobody interferes', async () => {
    const attempt = vi.fn(async () => ({ value: 'done' }));
    expect(await compareAndSwap(requestBudget(1000), attempt)).toBe('done');
    expect(attempt.mock.calls).toEqual([[0]]);
  });

  it('makes rounds until one holds, and counts them', async () => {
    const attempt = vi.fn(async (round: number) => (round === 3 ? { value: round } : undefined));
    expect(await compareAndSwap(requestBudget(10_000), attempt)).toBe(3);
    expect(attempt.mock.calls).toEqual([[0], [1], [2], [3]]);
  });

  it('takes a value of undefined for one that held', async () => {
    expect(await compareAndSwap(requestBudget(1000), async () => ({ value: undefined }))).toBeUndefined();
  });

  it('waits up to twice as long before each further round, and at most two seconds', async () => {
    await compareAndSwap(requestBudget(60_000), async (round) =>
      round === 9 ? { value: undefined } : undefined,
    );
    expect(waits).toEqual([25, 50, 100, 200, 400, 800, 1600, 2000, 2000]);
  });

  it('waits for any time up to that, so that those that met do not meet again', async () => {
    vi.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(0.5);
    await compareAndSwap(requestBudget(60_000), async (round) => (round === 2 ? { value: 0 } : undefined));
    expect(waits).toEqual([0, 25]);
  });

  it('is a 503 when the deadline comes first, and makes no round after it', async () => {
    const budget = requestBudget(500);
    let last = 0;
    const work = compareAndSwap(budget, async () => {
      last = Date.now();
      return undefined;
    });
    await expect(work).rejects.toMatchObject({ status: 503 });
    expect(last).toBeLessThan(budget.deadline);
  });

  it('is a 503 after 25 seconds of a budget that is longer', async () => {
    const begun = Date.now();
    const work = compareAndSwap(requestBudget(900_000), async () => undefined);
    await expect(work).rejects.toMatchObject({ status: 503 });
    expect(Date.now() - begun).toBeLessThanOrEqual(25_000);
    expect(Date.now() - begun).toBeGreaterThan(20_000);
  });

  it('ends when nobody waits for it any more, between two rounds too', async () => {
    const aborting = new AbortController();
    meanwhile = () => aborting.abort();
    const attempt = vi.fn(async () => undefined);
    const work = compareAndSwap(requestBudget(60_000, aborting.signal), attempt);
    await expect(work).rejects.toThrow('aborted');
    expect(attempt).toHaveBeenCalledTimes(1);
    await expect(compareAndSwap(requestBudget(60_000, aborting.signal), attempt)).rejects.toThrow('aborted');
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it('throws what a round throws, and makes no other', async () => {
    const attempt = vi.fn(async () => {
      throw new Error('refused');
    });
    await expect(compareAndSwap(requestBudget(1000), attempt)).rejects.toThrow('refused');
    expect(attempt).toHaveBeenCalledTimes(1);
  });
});

describe('a compare-and-swap of several items', () => {
  it('tries those that lost again, together and in their order', async () => {
    const rounds: (readonly string[])[] = [];
    await compareAndSwapAll(requestBudget(10_000), ['a', 'b', 'c', 'd'], async (left, round) => {
      rounds[round] = left;
      return round === 0 ? ['b', 'd'] : round === 1 ? ['d'] : [];
    });
    expect(rounds).toEqual([['a', 'b', 'c', 'd'], ['b', 'd'], ['d']]);
  });

  it('makes no round for none', async () => {
    const attempt = vi.fn(async () => []);
    await compareAndSwapAll(requestBudget(1000), [], attempt);
    expect(attempt).not.toHaveBeenCalled();
  });

  it('is a 503 when some still lose at the deadline', async () => {
    const work = compareAndSwapAll(requestBudget(500), ['a'], async (left) => left);
    await expect(work).rejects.toMatchObject({ status: 503 });
  });
});
