import { chunked } from '../storage/index.ts';
import type { Order } from './plan.ts';
import { type Slice, takeSlice } from './slice.ts';

/** How many sorted items make a batch. */
const sortedBatch = 500;

/**
 * The slice of an answer in the order of its plan.
 *
 * @param found what is answered, in the order of the source
 * @param sorted sorts what was found and takes the slice of it
 * @throws what `found` and `sorted` throw
 */
export async function* inPlannedOrder<T>(
  plan: Slice & { readonly order: Order },
  found: AsyncIterable<readonly T[]>,
  sorted: () => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  if (plan.order === 'free') yield* takeSlice(plan, found);
  else yield* chunked(await sorted(), sortedBatch);
}
