import * as z from 'zod/mini';
import { endPayload, envelopeBytes, parseTime, startPayload } from '../foundations/wire/index.ts';
import {
  displayText,
  documented,
  field,
  freeObject,
  freeValue,
  id,
  integer,
  listSchema,
  nullish,
  record,
  time,
} from '../foundations/wire/schema.ts';
import { batch, deletion, endpoint, oneRecord } from './endpoint.ts';
import { deleted, done, ignoredUser, name, project } from './fields.ts';

/*
 * Reports of calls, and their changes. Queries are in `queries.ts`.
 */

const optionalId = (description: string) => field(nullish(id), description);
const step = (description: string) => field(nullish(integer), description);

/** The fields of a start on the wire. */
export const startFields = () => ({
  project_id: project,
  id: optionalId('The id. Without one, what is stored gets a new UUIDv7.'),
  op_name: name('What was called: a name, or an op ref `svc:///<entity>/<project>/op/<name>:<digest>`.'),
  display_name: field(nullish(displayText), "The call's display name."),
  trace_id: optionalId("Its trace. Without it, the parent's if that is known, else a new one."),
  parent_id: optionalId('The call that made it.'),
  thread_id: optionalId('Its conversation.'),
  turn_id: optionalId("Its turn of the thread, by a call's id. A turn itself has its own id."),
  started_at: field(time, 'When it started; without an offset the time is UTC.'),
  attributes: field(nullish(freeObject), 'Anything; `{}` without it.'),
  inputs: field(nullish(freeObject), 'Anything; `{}` without it.'),
  svc_user_id: ignoredUser,
  svc_run_id: optionalId("The call's run."),
  svc_run_step: step("The run's step at the start."),
});

type StartFields = z.output<z.ZodMiniObject<ReturnType<typeof startFields>>>;

/** What the fields of a start give beside what they are. The size of the record may be known. */
const ofStart = (fields: StartFields, bytes = envelopeBytes(fields, startPayload)) => ({
  startedAt: parseTime(fields.started_at) ?? 0,
  attributes: fields.attributes ?? {},
  inputs: fields.inputs ?? {},
  /** Bytes of the start as compact JSON, without the values of attributes and inputs. */
  envelopeBytes: bytes,
});

/** The start of a call, `{project_id, op_name, started_at, …}`. */
export const start = () =>
  record(startFields(), {}, (fields) => ofStart(fields)).register(documented, { name: 'CallStart' });

/**
 * The start of a call as a client reports it. If `id` or `traceId` is null, the server makes it.
 * The caller is the user, whoever is named.
 */
export type CallStart = Omit<z.output<ReturnType<typeof start>>, 'userId'> & {
  /** What a span is. @default - the call was made of no span */
  readonly span?: SpanRole;
};

/**
 * What says of a span to which thread, turn and user it belongs, once all of its trace is known.
 * No client can say so.
 */
export interface SpanRole {
  /** Whether it is the run of an agent or a workflow. */
  readonly isRun: boolean;
  /** Whether no convention knows it, as a server's span: a session that it names gives way to others. */
  readonly isPlain: boolean;
  /** Whether its parent is in another process. */
  readonly hasRemoteParent: boolean;
  /** Whether it asks a person, or goes on with an answer. */
  readonly pauses: boolean;
  /** The thread that it names itself. */
  readonly threadId: string | null;
  /** The user that it has from other spans, and not among its own attributes. */
  readonly givenUser: string | null;
}

/** The fields of an end on the wire. */
export const endFields = () => ({
  project_id: project,
  id: field(id, 'The id of the call.'),
  ended_at: field(time, 'When it ended; without an offset the time is UTC.'),
  output: field(z.optional(freeValue), 'Any JSON; null without it.'),
  exception: field(nullish(z.string()), 'What it failed with.'),
  summary: field(nullish(freeObject), 'Anything; the service reads `usage` and `status_counts.error`.'),
  svc_run_step_end: step("The run's step at the end."),
});

type EndFields = z.output<z.ZodMiniObject<ReturnType<typeof endFields>>>;

/** What the fields of an end give beside what they are. The size of the record may be known. */
const ofEnd = (fields: EndFields, bytes = envelopeBytes(fields, endPayload)) => ({
  endedAt: parseTime(fields.ended_at) ?? 0,
  summary: fields.summary ?? {},
  /** Bytes of the end as compact JSON, without the values of output, summary and exception. */
  envelopeBytes: bytes,
});

/** The end of a call, `{project_id, id, ended_at, …}`. */
export const end = () =>
  record(endFields(), {}, (fields) => ofEnd(fields)).register(documented, { name: 'CallEnd' });

/** The end of a call as a client reports it. */
export interface CallEnd extends Readonly<z.output<ReturnType<typeof end>>> {
  /** The name to show from now on. @default - it stays what it is */
  readonly displayName?: string | null;
}

/** A report: a start or an end. */
export type CallReport =
  | { readonly kind: 'start'; readonly start: CallStart }
  | { readonly kind: 'end'; readonly end: CallEnd };

const startBody = () => z.strictObject({ start: field(start(), "The call's start.") });
const endBody = () => z.strictObject({ end: field(end(), "The call's end.") });

/** The ids of a call that was reported. */
const startedCall = z
  .object({
    id: field(z.string(), "The call's id: the client's, or a new UUIDv7."),
    trace_id: field(z.string(), 'Its trace.'),
  })
  .register(documented, { name: 'CallStartRes' });

/** What the functions that report calls use. */
const reporting = { calls: 'write', payloads: 'write', bookkeeping: 'note' } as const;

/** A start. The examples below refer to it. */
export const startExample = {
  project_id: 'acme/shop',
  id: 'turn-1',
  op_name: 'answer',
  trace_id: 'trace-1',
  thread_id: 'chat-1',
  turn_id: 'turn-1',
  started_at: '2026-10-01T09:30:00.000001Z',
  inputs: { question: 'Where is my order?' },
};

const endExample = {
  project_id: 'acme/shop',
  id: 'turn-1',
  ended_at: '2026-10-01T09:30:01.500001Z',
  output: 'On its way.',
  summary: { usage: { 'gpt-4o': { prompt_tokens: 1200, completion_tokens: 12 } } },
};

const lookupExample = {
  project_id: 'acme/shop',
  id: 'lookup-1',
  op_name: 'find_order',
  trace_id: 'trace-1',
  parent_id: 'turn-1',
  started_at: '2026-10-01T09:30:00.2Z',
};

export const callStart = /* @__PURE__ */ endpoint({
  path: '/call/start',
  role: 'report',
  shape: oneRecord,
  stores: reporting,
  tag: 'calls',
  name: 'CallStart',
  summary: 'Report the start of a call',
  description:
    'Stores the start of one call and answers its ids. Missing ids are made. A start with a `parent_id` and without a `trace_id` takes the trace of its parent, if that is known. A start that is reported again replaces the earlier one. A key with the role `report` only adds: a call that is stored stays as it is, and without a `trace_id` the parent has to be in the same request.',
  request: startBody,
  projects: ({ start }) => [{ projectId: start.projectId, loc: ['start', 'project_id'] }],
  answer: () => startedCall,
  examples: {
    turn: {
      summary: 'A turn of a conversation',
      body: { start: startExample },
      answer: { id: 'turn-1', trace_id: 'trace-1' },
    },
  },
});

export const callEnd = /* @__PURE__ */ endpoint({
  path: '/call/end',
  role: 'report',
  shape: oneRecord,
  stores: reporting,
  tag: 'calls',
  name: 'CallEnd',
  summary: 'Report the end of a call',
  description:
    'Stores the end of one call. It may come before the start. The service reads `summary.usage` and `summary.status_counts.error`; the rest of the summary is yours. A key with the role `report` only ends calls of its user that have no end yet.',
  request: endBody,
  projects: ({ end }) => [{ projectId: end.projectId, loc: ['end', 'project_id'] }],
  answer: () => done,
  examples: {
    turn: { summary: 'The end of the turn, with what it used', body: { end: endExample }, answer: {} },
  },
});

/** The body of a batch. */
export const callBatch = () => {
  const mode = <M extends 'start' | 'end'>(kind: M) => field(z.literal(kind), 'What the item reports.');
  const bodyText = 'The body of a single report.';
  const starts = z.pipe(
    z.strictObject({ mode: mode('start'), req: field(startBody(), bodyText) }),
    z.transform(({ req }): CallReport => ({ kind: 'start', start: req.start })),
  );
  const ends = z.pipe(
    z.strictObject({ mode: mode('end'), req: field(endBody(), bodyText) }),
    z.transform(({ req }): CallReport => ({ kind: 'end', end: req.end })),
  );
  const item = z.discriminatedUnion('mode', [starts, ends], { error: 'should be "start" or "end"' });
  return z.strictObject({ batch: field(z.array(item), 'The items, in order.') });
};

export const callUpsertBatch = /* @__PURE__ */ endpoint({
  path: '/call/upsert_batch',
  role: 'report',
  shape: batch,
  stores: reporting,
  tag: 'calls',
  name: 'CallUpsertBatch',
  summary: 'Report starts and ends of calls',
  description:
    'Stores any mixture of starts and ends, of any projects that the key may report to. The batch is checked whole before anything is written. It may be sent again, in any grouping.',
  request: callBatch,
  projects: ({ batch }) =>
    batch.map((report, i) => ({
      projectId: report.kind === 'start' ? report.start.projectId : report.end.projectId,
      loc: ['batch', String(i), 'req', report.kind, 'project_id'],
    })),
  answer: () =>
    z.object({
      res: field(
        z.array(z.union([startedCall, done])),
        'One answer for each item, in order: ids for a start, `{}` for an end.',
      ),
    }),
  examples: {
    pair: {
      summary: 'Start and end of a call below the turn',
      body: {
        batch: [
          { mode: 'start', req: { start: lookupExample } },
          {
            mode: 'end',
            req: { end: { project_id: 'acme/shop', id: 'lookup-1', ended_at: '2026-10-01T09:30:00.9Z' } },
          },
        ],
      },
      answer: { res: [{ id: 'lookup-1', trace_id: 'trace-1' }, {}] },
    },
  },
});

export const callUpdate = /* @__PURE__ */ endpoint({
  path: '/call/update',
  role: 'write',
  shape: oneRecord,
  stores: { calls: 'update' },
  tag: 'calls',
  name: 'CallUpdate',
  summary: 'Change what a call is shown as',
  description: 'Changes only the display name; null removes it.',
  request: () =>
    record({
      project_id: project,
      call_id: field(id, "The call's id."),
      display_name: field(z.nullable(displayText), "The call's display name."),
    }),
  answer: () => done,
  errors: [404],
  examples: {
    rename: {
      summary: 'Give the turn a name',
      body: { project_id: 'acme/shop', call_id: 'turn-1', display_name: 'where is it?' },
      answer: {},
    },
  },
});

const maxDeleted = 1000;

export const callsDelete = /* @__PURE__ */ endpoint({
  path: '/calls/delete',
  role: 'write',
  shape: deletion,
  stores: { calls: 'delete', payloads: 'delete', feedback: 'erase', bookkeeping: 'note', audit: 'append' },
  tag: 'calls',
  name: 'CallsDelete',
  summary: 'Delete calls',
  description:
    'Deletes calls and everything below them, payloads and feedback included. Unknown ids are ignored. After a 503 or a broken connection, the same request deletes and counts the rest.',
  request: () =>
    record({
      project_id: project,
      call_ids: field(
        listSchema(id, maxDeleted, { noun: 'ids; send the rest in further requests' }),
        'Calls by their ids.',
      ),
    }),
  answer: () => deleted,
  examples: {
    call: {
      summary: 'The call below the turn',
      body: { project_id: 'acme/shop', call_ids: ['lookup-1'] },
      answer: { num_deleted: 1 },
    },
  },
});

/** The endpoints that take reports of calls. */
export const callReports = [callStart, callEnd, callUpsertBatch] as const;

/** The endpoints that change and delete calls. */
export const callChanges = [callUpdate, callsDelete] as const;
