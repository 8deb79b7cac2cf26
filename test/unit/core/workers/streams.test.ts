import { describe, expect, it } from 'vitest';
import { isolateRecords, type StreamRecord } from '../../../../core/workers/streams.ts';
import { unavailable } from '../../../../foundations/wire/index.ts';

const records = [1, 2, 3, 4, 5].map((n): StreamRecord => ({ eventID: `${n}` }));

const doubleAllBut =
  (...bad: readonly number[]) =>
  async (some: readonly StreamRecord[]): Promise<number[]> => {
    const numbers = some.map(({ eventID }) => Number(eventID));
    if (numbers.some((n) => bad.includes(n))) throw new Error('is bad');
    return numbers.map((n) => 2 * n);
  };

describe('work on records', () => {
  it('makes letters of those that fail by themselves, and keeps the order of the rest', async () => {
    const { results, letters } = await isolateRecords(records, doubleAllBut(2, 5));
    expect(results).toEqual([2, 6, 8]);
    expect(letters).toEqual(
      ['2', '5'].map((event_id) => ({
        reason: 'Error: is bad',
        record: { event_id, stream: null, sequence_number: null, keys: null },
      })),
    );
  });

  it('fails as a whole if storage fails', async () => {
    const work = async () => {
      throw unavailable('down');
    };
    await expect(isolateRecords(records, work)).rejects.toMatchObject({ status: 503 });
  });
});
