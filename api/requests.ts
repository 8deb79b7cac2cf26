import type { WireNames } from '../core/foundations/wire/index.ts';
import type { BodySchema } from '../core/foundations/wire/parse-body.ts';
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

export const callStart = (names: WireNames) => request('/call/start', callStartBody(names));
export const callEnd = (names: WireNames) => request('/call/end', callEndBody(names));
export const callUpsertBatch = (names: WireNames) => request('/call/upsert_batch', callBatchBody(names));
export const callRead = () => request('/call/read', callReadBody);
export const callUpdate = (names: WireNames) => request('/call/update', callUpdateBody(names));
export const callsDelete = () => request('/calls/delete', callsDeleteBody);
export const callsStreamQuery = (names: WireNames) => request('/calls/stream_query', callsQueryBody(names));
export const callsQueryStats = (names: WireNames) =>
  request('/calls/query_stats', callsQueryStatsBody(names));
export const callsStats = (names: WireNames) => request('/calls/stats', callsStatsBody(names));
export const callsUsage = () => request('/calls/usage', callsUsageBody);
export const threadsStreamQuery = () => request('/threads/stream_query', threadsQueryBody);
export const objCreate = (names: WireNames) => request('/obj/create', objectCreateBody(names));
export const objRead = (names: WireNames) => request('/obj/read', objectReadBody(names));
export const objsQuery = (names: WireNames) => request('/objs/query', objectsQueryBody(names));
export const objDelete = (names: WireNames) => request('/obj/delete', objectDeleteBody(names));
export const refsReadBatch = (names: WireNames) => request('/refs/read_batch', refsReadBody(names));
export const costCreate = (names: WireNames) => request('/cost/create', costCreateBody(names));
export const costQuery = (names: WireNames) => request('/cost/query', costQueryBody(names));
export const costPurge = (names: WireNames) =>
  request('/cost/purge', names.dialect === 'weave' ? purgeByListBody : costPurgeBody);
export const feedbackCreate = (names: WireNames) => request('/feedback/create', feedbackCreateBody(names));
export const feedbackBatchCreate = (names: WireNames) =>
  request('/feedback/batch/create', feedbackBatchBody(names));
export const feedbackReplace = (names: WireNames) => request('/feedback/replace', feedbackReplaceBody(names));
export const feedbackQuery = (names: WireNames) => request('/feedback/query', feedbackQueryBody(names));
export const feedbackPurge = (names: WireNames) =>
  request('/feedback/purge', names.dialect === 'weave' ? purgeByListBody : feedbackPurgeBody);
export const projectsQuery = () => request('/projects/query', projectsQueryBody);
export const inference = () => request('/inference/v1/{path+}', inferenceBody);

// Weave's dialect alone has these.

export const graphql = () => request('/graphql', graphqlBody);
export const callsComplete = (names: WireNames) =>
  request('/v2/{entity}/{project}/calls/complete', callsCompleteBody(names));
export const callStartV2 = (names: WireNames) =>
  request('/v2/{entity}/{project}/call/start', callStartV2Body(names));
export const callEndV2 = (names: WireNames) =>
  request('/v2/{entity}/{project}/call/end', callEndV2Body(names));
export const traceUsage = (names: WireNames) => request('/trace/usage', traceUsageBody(names));
export const fileCreate = () => request('/file/create', fileCreateBody);
export const fileContent = () => request('/file/content', fileContentBody);
export const tableCreate = () => request('/table/create', tableCreateBody);
export const tableCreateFromDigests = () => request('/table/create_from_digests', tableFromDigestsBody);
export const tableUpdate = () => request('/table/update', tableUpdateBody);
export const tableQuery = () => request('/table/query', tableQueryBody);
export const tableQueryStats = () => request('/table/query_stats', tableStatsBody);
export const tableQueryStatsBatch = () => request('/table/query_stats_batch', tableStatsBatchBody);
export const aliasesSet = () => request('/objs/{object_id}/aliases', aliasesSetBody);
export const aliasesRemove = () => request('/objs/{object_id}/aliases/remove', aliasesRemoveBody);
export const tagsAdd = () => request('/objs/{object_id}/versions/{digest}/tags', tagsAddBody);
export const tagsRemove = () => request('/objs/{object_id}/versions/{digest}/tags/remove', tagsRemoveBody);
export const aliasesList = () => request('/aliases', labelsListQuery);
export const tagsList = () => request('/tags', labelsListQuery);
