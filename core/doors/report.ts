import { type JsonObject, type JsonValue, utf8Length } from '../foundations/wire/index.ts';
import type { CallEnd, CallReport, CallStart } from '../records/calls/index.ts';

/*
 * Reports of calls that this service makes itself, of spans and of inference requests. Their values
 * are checked where they come from.
 */

type MadeStart = Omit<CallStart, 'displayName' | 'runId' | 'runStep' | 'envelopeBytes'>;
type MadeEnd = Omit<CallEnd, 'displayName' | 'runStepEnd' | 'envelopeBytes'>;

/** Bytes of JSON that a report would have, without the values of its payload fields. */
const envelopeBytes = (record: object, payload: Readonly<Record<string, JsonValue>>): number =>
  Object.keys(payload).reduce(
    (bytes, field) => bytes + field.length + '"":,'.length,
    utf8Length(JSON.stringify(record)),
  );

/** The report of a call's start. */
export const startReport = ({ attributes, inputs, ...record }: MadeStart): CallReport => {
  const payload: { attributes: JsonObject; inputs: JsonObject } = { attributes, inputs };
  const bytes = envelopeBytes(record, payload);
  const none = { displayName: null, runId: null, runStep: null };
  return { kind: 'start', start: { ...record, ...none, ...payload, envelopeBytes: bytes } };
};

/** The report of a call's end. */
export const endReport = ({ output, exception, summary, ...record }: MadeEnd): CallReport => {
  const payload = { output, exception, summary };
  const bytes = envelopeBytes(record, payload);
  return { kind: 'end', end: { ...record, ...payload, runStepEnd: null, envelopeBytes: bytes } };
};
