import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { getBodySchema } from '../../../../../api/endpoint.ts';
import { callsQueryStats } from '../../../../../api/queries.ts';
import { type CallsStats, countCalls } from '../../../../../core/questions/query/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';
import {
  canonical,
  type KnownCall,
  type QueryJson,
  referenceAnswer,
} from '../../../../support/reference/index.ts';
import { runs } from '../../../../support/run/sampling.ts';
import { bodiesAbout } from '../../../../support/values/arbitraries/bodies.ts';
import { knownCalls, reportedCalls, toBatches } from '../../../../support/values/arbitraries/calls.ts';
import { ask, createCallStore, send } from '../../../../support/values/calls.ts';

const statsBody = getBodySchema(callsQueryStats);

/**
 * How many calls a body's filter, query and limit select, and their bytes, as `/calls/query_stats`
 * counts them.
 */
const count = async ({ project_id, filter, query, limit }: QueryJson, store: Store): Promise<CallsStats> => {
  const selection = parseBody(statsBody, JSON.stringify({ project_id, filter, query, limit }));
  const stats = (withBytes: boolean) =>
    countCalls(store, { ...selection, withBytes }, requestBudget(60_000)).stats();
  const [whole, counted] = await Promise.all([stats(true), stats(false)]);
  expect(counted).toEqual({ ...whole, bytes: 0 });
  return whole;
};

/** The same by a look at every call. */
const referenceCount = (
  { project_id, filter, query, limit }: QueryJson,
  known: readonly KnownCall[],
): CallsStats => {
  const body = { project_id, filter, query, limit, include_storage_size: true };
  const selected = referenceAnswer(body, known);
  const bytes = selected.reduce((sum, { storage_size_bytes }) => sum + Number(storage_size_bytes), 0);
  return { count: selected.length, bytes };
};

describe('any query over any calls', () => {
  let store: Store;
  let projects = 0;
  beforeAll(async () => {
    store = await createCallStore();
  });

  it('is answered and counted as a scan of every call answers and counts it', {
    timeout: runs(120_000),
  }, async () => {
    const project = fc.record({ calls: reportedCalls, seed: fc.integer() });
    await fc.assert(
      fc.asyncProperty(project, async ({ calls, seed }) => {
        const projectId = `acme/reference-${++projects}`;
        for (const batch of toBatches(projectId, calls)) await send(store, batch);
        const known = knownCalls(projectId, calls);
        fc.pre(known.length > 0);
        const body = fc.asyncProperty(bodiesAbout(known), async (body) => {
          const answered = await ask(store, body);
          expect(answered.map(canonical)).toEqual(referenceAnswer(body, known).map(canonical));
          expect(await count(body, store)).toEqual(referenceCount(body, known));
        });
        // Stored once, asked many times; a failing body is made smaller, the project is not.
        await fc.assert(body, { seed, numRuns: runs(12, 100) });
      }),
      { numRuns: runs(4, 24), endOnFailure: true },
    );
  });
});
