import { type CallReport, type CallStart, callUpsertBatch } from '../../../api/calls.ts';
import { done } from '../../../api/fields.ts';
import { feedbackPayloadSchema } from '../../../core/doors/weave/endpoints/feedback.ts';
import { graphql } from '../../../core/doors/weave/endpoints/graphql.ts';
import {
  aliasesList,
  aliasesRemove,
  aliasesSet,
  tagsAdd,
  tagsList,
  tagsRemove,
} from '../../../core/doors/weave/endpoints/labels.ts';
import { tableCreateFromDigests, tableQueryStatsBatch } from '../../../core/doors/weave/endpoints/tables.ts';
import { traceUsage } from '../../../core/doors/weave/endpoints/usage.ts';
import { answerGraphql } from '../../../core/doors/weave/graphql.ts';
import { withPrompts } from '../../../core/doors/weave/prompts.ts';
import { computeTraceUsage, findPayloadPaths } from '../../../core/questions/stats/index.ts';
import { writeCalls } from '../../../core/records/calls/index.ts';
import {
  addTags,
  labelsIn,
  moveAliases,
  removeAliases,
  removeTags,
} from '../../../core/records/objects/index.ts';
import { createTableFromDigests, readSizes } from '../../../core/records/tables/index.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import { parseVersionName } from '../../../foundations/wire/index.ts';
import { work } from '../http/endpoint.ts';
import { movingLabels } from '../http/label-moves.ts';
import { lookupsFor } from '../http/lookups.ts';
import { stores } from '../http/stores.ts';

/*
 * The endpoints that Weave's door alone has, by their paths there.
 */

/** What Weave's SDKs ask of Weights & Biases. Any valid key may ask. */
export const graphqlWork = work(graphql, ({ caller, body }) => answerGraphql(caller, body));

/** A batch of reports whose calls have their prompts. */
export const namePrompts = async <Body extends { readonly batch: readonly CallReport[] }>(
  body: Body,
  budget: RequestBudget,
): Promise<Body> => ({ ...body, batch: await withPrompts(stores.objects, body.batch, budget) });

/** The same of one start. */
export const namePrompt = async <Body extends { readonly start: CallStart }>(
  body: Body,
  budget: RequestBudget,
): Promise<Body> => {
  const [named] = await withPrompts(stores.objects, [{ kind: 'start', start: body.start }], budget);
  return named?.kind === 'start' ? { ...body, start: named.start } : body;
};

/** Stores whole calls of a project, each as a start and an end in one batch. */
export const completeWork = work(
  {
    ...callUpsertBatch,
    projects: (body: Parameters<typeof callUpsertBatch.projects>[0]) =>
      callUpsertBatch.projects(body).flatMap(({ projectId }, i) =>
        // The end is of the same project.
        i % 2 === 0 ? [{ projectId, loc: ['batch', String(i / 2), 'project_id'] }] : [],
      ),
    answer: () => done,
  },
  async ({ body, caller, addsOnly, budget, describe }) => {
    const { batch } = await namePrompts(body, budget);
    describe(() => ({ rows: batch.length / 2 }));
    await writeCalls(stores.calls, batch, caller.user, budget, {
      addsOnly,
      // Each call is a start and an end.
      getPlace: (i) => ['batch', String(Math.floor(i / 2))],
    });
    return {};
  },
);

/** What the calls of a selection used, each with all that is below it, by model. */
export const traceUsageWork = work(traceUsage, ({ body, caller, budget }) => {
  const { withCosts, ...selection } = body;
  return computeTraceUsage(stores.calls, { selection, withCosts }, budget, lookupsFor(caller));
});

/** What the payloads of feedback have. */
export const payloadSchemaWork = work(feedbackPayloadSchema, async ({ body, budget, describe }) => {
  const { plan, counts, answer } = findPayloadPaths(stores.feedback, body, body.sampleLimit, budget);
  describe(() => ({ plan, rows: counts.sent, scanned: counts.scanned }));
  return { paths: await answer() };
});

/** Makes a table of rows that are there. */
export const tableFromDigestsWork = work(tableCreateFromDigests, async ({ body, budget, describe }) => {
  const { projectId, rowDigests: rows, expectedDigest: expected } = body;
  describe(() => ({ rows: rows.length }));
  return { digest: await createTableFromDigests(stores.objects, projectId, rows, expected, budget) };
});

/** How many rows tables have. A table that is not there is left out. */
export const tableStatsWork = work(tableQueryStatsBatch, async ({ body, budget }) => {
  const { projectId, digests, includeStorageSize: withSize } = body;
  const sizes = await readSizes(stores.objects, projectId, digests ?? [], budget);
  const tables = [...sizes].map(([digest, { count, bytes }]) => ({
    digest,
    count,
    storage_size_bytes: withSize ? bytes : null,
  }));
  return { tables };
});

/** Makes a version known under aliases. */
export const aliasesSetWork = work(aliasesSet, async (request) => {
  const { projectId, objectId, digest, aliases } = request.body;
  const address = { projectId, objectId, version: parseVersionName(digest) };
  await movingLabels(request, (mover) =>
    moveAliases(stores.objects, address, aliases, mover, request.budget),
  );
  return {};
});

/** Takes aliases from an object. */
export const aliasesRemoveWork = work(aliasesRemove, async (request) => {
  const { aliases, ...name } = request.body;
  await movingLabels(request, (mover) => removeAliases(stores.objects, name, aliases, mover, request.budget));
  return {};
});

/** Puts tags on a version. */
export const tagsAddWork = work(tagsAdd, async ({ body, budget }) => {
  const { projectId, objectId, digest, tags } = body;
  const address = { projectId, objectId, version: parseVersionName(digest) };
  await addTags(stores.objects, address, tags, budget);
  return {};
});

/** Takes tags from a version. */
export const tagsRemoveWork = work(tagsRemove, async ({ body, budget }) => {
  const { projectId, objectId, digest, tags } = body;
  const address = { projectId, objectId, version: parseVersionName(digest) };
  await removeTags(stores.objects, address, tags, budget);
  return {};
});

/** The aliases of a project's objects, each once. */
export const aliasesListWork = work(aliasesList, async ({ body: { projectId }, budget }) => ({
  aliases: await labelsIn(stores.objects, projectId, 'aliases', budget),
}));

/** The tags of a project's objects, each once. */
export const tagsListWork = work(tagsList, async ({ body: { projectId }, budget }) => ({
  tags: await labelsIn(stores.objects, projectId, 'tags', budget),
}));
