import * as z from 'zod/mini';
import { optionalQuery, pathSchema, type RecordKind, sortSchema } from '../foundations/expression/index.ts';
import type { JsonObject } from '../foundations/wire/index.ts';
import {
  displayText,
  documented,
  field,
  freeObject,
  id,
  listSchema,
  nullish,
  problem,
  record,
  refTo,
  rule,
  withDefault,
} from '../foundations/wire/schema.ts';
import { batch, endpoint, fewRecords, longAnswer, oneRecord } from './endpoint.ts';
import {
  done,
  ignoredUser,
  jsonObject,
  ofProject,
  project,
  queryNames,
  queryText,
  slice,
  sortText,
  timestamp,
} from './fields.ts';
import { purgeByIds } from './purge.ts';
import { isVerdictId, verdictIds } from './shared/evaluators.ts';
import { answerProblems } from './shared/feedback.ts';

const maxText = 1024;
const freeText = z
  .string()
  .check(
    z.refine(
      (text) => text.length <= maxText && text.isWellFormed(),
      rule(`should be at most ${maxText} characters, without lone surrogates`),
    ),
  )
  .register(documented, { keywords: { maxLength: maxText } });

const draftFields = () => ({
  project_id: project,
  id: field(nullish(id), 'The id. Without one, what is stored gets a new UUIDv7.'),
  svc_ref: field(refTo('object', 'op', 'call'), 'What it is attached to: an object, op or call.'),
  feedback_type: field(displayText, 'What kind of feedback it is: a short word.'),
  payload: field(freeObject, 'Anything, up to 1 MiB of JSON.'),
  creator: field(nullish(freeText), 'Who gives it, as free text.'),
  annotation_ref: field(nullish(refTo('object')), 'An object ref.'),
  runnable_ref: field(nullish(refTo('op', 'object')), 'An op ref, or an object ref.'),
  call_ref: field(nullish(refTo('call')), 'A call ref.'),
  trigger_ref: field(nullish(refTo('object')), 'An object ref.'),
  svc_user_id: ignoredUser,
});

const draftNames = { feedback_type: 'type' } as const;

interface DraftOnTheWire {
  readonly id?: string | null | undefined;
  readonly feedback_type: string;
  readonly payload: JsonObject;
  readonly annotation_ref?: string | null | undefined;
}

/** An id is none of the service's verdicts, and an answer answers what is asked. */
const isConsistent = z.check<DraftOnTheWire>(({ value, issues }) => {
  if (isVerdictId(value.id ?? ''))
    issues.push(
      problem(`should not begin with ${verdictIds}, as the verdicts of evaluators do`, value, 'id'),
    );
  const { feedback_type: type, annotation_ref: annotationRef = null, payload } = value;
  for (const [field, message] of answerProblems({ type, annotationRef, payload }))
    issues.push(problem(message, value, field));
});

const draft = () =>
  record(draftFields(), draftNames, undefined, isConsistent as never).register(documented, {
    name: 'FeedbackCreateReq',
  });

/** Feedback as a client gives it; `id` is null where the server is to make one. */
export type FeedbackDraft = Omit<z.output<ReturnType<typeof draft>>, 'userId'>;

const created = () =>
  z
    .object({
      id: field(z.string(), "The record's id: the client's, or a new UUIDv7."),
      created_at: field(timestamp, 'When it was stored.'),
      svc_user_id: field(z.string(), 'The user whose key stored it.'),
      payload: field(jsonObject, 'As it was stored.'),
    })
    .register(documented, { name: 'FeedbackCreateRes' });

/** What is answered to a creation. */
export type CreatedFeedback = z.output<ReturnType<typeof created>>;

const createdAt = '2026-10-01T09:30:02.123456Z';

const draftExample = (id: string, type: string, payload: object) => ({
  project_id: 'acme/shop',
  id,
  svc_ref: 'svc:///acme/shop/call/turn-1',
  feedback_type: type,
  payload,
});

const createdExample = (id: string, payload: object) => ({
  id,
  created_at: createdAt,
  svc_user_id: 'ada',
  payload,
});

export const feedbackCreate = /* @__PURE__ */ endpoint({
  path: '/feedback/create',
  role: 'report',
  shape: oneRecord,
  stores: { feedback: 'create', bookkeeping: 'note' },
  tag: 'feedback',
  name: 'FeedbackCreate',
  summary: 'Store a feedback record',
  description:
    'Stores a record and answers it. If the `id` exists with the same content, the answer is the stored record; with other content it is a 409. A key with the role `report` only adds: an `id` that exists is answered as if it were new, and changes nothing.',
  request: draft,
  answer: created,
  errors: [409],
  examples: {
    reaction: {
      summary: 'A reaction to a call',
      body: draftExample('feedback-1', 'reaction', { emoji: '👍' }),
      answer: createdExample('feedback-1', { emoji: '👍' }),
    },
  },
});

/** The positions in a batch of each client's id that comes more than once. */
const repeatedIds = (batch: readonly FeedbackDraft[]): [first: number, again: number][] => {
  const seen = new Map<string, number>();
  return batch.flatMap((draft, i): [number, number][] => {
    if (draft.id === null) return [];
    const name = `${draft.projectId}\n${draft.id}`;
    const first = seen.get(name);
    if (first === undefined) seen.set(name, i);
    return first === undefined ? [] : [[first, i]];
  });
};

const eachIdOnce = z.check<FeedbackDraft[]>(({ value, issues }) => {
  for (const pair of repeatedIds(value)) {
    for (const [at, other] of [pair, pair.toReversed()]) {
      const message = `this id stands in item ${other} as well; an id can only be given to one record`;
      issues.push(problem(message, value, at ?? 0, 'id'));
    }
  }
});

export const feedbackBatchCreate = /* @__PURE__ */ endpoint({
  path: '/feedback/batch/create',
  role: 'report',
  shape: batch,
  stores: { feedback: 'create', bookkeeping: 'note' },
  tag: 'feedback',
  name: 'FeedbackBatchCreate',
  summary: 'Store feedback records',
  description:
    'Stores records of any projects that the key may report to. The batch is checked whole before anything is written.',
  request: () => record({ batch: field(z.array(draft()).check(eachIdOnce), 'The items, in order.') }),
  projects: ({ batch }) =>
    batch.map(({ projectId }, i) => ({ projectId, loc: ['batch', String(i), 'project_id'] })),
  answer: () => z.object({ res: field(z.array(created()), 'One answer for each record, in order.') }),
  errors: [409],
  examples: {
    two: {
      summary: 'Two records',
      body: {
        batch: [
          draftExample('feedback-2', 'note', { note: 'late' }),
          draftExample('feedback-3', 'score', { score: 1 }),
        ],
      },
      answer: {
        res: [createdExample('feedback-2', { note: 'late' }), createdExample('feedback-3', { score: 1 })],
      },
    },
  },
});

export const feedbackReplace = /* @__PURE__ */ endpoint({
  path: '/feedback/replace',
  role: 'write',
  shape: oneRecord,
  stores: { feedback: 'replace', bookkeeping: 'note' },
  tag: 'feedback',
  name: 'FeedbackReplace',
  summary: 'Replace a feedback record',
  description:
    'Puts a new record in the place of the record `feedback_id`, in one transaction. The same request may be sent again.',
  request: () =>
    record(
      { ...draftFields(), feedback_id: field(id, 'The record to replace.') },
      draftNames,
      undefined,
      isConsistent as never,
    ),
  answer: created,
  errors: [404, 409],
  examples: {
    reaction: {
      summary: 'Another reaction',
      body: { ...draftExample('feedback-4', 'reaction', { emoji: '🎉' }), feedback_id: 'feedback-1' },
      answer: createdExample('feedback-4', { emoji: '🎉' }),
    },
  },
});

/** A feedback record. With `fields` it has those alone. */
export const feedbackRecord = () =>
  z
    .partial(
      z.object({
        id: field(z.string(), "The record's id."),
        project_id: ofProject,
        svc_ref: field(z.string(), 'What it is attached to.'),
        feedback_type: field(z.string(), 'What kind of feedback it is.'),
        payload: field(jsonObject, 'As it was given.'),
        creator: field(z.nullable(z.string()), 'Who gave it, as free text; null if unknown.'),
        annotation_ref: field(z.nullable(z.string()), 'An object ref; null without one.'),
        runnable_ref: field(z.nullable(z.string()), 'An op or object ref; null without one.'),
        call_ref: field(z.nullable(z.string()), 'A call ref; null without one.'),
        trigger_ref: field(z.nullable(z.string()), 'An object ref; null without one.'),
        created_at: field(timestamp, 'When it was stored.'),
        svc_user_id: field(z.string(), 'The user whose key stored it.'),
      }),
    )
    .register(documented, { name: 'Feedback' });

/** Made once: queries need it, and schemas take time to make. */
let kind: RecordKind | undefined;

/** Feedback as records that expressions are about. */
export const feedbackKind = (): RecordKind => {
  kind ??= {
    name: 'Feedback',
    fields: Object.keys(feedbackRecord().shape),
    nested: ['payload'],
    times: new Set(['created_at']),
  };
  return kind;
};

const maxFields = 500;

const feedbackQueryBody = () => {
  const kind = feedbackKind();
  return record(
    {
      project_id: project,
      fields: field(
        nullish(listSchema(pathSchema(kind), maxFields, { noun: 'paths' })),
        'The fields to answer, also dotted paths into the payload. All without it.',
      ),
      query: field(optionalQuery(kind), queryText),
      sort_by: field(withDefault(sortSchema(kind), []), sortText),
      ...slice,
    },
    queryNames,
    // Weave's door alone asks how many there are in all.
    () => ({ withTotal: false }),
  );
};

/** A query over the feedback of one project. Ties are in order of `created_at`, then `id`. */
export type FeedbackQuery = Omit<z.output<ReturnType<typeof feedbackQueryBody>>, 'withTotal'>;

export const feedbackQuery = /* @__PURE__ */ endpoint({
  path: '/feedback/query',
  shape: longAnswer,
  stores: { feedback: 'query' },
  tag: 'feedback',
  name: 'FeedbackQuery',
  summary: 'Query feedback',
  description: 'The records of a project that match. Without `sort_by` they come by `created_at`, then `id`.',
  request: feedbackQueryBody,
  answer: () => z.object({ result: field(z.array(feedbackRecord()), 'The records, in order.') }),
  examples: {
    reactions: {
      summary: 'Two fields of the reactions',
      body: {
        project_id: 'acme/shop',
        query: { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: 'reaction' }] } },
        fields: ['id', 'payload.emoji'],
      },
      answer: { result: [{ id: 'feedback-4', payload: { emoji: '🎉' } }] },
    },
  },
});

const byId = (id: string) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] });

export const feedbackPurge = /* @__PURE__ */ endpoint({
  path: '/feedback/purge',
  role: 'write',
  shape: fewRecords,
  stores: { feedback: 'purge', bookkeeping: 'note', audit: 'append' },
  tag: 'feedback',
  name: 'FeedbackPurge',
  summary: 'Delete feedback records',
  description: 'Deletes records by their ids, payloads included. Unknown ids are ignored.',
  request: () =>
    record(
      {
        project_id: project,
        query: field(purgeByIds, 'Which records, only by id: an `$eq`, or an `$or` of these.'),
      },
      { query: 'ids' },
    ),
  answer: () => done,
  examples: {
    two: {
      summary: 'Two records',
      body: {
        project_id: 'acme/shop',
        query: { $expr: { $or: [byId('feedback-2'), byId('feedback-3')] } },
      },
      answer: {},
    },
  },
});

/** The endpoints that report and read feedback. Their examples run in this order. */
export const feedbackRoutes = [feedbackCreate, feedbackBatchCreate, feedbackReplace, feedbackQuery] as const;

/** The endpoints that delete feedback. */
export const feedbackDeletion = [feedbackPurge] as const;
