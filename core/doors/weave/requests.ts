import * as z from 'zod/mini';
import type { CallReport, callEnd, callStart, callUpsertBatch } from '../../../api/calls.ts';
import { type costQuery, priceKind } from '../../../api/costs.ts';
import type { Endpoint } from '../../../api/endpoint.ts';
import type { feedbackQuery } from '../../../api/feedback.ts';
import { optionalTexts } from '../../../api/fields.ts';
import {
  maxItems,
  type objCreate,
  type objDelete,
  type objRead,
  type objsQuery,
} from '../../../api/objects.ts';
import { only } from '../../../api/purge.ts';
import {
  callKind,
  type callsQueryStats,
  type callsStreamQuery,
  expandColumns,
  noIncludes,
} from '../../../api/queries.ts';
import type { callsStats } from '../../../api/stats.ts';
import { type Expression, type Looseness, loosened } from '../../../foundations/expression/index.ts';
import {
  invalidAt,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { id, listSchema, nullish, parseValue, rule } from '../../../foundations/wire/schema.ts';
import type { traceUsage } from './endpoints/usage.ts';
import { lenientName, optionalId, optionalName } from './lenient.ts';
import { requestFromWeave } from './names.ts';
import { withCachedTokens } from './usage.ts';

/*
 * What requests of Weave's dialect have that ours have not, or mean otherwise, by the paths of their
 * routes.
 */

/** Makes the body of an endpoint of the fields that came, which have our names; `parse` is its own. */
type Reads<Body> = (fields: JsonObject, parse: (fields: JsonObject) => Body) => Body;

type BodyOf<E> = E extends Endpoint<infer Body> ? Body : never;

/** The difference of an endpoint, as what a table of all of them holds. */
const reads = <E>(read: Reads<BodyOf<E>>): Reads<unknown> => read as Reads<unknown>;

/** Takes fields out of an object, which the endpoint's own schema would not know. */
const taken = (fields: JsonObject, ...names: readonly string[]): [taken: JsonObject, rest: JsonObject] => {
  const entries = Object.entries(fields);
  return [
    Object.fromEntries(entries.filter(([name]) => names.includes(name))),
    Object.fromEntries(entries.filter(([name]) => !names.includes(name))),
  ];
};

/**
 * Reads fields that Weave's dialect alone has.
 *
 * @param within where they stand in the body. @default - at its top
 * @throws ServiceError 422 that names each wrong place
 */
const read = <T>(schema: z.ZodMiniType<T>, fields: JsonObject, ...within: readonly string[]): T => {
  try {
    return parseValue(schema, fields);
  } catch (error) {
    if (!(error instanceof ServiceError) || within.length === 0) throw error;
    throw new ServiceError(
      error.status,
      error.detail.map((detail) => ({ ...detail, loc: ['body', ...within, ...detail.loc.slice(1)] })),
    );
  }
};

const objectAt = (fields: JsonObject, name: string): JsonObject => {
  const value = fields[name];
  return value !== undefined && isJsonObject(value) ? value : {};
};

// Calls.

const names = {
  op_name: lenientName,
  display_name: optionalName,
  thread_id: optionalId,
  turn_id: optionalId,
};

/** A start whose names fit. What is no text is left to its schema. */
const fittingStart = (start: JsonObject): JsonObject => {
  const fitting = Object.entries(names).flatMap(([name, schema]): [string, JsonValue][] => {
    const text = start[name];
    if (typeof text !== 'string') return [];
    const fits = schema.parse(text);
    return fits === text ? [] : [[name, fits]];
  });
  return fitting.length === 0 ? start : { ...start, ...Object.fromEntries(fitting) };
};

const endNames = z.object({ display_name: nullish(optionalName) });

/** An end as our endpoints take it, and the name that it brings: null for none, and '' for one that is removed. */
const plainEnd = (end: JsonObject): [end: JsonObject, fields: JsonObject] => {
  const { summary, output = null } = end;
  // The trace and the start of a call are known.
  const [own, rest] = taken(end, 'display_name', 'trace_id', 'started_at');
  if (summary === undefined || !isJsonObject(summary)) return [rest, own];
  const { weave: _, ...others } = summary;
  return [{ ...rest, summary: withCachedTokens('weave' in summary ? others : summary, output) }, own];
};

const withName = (
  report: CallReport,
  fields: JsonObject | undefined,
  ...within: readonly string[]
): CallReport => {
  if (report.kind === 'start' || fields?.display_name === undefined) return report;
  const { display_name: displayName = null } = read(endNames, fields, ...within);
  return { kind: 'end', end: { ...report.end, displayName } };
};

/** Refuses a report of another project than the path names. */
const requireProject = (
  { entity, project }: JsonObject,
  projectId: unknown,
  ...at: readonly string[]
): void => {
  if (typeof projectId === 'string' && projectId !== `${entity}/${project}`)
    throw invalidAt(['body', ...at, 'project_id'], 'should be the project that the path names');
};

const oneStart = reads<typeof callStart>(({ start, ...rest }, parse) =>
  parse(
    start !== undefined && isJsonObject(start)
      ? { ...rest, start: fittingStart(start) }
      : { ...rest, ...(start !== undefined && { start }) },
  ),
);

const oneEnd = reads<typeof callEnd>((fields, parse) => {
  const { end } = fields;
  if (end === undefined || !isJsonObject(end)) return parse(fields);
  const [plain, own] = plainEnd(end);
  const body = parse({ ...fields, end: plain });
  const report = withName({ kind: 'end', end: body.end }, own, 'end');
  return report.kind === 'end' ? { end: report.end } : body;
});

const batch = reads<typeof callUpsertBatch>((fields, parse) => {
  if (!Array.isArray(fields.batch)) return parse(fields);
  const ends = new Map<number, JsonObject>();
  const items = fields.batch.map((item, i): JsonValue => {
    const req = isJsonObject(item) ? objectAt(item, 'req') : {};
    if (!isJsonObject(item)) return item;
    if (item.mode === 'start' && isJsonObject(req.start ?? null))
      return { ...item, req: { ...req, start: fittingStart(objectAt(req, 'start')) } };
    if (item.mode !== 'end' || !isJsonObject(req.end ?? null)) return item;
    const [end, own] = plainEnd(objectAt(req, 'end'));
    ends.set(i, own);
    return { ...item, req: { ...req, end } };
  });
  const body = parse({ ...fields, batch: items });
  return {
    batch: body.batch.map((report, i) => withName(report, ends.get(i), 'batch', String(i), 'req', 'end')),
  };
});

/** A report of the project in the path. */
const ofPath =
  (name: 'start' | 'end', inner: Reads<unknown>): Reads<unknown> =>
  (fields, parse) => {
    const [path, body] = taken(fields, 'entity', 'project');
    requireProject(path, objectAt(body, name).project_id, name);
    return inner(body, parse);
  };

const endFields: ReadonlySet<string> = new Set([
  'ended_at',
  'output',
  'exception',
  'summary',
  'svc_run_step_end',
]);

/** A call that is over, as a start and an end. */
const startAndEnd = (whole: JsonObject): JsonValue[] => {
  const start: JsonObject = {};
  const end: JsonObject = {};
  for (const [name, value] of Object.entries(whole)) (endFields.has(name) ? end : start)[name] = value;
  const { project_id = null, id = null } = whole;
  return [
    { mode: 'start', req: { start } },
    { mode: 'end', req: { end: { project_id, id, ...end } } },
  ];
};

/** Calls that are over. Their problems are named where they were sent. */
const complete = reads<typeof callUpsertBatch>((fields, parse) => {
  const [path, body] = taken(fields, 'entity', 'project');
  const { batch: calls } = body;
  if (!Array.isArray(calls)) return parse(body);
  for (const [i, call] of calls.entries())
    if (isJsonObject(call)) requireProject(path, call.project_id, 'batch', String(i));
  const reports = calls.flatMap((call) => (isJsonObject(call) ? startAndEnd(call) : [call, call]));
  try {
    return batch({ ...body, batch: reports }, parse as never) as BodyOf<typeof callUpsertBatch>;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // A field of both would be named twice.
    const details = new Map(
      error.detail.map((detail) => {
        const loc = locOfWhole(detail.loc);
        return [loc.join('\n'), { ...detail, loc }];
      }),
    );
    throw new ServiceError(error.status, [...details.values()]);
  }
});

/** `['body', 'batch', '3', 'req', 'end', 'ended_at']` as `['body', 'batch', '1', 'ended_at']`. */
const locOfWhole = ([
  body = '',
  list = '',
  index = '',
  ,
  ,
  ...below
]: readonly string[]): readonly string[] =>
  list === 'batch' && index !== ''
    ? [body, list, String(Math.floor(Number(index) / 2)), ...below]
    : [body, list, index, ...below].filter((step) => step !== '');

const callUpdate: Reads<unknown> = (fields, parse) => {
  const { display_name: name } = fields;
  const { svc_user_id: _, ...rest } = fields;
  return parse(typeof name === 'string' ? { ...rest, display_name: optionalName.parse(name) } : rest);
};

// Queries.

/** How Weave's server compares: of calls, what is missing is the empty text, too. */
const ofCalls: Looseness = { equalAsText: true, missingIsEmpty: true };
const ofRecords: Looseness = { equalAsText: true };

const loose = <Body extends { readonly where: Expression | null }>(body: Body, looseness: Looseness): Body =>
  body.where === null ? body : { ...body, where: loosened(body.where, looseness) };

const flags = (...names: readonly string[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, nullish(z.boolean())])));

const queryFlags = flags('include_usernames', 'latest_only');

const streamQuery = reads<typeof callsStreamQuery>((fields, parse) => {
  const [own, rest] = taken(fields, 'include_usernames', 'latest_only');
  const { include_usernames: withNames } = read(queryFlags, own);
  return { ...loose(parse(rest), ofCalls), userNameColumn: withNames ? 'wb_username' : null } as BodyOf<
    typeof callsStreamQuery
  >;
});

const expanding = () => z.object({ expand_columns: expandColumns(callKind(noIncludes)) });

const queryStats = reads<typeof callsQueryStats>((fields, parse) => {
  const [own, rest] = taken(fields, 'expand_columns');
  const { expand_columns: expand } = read(expanding(), own);
  return { ...loose(parse(rest), ofCalls), expand } as BodyOf<typeof callsQueryStats>;
});

const stats = reads<typeof callsStats>((fields, parse) => loose(parse(fields), ofCalls));
const usage = reads<typeof traceUsage>((fields, parse) => loose(parse(fields), ofCalls));
/** Prices with all their fields, unless some were asked for. */
const costs = reads<typeof costQuery>((fields, parse) => {
  const asked = fields.fields ?? [...priceKind().fields];
  return loose(parse({ ...fields, fields: asked }), ofRecords);
});
const feedback = reads<typeof feedbackQuery>((fields, parse) => ({
  ...loose(parse(fields), ofRecords),
  withTotal: true,
}));

/** Prices without those that nobody said, for which Weave's SDKs send 0. */
const prices: Reads<unknown> = (fields, parse) => {
  const { costs } = fields;
  if (costs === undefined || !isJsonObject(costs)) return parse(fields);
  const entries = Object.entries(costs).map(([model, terms]): [string, JsonValue] => {
    if (!isJsonObject(terms)) return [model, terms];
    const isSaid = ([name, value]: [string, JsonValue]) => !name.startsWith('cache_') || value !== 0;
    return [model, Object.fromEntries(Object.entries(terms).filter(isSaid))];
  });
  return parse({ ...fields, costs: Object.fromEntries(entries) });
};

/** The `query` of a purge, in which Weave's SDKs list ids: `{"$in": [{"$getField": "id"}, […]]}`. */
const purge: Reads<unknown> = (fields, parse) => {
  const listed = only(only(fields.query, '$expr'), '$in');
  const [field, literals] = Array.isArray(listed) && listed.length === 2 ? listed : [];
  if (only(field, '$getField') !== 'id' || !Array.isArray(literals)) return parse(fields);
  const conditions = literals.map((literal): JsonValue => ({ $eq: [{ $getField: 'id' }, literal] }));
  return parse({ ...fields, query: { $expr: { $or: conditions } } });
};

// Objects.

const expectedDigest = z.object({ expected_digest: nullish(z.string()) });

const newObject = reads<typeof objCreate>((fields, parse) => {
  const { obj } = fields;
  if (obj === undefined || !isJsonObject(obj)) return parse(fields);
  const [own, rest] = taken(obj, 'expected_digest');
  const { expected_digest: expected = null } = read(expectedDigest, own, 'obj');
  const body = parse({ ...fields, obj: rest });
  return { ...body, obj: { ...body.obj, expected } };
});

const labelFlags = flags('include_tags_and_aliases', 'metadata_only', 'include_storage_size');

const readObject = reads<typeof objRead>((fields, parse) => {
  const [own, rest] = taken(fields, 'include_tags_and_aliases', 'metadata_only');
  const { include_tags_and_aliases: withLabels, metadata_only: metadataOnly } = read(labelFlags, own);
  return { ...parse(rest), withLabels: withLabels === true, metadataOnly: metadataOnly === true };
});

/** What is refused, and not passed over: a list that is not empty. */
const unserved = nullish(
  z
    .array(z.string())
    .check(
      z.refine(
        (list) => list.length === 0,
        rule('is not served, since only base classes are stored: use base_object_classes'),
      ),
    ),
);

const labelFilter = z.object({
  tags: optionalTexts('Words on a version.'),
  aliases: optionalTexts('Names of a version.'),
  exclude_base_object_classes: optionalTexts('No objects of these classes.'),
  leaf_object_classes: unserved,
});

const listIn = (list: readonly string[] | null | undefined): readonly string[] | null =>
  list && list.length > 0 ? list : null;

const queryObjects = reads<typeof objsQuery>((fields, parse) => {
  const [own, rest] = taken(fields, 'include_tags_and_aliases', 'include_storage_size');
  const { include_tags_and_aliases: withLabels, include_storage_size: withSizes } = read(labelFlags, own);
  const [labels, filter] = taken(
    objectAt(rest, 'filter'),
    'tags',
    'aliases',
    'exclude_base_object_classes',
    'leaf_object_classes',
  );
  const { tags, aliases, exclude_base_object_classes: excluded } = read(labelFilter, labels, 'filter');
  const body = parse(isJsonObject(rest.filter ?? null) ? { ...rest, filter } : rest);
  return {
    ...body,
    withLabels: withLabels === true,
    withSizes: withSizes === true,
    filter: {
      ...body.filter,
      tags: listIn(tags),
      aliases: listIn(aliases),
      excludedClasses: listIn(excluded),
    },
  };
});

/** All that a version is called by, not its digest alone. */
const versions = z.object({ digests: nullish(listSchema(id, maxItems)) });

const deletion = reads<typeof objDelete>((fields, parse) => {
  const [own, rest] = taken(fields, 'digests');
  const { digests = null } = read(versions, own);
  return { ...parse(rest), digests };
});

const differences: Readonly<Record<string, Reads<unknown>>> = {
  '/call/start': oneStart,
  '/call/end': oneEnd,
  '/call/upsert_batch': batch,
  '/v2/{entity}/{project}/call/start': ofPath('start', oneStart),
  '/v2/{entity}/{project}/call/end': ofPath('end', oneEnd),
  '/v2/{entity}/{project}/calls/complete': complete,
  '/call/update': callUpdate,
  '/calls/stream_query': streamQuery,
  '/calls/query_stats': queryStats,
  '/calls/stats': stats,
  '/trace/usage': usage,
  '/cost/create': prices,
  '/cost/query': costs,
  '/cost/purge': purge,
  '/feedback/query': feedback,
  '/feedback/purge': purge,
  '/obj/create': newObject,
  '/obj/read': readObject,
  '/objs/query': queryObjects,
  '/obj/delete': deletion,
};

/**
 * Makes the body of an endpoint of a request in Weave's dialect.
 *
 * @param path that of the door's route, without `/weave`
 * @param parse the endpoint's own
 */
export const readRequest = <Body>(path: string, fields: unknown, parse: (fields: unknown) => Body): Body => {
  const own = requestFromWeave(fields);
  const difference = differences[path];
  return difference && isJsonObject(own) ? (difference(own, parse) as Body) : parse(own);
};
