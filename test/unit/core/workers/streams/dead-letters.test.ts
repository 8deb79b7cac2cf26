import { describe, expect, it } from 'vitest';
import { unavailable } from '../../../../../core/foundations/wire/index.ts';
import { isolate } from '../../../../../core/workers/streams/index.ts';

const double =
  (bad: readonly number[]) =>
  async (some: readonly number[]): Promise<number[]> => {
    if (some.some((n) => bad.includes(n))) throw new Error(`${bad} is bad`);
    return some.map((n) => 2 * n);
  };

describe('work on a list', () => {
  it('leaves out what fails by itself, and keeps the order of the rest', async () => {
    const spoilt: number[] = [];
    const done = await isolate([1, 2, 3, 4, 5], double([2, 5]), (n) => spoilt.push(n));
    expect([done, spoilt]).toEqual([
      [2, 6, 8],
      [2, 5],
    ]);
  });

  it('fails as a whole if storage fails', async () => {
    const work = async () => {
      throw unavailable('down');
    };
    await expect(isolate([1, 2], work, () => {})).rejects.toMatchObject({ status: 503 });
  });
});
