import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CallStore } from '../../../core/calls/index.ts';
import { callsQueryBody, queryCalls } from '../../../core/query/index.ts';
import { effort } from '../../../core/storage/index.ts';
import { type JsonValue, ServiceError } from '../../../core/wire/index.ts';
import { parseBody } from '../../../core/wire/schema.ts';
import { bodiesAbout, type Part } from '../../support/arbitraries/bodies.ts';
import { batchesOf, knownCalls, reportedCalls } from '../../support/arbitraries/calls.ts';
import { createCallStore, names, send } from '../../support/calls.ts';
import { canonical, type QueryJson, referenceAnswer } from '../../support/reference/index.ts';

const bodySchema = callsQueryBody(names);

/** Whether the schema takes a body; anything but a 422 for what is not supported is thrown on. */
const isTaken = (body: QueryJson): boolean => {
  try {
    parseBody(bodySchema, JSON.stringify(body));
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.detail.every(({ type }) => type === 'not_supported'))
      return false;
    throw error;
  }
};

const projectOf = (number: number): string => `acme/reference-${number}`;

const probes: readonly [Part, Partial<QueryJson>][] = [
  ['query', { query: { $expr: { $literal: true } } }],
  ['sort_by', { sort_by: [{ field: 'inputs.model', direction: 'asc' }] }],
  ['include_storage_size', { include_storage_size: true }],
  ['include_total_storage_size', { include_total_storage_size: true }],
];
const notTaken = probes
  .filter(([, probe]) => !isTaken({ project_id: projectOf(0), ...probe }))
  .map(([part]) => part);

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
        const body = fc.asyncProperty(bodiesAbout(known, notTaken), async (body) => {
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
