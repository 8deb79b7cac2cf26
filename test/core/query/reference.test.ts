import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CallStore } from '../../../core/calls/index.ts';
import { bodiesAbout } from '../../support/arbitraries/bodies.ts';
import { batchesOf, knownCalls, reportedCalls } from '../../support/arbitraries/calls.ts';
import { ask, createCallStore, send } from '../../support/calls.ts';
import { canonical, referenceAnswer } from '../../support/reference/index.ts';

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
        const projectId = `acme/reference-${++projects}`;
        for (const batch of batchesOf(projectId, calls)) await send(store, batch);
        const known = knownCalls(projectId, calls);
        fc.pre(known.length > 0);
        const body = fc.asyncProperty(bodiesAbout(known), async (body) => {
          const answered = await ask(store, body);
          expect(answered.map(canonical)).toEqual(referenceAnswer(body, known).map(canonical));
        });
        // Stored once, asked many times; a failing body is made smaller, the project is not.
        await fc.assert(body, { seed, numRuns: 20 });
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });
});
