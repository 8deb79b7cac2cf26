import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CallStore } from '../../../core/calls/index.ts';
import { callsQueryBody, queryCalls } from '../../../core/query/index.ts';
import { effort } from '../../../core/storage/index.ts';
import type { JsonValue } from '../../../core/wire/index.ts';
import { parseBody } from '../../../core/wire/schema.ts';
import { bodiesAbout } from '../../support/arbitraries/bodies.ts';
import { batchesOf, knownCalls, reportedCalls } from '../../support/arbitraries/calls.ts';
import { createCallStore, names, send } from '../../support/calls.ts';
import { canonical, type QueryJson, referenceAnswer } from '../../support/reference/index.ts';

const bodySchema = callsQueryBody(names);

const projectOf = (number: number): string => `acme/reference-${number}`;

/** Answers a body as the endpoint does, but for HTTP. */
const answer = async (store: CallStore, body: QueryJson): Promise<JsonValue[]> => {
  const query = parseBody(bodySchema, JSON.stringify(body));
  const batches = await Array.fromAsync(queryCalls(store, query, effort(60_000)).calls);
  return batches.flat().map((text) => JSON.parse(text) as JsonValue);
};

describe('any query over any calls', () => {
  let store: CallStore;
  let projects = 0;
  beforeAll(async () => {
    store = await createCallStore();
  });

  it('is answered as a look at every call answers it', async () => {
    const project = fc.record({ calls: reportedCalls, seed: fc.integer() });
    await fc.assert(
      fc.asyncProperty(project, async ({ calls, seed }) => {
        const projectId = projectOf(++projects);
        for (const batch of batchesOf(projectId, calls)) await send(store, batch);
        const known = knownCalls(projectId, calls);
        fc.pre(known.length > 0);
        const body = fc.asyncProperty(bodiesAbout(known), async (body) => {
          const answered = await answer(store, body);
          expect(answered.map(canonical)).toEqual(referenceAnswer(body, known).map(canonical));
        });
        // Stored once, asked many times; a failing body is made smaller, the project is not.
        await fc.assert(body, { seed, numRuns: 20 });
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });
});
