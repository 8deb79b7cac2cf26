import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonList } from '../../../../lambdas/http/answer.ts';

async function* inBatches(batches: readonly unknown[][]): AsyncGenerator<string[]> {
  for (const batch of batches) yield batch.map((value) => JSON.stringify(value));
}

describe('a list in an object', () => {
  it('is JSON of all items, for any batches', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(fc.jsonValue())), async (batches) => {
        const pieces = await Array.fromAsync(jsonList('objs', inBatches(batches)));
        const all = JSON.parse(JSON.stringify(batches.flat()));
        expect(JSON.parse(pieces.flat().join(''))).toEqual({ objs: all });
      }),
    );
  });

  it('starts with its first item, so that an earlier failure is an error', async () => {
    async function* failing(): AsyncGenerator<string[]> {
      yield [];
      throw new Error('storage');
    }
    await expect(jsonList('objs', failing()).next()).rejects.toThrow('storage');
  });
});
