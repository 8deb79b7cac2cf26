import * as z from 'zod/mini';
import type { CallEnd, CallReport, CallStart } from '../../core/calls/model.ts';
import { parseTime, utf8Length, type WireNames } from '../../core/wire/index.ts';
import {
  displayText,
  documented,
  documentedList,
  fieldOf,
  freeObject,
  freeValue,
  id,
  integer,
  namedFields,
  nullish,
  projectId,
  time,
} from '../../core/wire/schema.ts';

/** The fields of the payload, and the length of the JSON that stands for a missing one. */
const startPayload = { attributes: '{}'.length, inputs: '{}'.length };
const endPayload = { output: 'null'.length, exception: 'null'.length, summary: '{}'.length };

/** Bytes of a record's JSON without the values of its payload fields. */
const envelopeBytes = (record: object, payload: Readonly<Record<string, number>>): number => {
  const rest: Record<string, unknown> = { ...record };
  let bytes = 0;
  for (const [field, defaultLength] of Object.entries(payload)) {
    // Its name in quotes, a colon and a comma. The default that is stored for a missing field was
    // not received.
    bytes += Object.hasOwn(record, field) ? field.length + 4 : -defaultLength;
    // A null was received as such, and is stored as its default.
    if (rest[field] === null) bytes += 'null'.length - defaultLength;
    delete rest[field];
  }
  return bytes + utf8Length(JSON.stringify(rest));
};

const step = nullish(integer);

const startRecord = (names: WireNames) =>
  z.strictObject({
    project_id: projectId,
    id: nullish(id),
    op_name: displayText,
    display_name: nullish(displayText),
    trace_id: nullish(id),
    parent_id: nullish(id),
    thread_id: nullish(id),
    turn_id: nullish(id),
    started_at: time,
    attributes: nullish(freeObject),
    inputs: nullish(freeObject),
    // The user is accepted, and overwritten with the caller's.
    ...namedFields({
      [names.userId]: nullish(z.string()),
      [names.runId]: nullish(id),
      [names.runStep]: step,
    }),
  });

/**
 * The schema of a call's start, `{project_id, op_name, started_at, …}`. It stores the caller as the
 * user, whatever user is named.
 */
const startSchema = (names: WireNames) =>
  z
    .pipe(
      startRecord(names),
      z.transform(
        (record): CallStart => ({
          projectId: record.project_id,
          id: record.id ?? null,
          opName: record.op_name,
          displayName: record.display_name ?? null,
          traceId: record.trace_id ?? null,
          parentId: record.parent_id ?? null,
          threadId: record.thread_id ?? null,
          turnId: record.turn_id ?? null,
          startedAt: parseTime(record.started_at) ?? 0,
          attributes: record.attributes ?? {},
          inputs: record.inputs ?? {},
          runId: fieldOf(record, names.runId, nullish(id)) ?? null,
          runStep: fieldOf(record, names.runStep, step) ?? null,
          envelopeBytes: envelopeBytes(record, startPayload),
        }),
      ),
    )
    .register(documented, { name: 'CallStart' });

/** The schema of a call's end, `{project_id, id, ended_at, …}`. */
const endSchema = (names: WireNames) =>
  z
    .pipe(
      z.strictObject({
        project_id: projectId,
        id,
        ended_at: time,
        output: z.optional(freeValue),
        exception: nullish(z.string()),
        summary: nullish(freeObject),
        ...namedFields({ [names.runStepEnd]: step }),
      }),
      z.transform(
        (record): CallEnd => ({
          projectId: record.project_id,
          id: record.id,
          endedAt: parseTime(record.ended_at) ?? 0,
          output: record.output ?? null,
          exception: record.exception ?? null,
          summary: record.summary ?? {},
          runStepEnd: fieldOf(record, names.runStepEnd, step) ?? null,
          envelopeBytes: envelopeBytes(record, endPayload),
        }),
      ),
    )
    .register(documented, { name: 'CallEnd' });

/** The body of `/call/start`: `{start: {…}}`. */
export const callStartBody = (names: WireNames) => z.strictObject({ start: startSchema(names) });

/** The body of `/call/end`: `{end: {…}}`. */
export const callEndBody = (names: WireNames) => z.strictObject({ end: endSchema(names) });

/** The body of `/call/upsert_batch`: `{batch: [{mode, req}]}`. */
export const callBatchBody = (names: WireNames) => {
  const start = z.pipe(
    z.strictObject({ mode: z.literal('start'), req: callStartBody(names) }),
    z.transform(({ req }): CallReport => ({ kind: 'start', start: req.start })),
  );
  const end = z.pipe(
    z.strictObject({ mode: z.literal('end'), req: callEndBody(names) }),
    z.transform(({ req }): CallReport => ({ kind: 'end', end: req.end })),
  );
  return z.strictObject({
    batch: z.array(z.discriminatedUnion('mode', [start, end], { error: 'should be "start" or "end"' })),
  });
};

/** The body of `/call/update`: `{project_id, call_id, display_name}`. A null removes the name. */
export const callUpdateBody = z.strictObject({
  project_id: projectId,
  call_id: id,
  display_name: z.nullable(displayText),
});

const maxIds = 1000;

/** The body of `/calls/delete`: `{project_id, call_ids}`. */
export const callsDeleteBody = z.strictObject({
  project_id: projectId,
  call_ids: documentedList(
    z.array(id).check(
      z.refine((ids) => ids.length <= maxIds, {
        error: `should be at most ${maxIds} ids; send the rest in further requests`,
        params: { type: 'too_long' },
      }),
    ),
    maxIds,
  ),
});
