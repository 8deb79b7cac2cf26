import {
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseTime,
  utf8Length,
} from '../../../foundations/wire/index.ts';
import type { KnownCall } from './answer.ts';

const toMicros = (time: JsonValue | undefined): number => parseTime(String(time)) ?? Number.NaN;

const getStatus = (end: JsonObject | null): string => {
  if (end === null) return 'running';
  if (typeof end.exception === 'string') return 'error';
  const counts = isJsonObject(end.summary) ? end.summary.status_counts : null;
  const errors = isJsonObject(counts) ? counts.error : null;
  return typeof errors === 'number' && errors > 0 ? 'descendant_error' : 'success';
};

const getTraceName = ({ display_name, op_name }: JsonObject): JsonValue => {
  const [, shortName] = /^svc:\/\/\/[^/]+\/[^/]+\/op\/([^/:]+):[^/:]+$/.exec(String(op_name)) ?? [];
  return display_name ?? shortName ?? op_name ?? null;
};

const toSummary = (start: JsonObject, end: JsonObject | null): JsonObject => {
  const { svc: _, ...own } = isJsonObject(end?.summary) ? end.summary : {};
  const latency = end && Math.round((toMicros(end.ended_at) - toMicros(start.started_at)) / 1000);
  const svc = {
    status: getStatus(end),
    latency_ms: latency,
    trace_name: getTraceName(start),
    ...(typeof own.waited_ms === 'number' && { waited_ms: own.waited_ms }),
    ...(own.waiting === true && { waiting: true }),
  };
  return { ...own, svc };
};

const getSize = (record: JsonObject | null): number => (record ? utf8Length(JSON.stringify(record)) : 0);

/**
 * The call that a start and an end make, once both are stored.
 *
 * @param start the record as a client sends it, with an id and a trace of its own
 * @param end the same of its end; null while the call runs
 * @param user who reported them
 */
export const knownCall = (start: JsonObject, end: JsonObject | null, user: string): KnownCall => {
  const call: JsonObject = {
    id: start.id ?? null,
    project_id: start.project_id ?? null,
    op_name: start.op_name ?? null,
    display_name: start.display_name ?? null,
    trace_id: start.trace_id ?? null,
    parent_id: start.parent_id ?? null,
    thread_id: start.thread_id ?? null,
    turn_id: start.turn_id ?? null,
    started_at: formatTime(toMicros(start.started_at)),
    ended_at: end && formatTime(toMicros(end.ended_at)),
    attributes: start.attributes ?? {},
    inputs: start.inputs ?? {},
    output: end?.output ?? null,
    exception: end?.exception ?? null,
    summary: toSummary(start, end),
    svc_user_id: user,
    svc_run_id: start.svc_run_id ?? null,
    svc_run_step: start.svc_run_step ?? null,
    svc_run_step_end: end?.svc_run_step_end ?? null,
  };
  return { call: JSON.parse(JSON.stringify(call)) as JsonObject, bytes: getSize(start) + getSize(end) };
};
