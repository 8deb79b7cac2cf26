import middy from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { weavePath } from '../../api/weave-paths.ts';
import type { RequestBudget } from '../../foundations/storage/index.ts';
import { notFound } from '../../foundations/wire/index.ts';
import { overStream, type RawWork, type StreamEvent, type Work } from '../common/http/endpoint.ts';
import { answerErrors, logRequest } from '../common/http/request.ts';
import { type Answerer, type Differs, throughDoor } from '../common/weave/door.ts';

/*
 * Weave's door: `/weave/…`, and what else Weave's SDKs ask. Each path leads to the work of the endpoint
 * that has it here. An endpoint is loaded when somebody asks for it, so that a start loads one.
 */

/** What makes the answerer of a path, once it is asked for. */
type Lead = (path: string) => Promise<Answerer>;

const to =
  <Body, Answer>(
    load: () => Promise<{ readonly handler: Work<Body, Answer> | RawWork<Body> }>,
    differs?: Differs,
  ): Lead =>
  async (path) =>
    throughDoor((await load()).handler, path, differs);

type Own = typeof import('../common/weave/own.ts');

/** An endpoint that the door alone has. */
const own =
  <Body, Answer>(choose: (all: Own) => Work<Body, Answer>): Lead =>
  async (path) =>
    throughDoor(choose(await import('../common/weave/own.ts')), path);

/** Calls of Weave's SDKs have the prompts that their inputs refer to. */
const named =
  <Body, Answer>(
    load: () => Promise<{ readonly handler: Work<Body, Answer> }>,
    choose: (all: Own) => (body: Body, budget: RequestBudget) => Promise<Body>,
  ): Lead =>
  async (path) => {
    const [{ handler }, all] = await Promise.all([load(), import('../common/weave/own.ts')]);
    const { description, handle } = handler;
    const name = choose(all);
    const handleNamed: typeof handle = async (request) =>
      handle({ ...request, body: await name(request.body, request.budget) });
    return throughDoor({ description, handle: handleNamed }, path);
  };

/** Calls have these, `{}` if they were not asked for: Python SDKs up to 0.52 fail without them. */
const neverMissing = ['attributes', 'inputs'];

const withAllInputs: Differs = ({ columns }: { readonly columns: readonly string[] | null }) => {
  const missing = neverMissing.filter(
    (name) => columns && !columns.some((path) => path === name || path.startsWith(`${name}.`)),
  );
  const more = missing.map((name) => `,"${name}":{}`).join('');
  // A row is an object; what stands between rows is none.
  return (text) =>
    more && text.startsWith('{') && text.endsWith('}') ? `${text.slice(0, -1)}${more}}` : text;
};

/** In place of a value that was not asked for stands an empty object. */
const emptyValues: Differs =
  ({ metadataOnly }: { readonly metadataOnly: boolean }) =>
  (text) =>
    metadataOnly ? text.replace(/"val":null(?=\}+$)/, '"val":{}') : text;

/** The door's endpoints by method and path. */
const leads: Readonly<Record<string, Lead>> = {
  'POST /call/start': named(
    () => import('./call/start.ts'),
    ({ namePrompt }) => namePrompt,
  ),
  'POST /call/end': to(() => import('./call/end.ts')),
  'POST /call/upsert_batch': named(
    () => import('./call/upsert_batch.ts'),
    ({ namePrompts }) => namePrompts,
  ),
  'POST /call/read': to(() => import('./call/read.ts')),
  'POST /call/update': to(() => import('./call/update.ts')),
  'POST /calls/delete': to(() => import('./calls/delete.ts')),
  'POST /calls/query_stats': to(() => import('./calls/query_stats.ts')),
  'POST /calls/score': to(() => import('./calls/score.ts')),
  'POST /calls/stats': to(() => import('./calls/stats.ts')),
  'POST /calls/stream_query': to(() => import('./calls/stream_query.ts'), withAllInputs),
  'POST /calls/usage': to(() => import('./calls/usage.ts')),
  'POST /trace/usage': own(({ traceUsageWork }) => traceUsageWork),
  'POST /v2/{entity}/{project}/call/start': named(
    () => import('./call/start.ts'),
    ({ namePrompt }) => namePrompt,
  ),
  'POST /v2/{entity}/{project}/call/end': to(() => import('./call/end.ts')),
  'POST /v2/{entity}/{project}/calls/complete': own(({ completeWork }) => completeWork),
  'POST /threads/stream_query': to(() => import('./threads/stream_query.ts')),
  'POST /obj/create': to(() => import('./obj/create.ts')),
  'POST /obj/read': to(() => import('./obj/read.ts'), emptyValues),
  'POST /obj/delete': to(() => import('./obj/delete.ts')),
  'POST /objs/query': to(() => import('./objs/query.ts'), emptyValues),
  'PUT /objs/{object_id}/aliases': own(({ aliasesSetWork }) => aliasesSetWork),
  'POST /objs/{object_id}/aliases/remove': own(({ aliasesRemoveWork }) => aliasesRemoveWork),
  'PUT /objs/{object_id}/versions/{digest}/tags': own(({ tagsAddWork }) => tagsAddWork),
  'POST /objs/{object_id}/versions/{digest}/tags/remove': own(({ tagsRemoveWork }) => tagsRemoveWork),
  'GET /aliases': own(({ aliasesListWork }) => aliasesListWork),
  'GET /tags': own(({ tagsListWork }) => tagsListWork),
  'POST /refs/read_batch': to(() => import('./refs/read_batch.ts')),
  'POST /table/create': to(() => import('./table/create.ts')),
  'POST /table/create_from_digests': own(({ tableFromDigestsWork }) => tableFromDigestsWork),
  'POST /table/query': to(() => import('./table/query.ts')),
  'POST /table/query_stats': to(() => import('./table/query_stats.ts')),
  'POST /table/query_stats_batch': own(({ tableStatsWork }) => tableStatsWork),
  'POST /table/update': to(() => import('./table/update.ts')),
  'POST /file/create': to(() => import('./file/create.ts')),
  'POST /file/content': to(() => import('./file/content.ts')),
  // The Python SDK had these names for them up to 0.52.
  'POST /files/create': to(() => import('./file/create.ts')),
  'POST /files/content': to(() => import('./file/content.ts')),
  'POST /cost/create': to(() => import('./cost/create.ts')),
  'POST /cost/purge': to(() => import('./cost/purge.ts')),
  'POST /cost/query': to(() => import('./cost/query.ts')),
  'POST /feedback/create': to(() => import('./feedback/create.ts')),
  'POST /feedback/batch/create': to(() => import('./feedback/batch/create.ts')),
  'POST /feedback/payload_schema': own(({ payloadSchemaWork }) => payloadSchemaWork),
  'POST /feedback/purge': to(() => import('./feedback/purge.ts')),
  'POST /feedback/query': to(() => import('./feedback/query.ts')),
  'POST /feedback/replace': to(() => import('./feedback/replace.ts')),
  'POST /feedback/stats': to(() => import('./feedback/stats.ts')),
  'POST /graphql': own(({ graphqlWork }) => graphqlWork),
};

const splitPath = (path: string): string[] => path.split('/');

const templates = Object.entries(leads).map(([name, lead]) => {
  const [method = '', path = ''] = name.split(' ');
  return { method, path, segments: splitPath(path.slice(1)), lead };
});

const isParameter = (segment: string): boolean => segment.startsWith('{');

/** The parameters of a path, by the segments of a template that it fits; undefined if it does not. */
const parametersIn = (
  path: readonly string[],
  template: readonly string[],
): Record<string, string> | undefined => {
  if (path.length !== template.length) return undefined;
  const found: Record<string, string> = {};
  for (const [i, segment] of template.entries()) {
    const given = path[i] ?? '';
    if (isParameter(segment)) found[segment.slice(1, -1)] = given;
    else if (given !== segment) return undefined;
  }
  return found;
};

type RoutedEvent = Pick<APIGatewayProxyEvent, 'httpMethod' | 'path' | 'pathParameters'>;

/** What a request is for, by its path below `/weave`; GraphQL is asked at the root, too. */
const routed = ({ httpMethod, path, pathParameters }: RoutedEvent) => {
  const below = splitPath(pathParameters?.proxy ?? path.slice(path.lastIndexOf('/') + 1));
  for (const template of templates) {
    const parameters = template.method === httpMethod && parametersIn(below, template.segments);
    if (parameters) return { ...template, parameters };
  }
  return undefined;
};

/** What answers each path that was asked for. */
const answerers = new Map<Lead, Promise<Answerer>>();

const getAnswerer = ({ lead, path }: { readonly lead: Lead; readonly path: string }): Promise<Answerer> => {
  const made = answerers.get(lead) ?? lead(path);
  answerers.set(lead, made);
  return made;
};

const noRoute = middy<StreamEvent<unknown>, never>()
  .use([logRequest(`${weavePath}/{proxy+}`), answerErrors()])
  .handler(() => {
    throw notFound(['path'], 'no such route: docs/weave.md lists those of this door');
  });

/** All requests of Weave's SDKs. The answer is streamed, as that of some paths has to be. */
export const handler = overStream<unknown>(async (event, context) => {
  const found = routed(event);
  if (!found) return noRoute(event, context);
  event.resource = found.path;
  event.pathParameters = found.parameters;
  return (await getAnswerer(found))(event, context);
});
