import type { WireNames } from '../core/wire/index.ts';
import type { BodySchema } from '../core/wire/schema.ts';
import type { RoutePath } from './routes.ts';
import {
  callBatchBody,
  callEndBody,
  callStartBody,
  callsDeleteBody,
  callUpdateBody,
} from './schemas/calls.ts';
import { callEndV2Body, callStartV2Body, callsCompleteBody } from './schemas/calls-v2.ts';
import { costCreateBody, costPurgeBody, costQueryBody } from './schemas/costs.ts';
import {
  feedbackBatchBody,
  feedbackCreateBody,
  feedbackPurgeBody,
  feedbackQueryBody,
  feedbackReplaceBody,
} from './schemas/feedback.ts';
import { fileContentBody, fileCreateBody } from './schemas/files.ts';
import { graphqlBody } from './schemas/graphql.ts';
import { inferenceBody } from './schemas/inference.ts';
import {
  aliasesRemoveBody,
  aliasesSetBody,
  labelsListQuery,
  tagsAddBody,
  tagsRemoveBody,
} from './schemas/labels.ts';
import {
  objectCreateBody,
  objectDeleteBody,
  objectReadBody,
  objectsQueryBody,
  refsReadBody,
} from './schemas/objects.ts';
import { projectsQueryBody } from './schemas/projects.ts';
import { purgeByListBody } from './schemas/purge.ts';
import { callReadBody, callsQueryBody, callsQueryStatsBody } from './schemas/query.ts';
import { callsStatsBody, callsUsageBody, traceUsageBody } from './schemas/stats.ts';
import {
  tableCreateBody,
  tableFromDigestsBody,
  tableQueryBody,
  tableStatsBatchBody,
  tableStatsBody,
  tableUpdateBody,
} from './schemas/tables.ts';
import { threadsQueryBody } from './schemas/threads.ts';

/*
 * The requests of all endpoints. Handlers and the OpenAPI document both take them from here, so the
 * document shows what is parsed. They are functions, so that a handler's bundle holds its own
 * schema alone.
 */

declare const documented: unique symbol;

/**
 * The request of an endpoint. Only this file makes one, so that no handler parses with a schema
 * that the document does not show.
 */
export interface TakenRequest<Body, Path extends RoutePath = RoutePath> {
  /** The endpoint's path in the list of routes. */
  readonly path: Path;
  readonly body: BodySchema<Body>;
  readonly [documented]: true;
}

const request = <Body, Path extends RoutePath>(path: Path, body: BodySchema<Body>) =>
  ({ path, body }) as TakenRequest<Body, Path>;

/** What `/call/start` takes. */
export const callStart = (names: WireNames) => request('/call/start', callStartBody(names));

/** What `/call/end` takes. */
export const callEnd = (names: WireNames) => request('/call/end', callEndBody(names));

/** What `/call/upsert_batch` takes. */
export const callUpsertBatch = (names: WireNames) => request('/call/upsert_batch', callBatchBody(names));

/** What `/call/read` takes. */
export const callRead = () => request('/call/read', callReadBody);

/** What `/call/update` takes. */
export const callUpdate = (names: WireNames) => request('/call/update', callUpdateBody(names));

/** What `/calls/delete` takes. */
export const callsDelete = () => request('/calls/delete', callsDeleteBody);

/** What `/calls/stream_query` takes. */
export const callsStreamQuery = (names: WireNames) => request('/calls/stream_query', callsQueryBody(names));

/** What `/calls/query_stats` takes. */
export const callsQueryStats = (names: WireNames) =>
  request('/calls/query_stats', callsQueryStatsBody(names));

/** What `/calls/stats` takes. */
export const callsStats = (names: WireNames) => request('/calls/stats', callsStatsBody(names));

/** What `/calls/usage` takes. */
export const callsUsage = () => request('/calls/usage', callsUsageBody);

/** What `/threads/stream_query` takes. */
export const threadsStreamQuery = () => request('/threads/stream_query', threadsQueryBody);

/** What `/obj/create` takes. */
export const objCreate = (names: WireNames) => request('/obj/create', objectCreateBody(names));

/** What `/obj/read` takes. */
export const objRead = (names: WireNames) => request('/obj/read', objectReadBody(names));

/** What `/objs/query` takes. */
export const objsQuery = (names: WireNames) => request('/objs/query', objectsQueryBody(names));

/** What `/obj/delete` takes. */
export const objDelete = (names: WireNames) => request('/obj/delete', objectDeleteBody(names));

/** What `/refs/read_batch` takes. */
export const refsReadBatch = (names: WireNames) => request('/refs/read_batch', refsReadBody(names));

/** What `/cost/create` takes. */
export const costCreate = () => request('/cost/create', costCreateBody);

/** What `/cost/query` takes. */
export const costQuery = () => request('/cost/query', costQueryBody);

/** What `/cost/purge` takes. */
export const costPurge = (names: WireNames) =>
  request('/cost/purge', names.dialect === 'weave' ? purgeByListBody : costPurgeBody);

/** What `/feedback/create` takes. */
export const feedbackCreate = (names: WireNames) => request('/feedback/create', feedbackCreateBody(names));

/** What `/feedback/batch/create` takes. */
export const feedbackBatchCreate = (names: WireNames) =>
  request('/feedback/batch/create', feedbackBatchBody(names));

/** What `/feedback/replace` takes. */
export const feedbackReplace = (names: WireNames) => request('/feedback/replace', feedbackReplaceBody(names));

/** What `/feedback/query` takes. */
export const feedbackQuery = (names: WireNames) => request('/feedback/query', feedbackQueryBody(names));

/** What `/feedback/purge` takes. */
export const feedbackPurge = (names: WireNames) =>
  request('/feedback/purge', names.dialect === 'weave' ? purgeByListBody : feedbackPurgeBody);

/** What `/projects/query` takes. */
export const projectsQuery = () => request('/projects/query', projectsQueryBody);

/** What `/inference/v1/{path+}` takes. */
export const inference = () => request('/inference/v1/{path+}', inferenceBody);

/** What `/graphql` takes. */
export const graphql = () => request('/graphql', graphqlBody);

/** What `/v2/{entity}/{project}/calls/complete` takes. */
export const callsComplete = (names: WireNames) =>
  request('/v2/{entity}/{project}/calls/complete', callsCompleteBody(names));

/** What `/v2/{entity}/{project}/call/start` takes. */
export const callStartV2 = (names: WireNames) =>
  request('/v2/{entity}/{project}/call/start', callStartV2Body(names));

/** What `/v2/{entity}/{project}/call/end` takes. */
export const callEndV2 = (names: WireNames) =>
  request('/v2/{entity}/{project}/call/end', callEndV2Body(names));

/** What `/trace/usage` takes. */
export const traceUsage = (names: WireNames) => request('/trace/usage', traceUsageBody(names));

/** What `/file/create` takes. */
export const fileCreate = () => request('/file/create', fileCreateBody);

/** What `/file/content` takes. */
export const fileContent = () => request('/file/content', fileContentBody);

/** What `/table/create` takes. */
export const tableCreate = () => request('/table/create', tableCreateBody);

/** What `/table/create_from_digests` takes. */
export const tableCreateFromDigests = () => request('/table/create_from_digests', tableFromDigestsBody);

/** What `/table/update` takes. */
export const tableUpdate = () => request('/table/update', tableUpdateBody);

/** What `/table/query` takes. */
export const tableQuery = () => request('/table/query', tableQueryBody);

/** What `/table/query_stats` takes. */
export const tableQueryStats = () => request('/table/query_stats', tableStatsBody);

/** What `/table/query_stats_batch` takes. */
export const tableQueryStatsBatch = () => request('/table/query_stats_batch', tableStatsBatchBody);

/** What `/objs/{object_id}/aliases` takes. */
export const aliasesSet = () => request('/objs/{object_id}/aliases', aliasesSetBody);

/** What `/objs/{object_id}/aliases/remove` takes. */
export const aliasesRemove = () => request('/objs/{object_id}/aliases/remove', aliasesRemoveBody);

/** What `/objs/{object_id}/versions/{digest}/tags` takes. */
export const tagsAdd = () => request('/objs/{object_id}/versions/{digest}/tags', tagsAddBody);

/** What `/objs/{object_id}/versions/{digest}/tags/remove` takes. */
export const tagsRemove = () => request('/objs/{object_id}/versions/{digest}/tags/remove', tagsRemoveBody);

/** What `/aliases` takes. */
export const aliasesList = () => request('/aliases', labelsListQuery);

/** What `/tags` takes. */
export const tagsList = () => request('/tags', labelsListQuery);
