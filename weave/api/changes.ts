import * as z from 'zod/mini';
import { priceKind, tokenCost } from '../../api/costs.ts';
import { scorerRefs } from '../../api/evaluators.ts';
import { anyOf, flag, ignoredUser } from '../../api/fields.ts';
import { maxItems, newObject, refs } from '../../api/objects.ts';
import { callKind, expandColumns, noIncludes } from '../../api/queries.ts';
import { fieldRefs } from '../../api/reviews.ts';
import { groupBy } from '../../api/stats.ts';
import { toPath } from '../../foundations/expression/index.ts';
import type { JsonObject, JsonValue } from '../../foundations/wire/json.ts';
import { field, id, listOf, nullish, problem, refSchema, rule, time } from '../../foundations/wire/schema.ts';
import { kindInWeave, weavePolicy } from '../policy.ts';
import { withCachedTokens } from '../usage.ts';
import { type Change, type Changes, derive } from './derive.ts';
import { lenientName, optionalId, optionalName } from './lenient.ts';
import { purgeByIdList } from './purge.ts';

/*
 * What requests of Weave's dialect have that ours have not, or have otherwise.
 */

export const startNames: Change = {
  fields: () => ({
    op_name: field(
      lenientName,
      'What was called: a name, or an op ref `weave:///<entity>/<project>/op/<name>:<digest>`.',
    ),
    display_name: field(z.optional(optionalName), "The call's display name."),
    thread_id: field(z.optional(optionalId), 'Its conversation.'),
    turn_id: field(
      z.optional(optionalId),
      "Its turn of the thread, by a call's id. A turn itself has its own id.",
    ),
  }),
};

/** What an end may say of its start: the name to show, and where it lies, which is known here. */
const end: Change = {
  fields: () => ({
    display_name: field(z.optional(optionalName), "The call's display name."),
    trace_id: field(
      nullish(z.string()),
      "Its trace. Without it, the parent's if that is known, else a new one.",
    ),
    started_at: field(nullish(time), 'When it started; without an offset the time is UTC.'),
  }),
  also: ({ summary, output }) => ({
    summary: withCachedTokens((summary ?? {}) as JsonObject, output as JsonValue),
  }),
};

const maybeCost = nullish(tokenCost);

/** Weave's SDKs send 0 for what nobody said, so it counts as that. */
const costTerms: Change = {
  fields: () => ({
    cache_read_input_token_cost: field(
      maybeCost,
      'What one token of a prompt costs that was read from a cache. 0, or without it: what others cost.',
    ),
    cache_creation_input_token_cost: field(
      maybeCost,
      'What one token of a prompt costs that was written to a cache. 0, or without it: what others cost.',
    ),
  }),
  also: ({ cache_read_input_token_cost: read, cache_creation_input_token_cost: written }) => ({
    cacheReadTokenCost: read || undefined,
    cacheWriteTokenCost: written || undefined,
  }),
};

const refOf = (...kinds: Parameters<typeof refSchema>[1]) => refSchema(weavePolicy.refScheme, kinds);

const draft: Change = {
  fields: () => ({
    weave_ref: field(refOf('object', 'op', 'call'), 'What it is attached to: an object, op or call.'),
    annotation_ref: field(nullish(refOf('object')), 'An object ref.'),
    // Weave's scorers are ops, or objects that have one.
    runnable_ref: field(nullish(refOf('op', 'object')), 'An op ref, or an object ref.'),
    call_ref: field(nullish(refOf('call')), 'A call ref.'),
    trigger_ref: field(nullish(refOf('object')), 'An object ref.'),
  }),
};

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

/** A list of the filter; null for one that is empty or not there. */
const listIn = (list: unknown): unknown => (Array.isArray(list) && list.length > 0 ? list : null);

const labelsText =
  'Names of a version; of a filter: any of these. None is set to `latest`, `v<N>` or a digest.';

const objectsFilter: Change = {
  fields: () => ({
    tags: anyOf('Words on a version; of a filter: any of these.'),
    aliases: anyOf(labelsText),
    exclude_base_object_classes: anyOf('No objects of these classes.'),
    leaf_object_classes: field(unserved, 'Not served: a list that is not empty is a 422.'),
  }),
  also: ({ tags, aliases, exclude_base_object_classes }) => ({
    excludedClasses: listIn(exclude_base_object_classes),
    tags: listIn(tags),
    aliases: listIn(aliases),
  }),
};

const withLabels = () => flag('Adds the tags and aliases of the version.');

const expectedDigest = () =>
  field(nullish(z.string()), 'The digest that the client computed. If it is another, the answer is a 409.');

const feedbackIsNoColumn = z.check<Readonly<Record<string, unknown>>>(({ value, issues }) => {
  for (const name of ['columns', 'expand_columns']) {
    const paths = value[name];
    if (!Array.isArray(paths) || !paths.some((path) => toPath(path.text ?? path).field === 'feedback'))
      continue;
    const message = 'feedback is no column: ask for it with include_feedback: true';
    issues.push(problem(message, paths, name));
  }
});

/** The changes of components of requests. */
export const changes: Changes = {
  components: {
    CallStart: startNames,
    CallEnd: end,
    CostTerms: costTerms,
    FeedbackCreateReq: draft,
    ObjectsFilter: objectsFilter,
    ReviewQueue: { fields: () => ({ fields: fieldRefs(weavePolicy.refScheme) }) },
  },
  kindOf: kindInWeave,
};

const purge: Change = {
  fields: () => ({ query: field(purgeByIdList, 'Which records.') }),
};

/** The changes of bodies, by the paths of their routes or the names of tools. */
const bodies: Readonly<Record<string, Change>> = {
  '/call/update': {
    fields: () => ({
      display_name: field(optionalName, "The call's display name."),
      wb_user_id: ignoredUser,
    }),
  },
  '/calls/stream_query': {
    fields: () => ({
      include_usernames: flag('Adds the name of the user, `wb_username`.'),
      latest_only: flag('Accepted, and of no meaning for calls.'),
    }),
    also: ({ include_usernames }) => ({ userNameColumn: include_usernames ? 'wb_username' : null }),
    check: feedbackIsNoColumn,
  },
  '/calls/query_stats': {
    fields: () => ({ expand_columns: expandColumns(kindInWeave(callKind(noIncludes))) }),
    names: { expand_columns: 'expand' },
    check: feedbackIsNoColumn,
  },
  '/calls/stats': { fields: () => ({ group_by: groupBy('wb_user_id') }) },
  // A tool of /mcp.
  get_stats: { fields: () => ({ group_by: groupBy('wb_user_id') }) },
  '/cost/query': {
    fields: () => ({
      fields: field(
        nullish(z.array(z.enum(kindInWeave(priceKind()).fields as [string, ...string[]]))),
        'The fields to answer. All without it.',
      ),
    }),
  },
  '/cost/purge': purge,
  '/feedback/replace': draft,
  '/feedback/purge': purge,
  '/obj/create': {
    fields: () => ({
      obj: field(
        derive(newObject(), changes, {
          fields: () => ({ expected_digest: expectedDigest() }),
          names: { expected_digest: 'expected' },
        }),
        'The new version.',
      ),
    }),
  },
  '/obj/read': {
    fields: () => ({
      include_tags_and_aliases: withLabels(),
      metadata_only: flag('Whether values are left out.'),
    }),
    also: ({ include_tags_and_aliases, metadata_only }) => ({
      withLabels: include_tags_and_aliases,
      metadataOnly: metadata_only,
    }),
  },
  '/objs/query': {
    fields: () => ({
      include_tags_and_aliases: withLabels(),
      include_storage_size: flag('Adds the size of the value, in bytes of JSON.'),
    }),
    also: ({ include_tags_and_aliases, include_storage_size }) => ({
      withLabels: include_tags_and_aliases,
      withSizes: include_storage_size,
    }),
  },
  '/obj/delete': {
    // All that a version is called by.
    fields: () => ({
      digests: field(nullish(listOf(id, maxItems)), 'The digests of the versions; all versions without it.'),
    }),
  },
  '/calls/score': { fields: () => ({ scorer_refs: scorerRefs(weavePolicy.refScheme) }) },
  '/refs/read_batch': { fields: () => ({ refs: refs(weavePolicy.refScheme) }) },
};

/** The body of one of our routes, in Weave's dialect. */
export const bodyInWeave = <S extends z.ZodMiniType>(path: string, body: S): S =>
  derive(body, changes, bodies[path]) as S;

/** The answer of one of our routes, in Weave's dialect. */
export const answerSchemaInWeave = (answer: z.ZodMiniType): z.ZodMiniType =>
  derive(answer, { ...changes, components: {} });
