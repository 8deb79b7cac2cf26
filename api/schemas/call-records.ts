import * as z from 'zod/mini';
import { parseTime, utf8Length, type WireNames } from '../../core/foundations/wire/index.ts';
import { nameIn, optionalIdIn, optionalNameIn } from '../../core/foundations/wire/lenient.ts';
import {
  documented,
  fieldOf,
  freeObject,
  freeValue,
  id,
  integer,
  namedFields,
  nullish,
  projectId,
  time,
} from '../../core/foundations/wire/schema.ts';
import type { CallEnd, CallReport, CallStart } from '../../core/records/calls/model.ts';

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

const startFields = (names: WireNames) => ({
  project_id: projectId,
  id: nullish(id),
  op_name: nameIn(names),
  display_name: z.optional(optionalNameIn(names)),
  trace_id: nullish(id),
  parent_id: nullish(id),
  thread_id: z.optional(optionalIdIn(names)),
  turn_id: z.optional(optionalIdIn(names)),
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

type StartRecord = z.output<z.ZodMiniObject<ReturnType<typeof startFields>>>;

/**
 * The schema of a call's start, `{project_id, op_name, started_at, …}`. It stores the caller as the
 * user, whatever user is named.
 */
export const startSchema = (names: WireNames) =>
  z
    .pipe(
      z.strictObject(startFields(names)),
      z.transform((record) => toStart(names, record)),
    )
    .register(documented, { name: 'CallStart' });

/** A start as it was reported. The size of its record without the payload may be known. */
const toStart = (
  names: WireNames,
  record: StartRecord,
  bytes = envelopeBytes(record, startPayload),
): CallStart => ({
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
  envelopeBytes: bytes,
});

const endFields = (names: WireNames) => ({
  project_id: projectId,
  id,
  ended_at: time,
  output: z.optional(freeValue),
  exception: nullish(z.string()),
  summary: nullish(freeObject),
  ...namedFields({ [names.runStepEnd]: step }),
});

type EndRecord = z.output<z.ZodMiniObject<ReturnType<typeof endFields>>>;

const toEnd = (names: WireNames, record: EndRecord, bytes = envelopeBytes(record, endPayload)): CallEnd => ({
  projectId: record.project_id,
  id: record.id,
  endedAt: parseTime(record.ended_at) ?? 0,
  output: record.output ?? null,
  exception: record.exception ?? null,
  summary: record.summary ?? {},
  runStepEnd: fieldOf(record, names.runStepEnd, step) ?? null,
  envelopeBytes: bytes,
});

/**
 * What an end may say of its start in Weave's dialect: the name to show, and where it lies, which
 * is known here.
 */
const ofTheStart = (names: WireNames) => ({
  display_name: z.optional(optionalNameIn(names)),
  trace_id: nullish(z.string()),
  started_at: nullish(time),
});

/** The schema of a call's end, `{project_id, id, ended_at, …}`. */
export const endSchema = (names: WireNames) =>
  z
    .pipe(
      z.strictObject({ ...endFields(names), ...(names.dialect === 'weave' && ofTheStart(names)) }),
      z.transform((record): CallEnd => {
        const { display_name: displayName } = record as { display_name?: string | null };
        return { ...toEnd(names, record), ...(displayName && { displayName }) };
      }),
    )
    .register(documented, { name: 'CallEnd' });

/** Bytes that the fields of an end take in the record of a whole call, without its payload. */
const completeEndBytes = ({ output, exception, summary, ended_at }: Partial<EndRecord>): number =>
  envelopeBytes({ output, exception, summary, ended_at }, endPayload);

/**
 * The schema of a call that is reported when it is over: the fields of its start, and of its end.
 * It is told in two, as if both had come in one batch.
 */
export const completeSchema = (names: WireNames) =>
  z
    .pipe(
      z.strictObject({ ...startFields(names), ...endFields(names) }),
      z.transform((record): readonly CallReport[] => {
        const { output: _o, exception: _e, summary: _s, ended_at: _at, ...start } = record;
        return [
          { kind: 'start', start: toStart(names, record, envelopeBytes(start, startPayload)) },
          { kind: 'end', end: toEnd(names, record, completeEndBytes(record)) },
        ];
      }),
    )
    .register(documented, { name: 'CompleteCall' });
