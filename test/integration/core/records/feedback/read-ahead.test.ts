import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { feedbackQueryBody } from '../../../../../api/schemas/feedback.ts';
import { requestBudget, type Store } from '../../../../../core/foundations/storage/index.ts';
import { parseBody } from '../../../../../core/foundations/wire/parse-body.ts';
import { queryFeedback } from '../../../../../core/records/feedback/index.ts';
import { names, project } from '../../../../support/calls.ts';
import { createAll, createFeedbackStore, feedbackOf } from '../../../../support/feedback.ts';
import { intercepted } from '../../../../support/intercepted.ts';

/** In one shard, and more than the first two pages hold: 128 and 512. */
const count = 700;
let store: Store;
beforeAll(async () => {
  store = await createFeedbackStore({ shards: [1] });
  const batch = Array.from({ length: count }, (_, i) => feedbackOf({ id: `f-${i}`, creator: 'ada' }));
  await createAll(store, batch);
});

/** Every record passes, but the plan cannot know that. */
const everyRecord = { $expr: { $ne: [{ $getField: 'creator' }, { $literal: 'nobody' }] } };

/**
 * Takes two batches of a query, whose third request is held until it is released.
 *
 * @returns how many requests have begun by then, and all records once the rest is taken
 */
const readTwoBatches = async (body: object) => {
  const released = Promise.withResolvers<void>();
  let begun = 0;
  const gate = intercepted(store, async (command) => {
    begun++;
    if (command === 2) await released.promise;
  });
  const query = parseBody(
    feedbackQueryBody(names),
    JSON.stringify({ project_id: project, fields: ['id'], query: everyRecord, ...body }),
  );
  const spent = requestBudget(60_000);
  const { records } = queryFeedback(gate, query, spent);
  const batches = [await records.next(), await records.next()];
  // Long enough for a request that has been made to be on its way.
  await sleep(100);
  const whileUsed = begun;
  released.resolve();
  const rest = await Array.fromAsync(records);
  const read = batches.reduce((sum, { value }) => sum + (value?.length ?? 0), rest.flat().length);
  return { whileUsed, requests: spent.meter.requests, read };
};

describe('feedback that is read page by page', () => {
  it('has its next page under way while the second is used, when all is wanted', async () => {
    expect(await readTwoBatches({})).toEqual({ whileUsed: 3, requests: 3, read: count });
  });

  it('is read ahead in the reverse order too', async () => {
    const newest = [{ field: 'created_at', direction: 'desc' }];
    expect(await readTwoBatches({ sort_by: newest })).toEqual({ whileUsed: 3, requests: 3, read: count });
  });

  it('is read no further than it is used, when a limit may end it', async () => {
    expect(await readTwoBatches({ limit: 600 })).toEqual({ whileUsed: 2, requests: 2, read: 600 });
    expect(await readTwoBatches({ limit: 650 })).toEqual({ whileUsed: 2, requests: 3, read: 650 });
  });
});
