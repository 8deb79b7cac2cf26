import type { HeaderAttribute, HeaderSummaryField } from '../../../api/shared/header-fields.ts';
import { type FieldNames, ownNames } from '../../../foundations/door.ts';
import {
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  parseRef,
  serviceName,
} from '../../../foundations/wire/index.ts';
import type { CallHeader, StartHeader } from './model.ts';
import { endFields, type Payload, type PayloadField, startFields } from './payloads.ts';

/** The source of a column's value: a function of the header, or the payload. */
type Origin = ((call: CallHeader) => JsonValue) | 'payload';

/** The columns of an answered call, in order. Missing values are null; times are text. */
const origins: Readonly<Record<string, Origin>> = {
  id: (call) => call.id,
  project_id: (call) => call.projectId,
  op_name: ({ start }) => start.opName,
  display_name: ({ start }) => start.displayName,
  trace_id: ({ start }) => start.traceId,
  parent_id: ({ start }) => start.parentId,
  thread_id: ({ start }) => start.threadId,
  turn_id: ({ start }) => start.turnId,
  started_at: ({ start }) => formatTime(start.startedAt),
  ended_at: ({ end }) => end && formatTime(end.endedAt),
  attributes: 'payload',
  inputs: 'payload',
  output: 'payload',
  exception: 'payload',
  summary: 'payload',
  svc_user_id: ({ start }) => start.userId,
  svc_run_id: ({ start }) => start.runId,
  svc_run_step: ({ start }) => start.runStep,
  svc_run_step_end: ({ end }) => end?.runStepEnd ?? null,
};

/** The names of an answered call's columns, in order. */
export const callColumns: readonly string[] = Object.keys(origins);

const payloadColumns: ReadonlySet<string> = new Set<PayloadField>([...startFields, ...endFields]);

/** Whether a column is in the payload, so that an answer with it must read the payload. */
export const isPayloadColumn = (column: string): column is PayloadField => payloadColumns.has(column);

/** The status of a call; `running` as long as it has no end. */
export const getStatus = ({ end }: CallHeader): 'running' | 'success' | 'error' | 'descendant_error' =>
  end ? end.status : 'running';

/** Milliseconds from start to end, rounded; null while the call runs. */
export const latencyMs = ({ start, end }: CallHeader): number | null =>
  end && Math.round((end.endedAt - start.startedAt) / 1000);

/**
 * The name to show for a call: its display name, else its op's short name if `op_name` is a ref,
 * else `op_name`.
 */
export const traceName = ({ start }: CallHeader): string => {
  if (start.displayName !== null) return start.displayName;
  const ref = parseRef(start.opName);
  return ref && ref.kind !== 'call' ? ref.name : start.opName;
};

/** The fields that the service adds to a call's summary, under the service's name. */
const serviceFields = {
  status: (call: CallHeader): JsonValue => getStatus(call),
  latency_ms: (call: CallHeader): JsonValue => latencyMs(call),
  trace_name: (call: CallHeader): JsonValue => traceName(call),
  waited_ms: ({ end }: CallHeader): JsonValue => (typeof end?.waited === 'number' ? end.waited : null),
  waiting: ({ end }: CallHeader): JsonValue => end?.waited === true,
} satisfies Readonly<Record<HeaderSummaryField, (call: CallHeader) => JsonValue>>;

const isServiceField = (name: string): name is keyof typeof serviceFields =>
  Object.hasOwn(serviceFields, name);

/** One of the service's fields of a call's summary; undefined for a name that is none. */
export const serviceField = (call: CallHeader, name: string): JsonValue | undefined =>
  isServiceField(name) ? serviceFields[name](call) : undefined;

/** The block that the service adds to a call's summary, under the service's name. */
export const serviceSummary = (call: CallHeader): JsonObject => ({
  status: serviceFields.status(call),
  latency_ms: serviceFields.latency_ms(call),
  trace_name: serviceFields.trace_name(call),
  ...waitSummary(call),
});

/** What it says of a wait for a person; nothing of a call that did not wait. */
const waitSummary = ({ end }: CallHeader): JsonObject => {
  if (!end || end.waited === null) return {};
  return end.waited === true ? { waiting: true } : { waited_ms: end.waited };
};

/** A field of attributes, if it is a short text, as headers hold it; null for any other value. */
export const shortAttribute = ({ attributes }: StartHeader, name: HeaderAttribute): string | null => {
  const value = attributes[name];
  return typeof value === 'string' ? value : null;
};

/** What a call is about, for events and files: short texts of its attributes. */
export const shortAttributes = (start: StartHeader) => ({
  kind: shortAttribute(start, 'kind'),
  environment: shortAttribute(start, 'environment'),
  release: shortAttribute(start, 'release'),
  tool: shortAttribute(start, 'tool.name'),
  agent: shortAttribute(start, 'agent.name'),
});

/** The size of a call's start and end as received JSON, in bytes. */
export const storageSize = ({ start, end }: CallHeader): number => start.bytes + (end?.bytes ?? 0);

/** Fields of feedback that our own API answers of records alone, and not on calls. */
const besideCalls: ReadonlySet<string> = new Set([
  'annotation_ref',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
]);

/** A record of feedback as a call has it, with names of its fields; the payload stays as it is. */
const renamedRecord = (record: JsonValue, names: FieldNames): JsonValue => {
  if (!isJsonObject(record)) return record;
  const fields = Object.entries(record);
  const answered = names === ownNames ? fields.filter(([name]) => !besideCalls.has(name)) : fields;
  return Object.fromEntries(answered.map(([name, value]) => [names[name] ?? name, value]));
};

/** The service's block with names of fields, which only feedback in it has. */
const renamedBlock = (block: JsonObject, names: FieldNames): JsonObject => {
  const { feedback } = block;
  return Array.isArray(feedback)
    ? { ...block, feedback: feedback.map((record) => renamedRecord(record, names)) }
    : block;
};

/** A part of a call's summary with other names. */
export const renamedSummary = (summary: JsonValue, names: FieldNames): JsonValue => {
  if (!isJsonObject(summary) || !isJsonObject(summary[serviceName] ?? null)) return summary;
  const { [serviceName]: block, ...others } = summary;
  return { ...others, [names[serviceName] ?? serviceName]: renamedBlock(block as JsonObject, names) };
};

/**
 * Adds the service's block to the client's summary (JSON text). It replaces a client's own value
 * under that name.
 */
const summaryJson = (summary: string, serviceBlock: JsonObject, names: FieldNames): string => {
  const block = JSON.stringify(renamedBlock(serviceBlock, names));
  const name = names[serviceName] ?? serviceName;
  const key = JSON.stringify(name);
  if (summary === '{}') return `{${key}:${block}}`;
  // JSON.stringify wrote the text and never escapes letters, so no escaped spelling can occur.
  if (!summary.includes(key)) return `${summary.slice(0, -1)},${key}:${block}}`;
  const parsed: unknown = parseJson(summary);
  const others = isJsonObject(parsed) ? Object.entries(parsed).filter(([own]) => own !== name) : [];
  return JSON.stringify(Object.fromEntries([...others, [name, JSON.parse(block)]]));
};

/** The part of the client's summary that the header holds, as JSON text. */
const knownSummary = ({ end }: CallHeader): string =>
  end && typeof end.usage === 'object' && end.usage !== null ? JSON.stringify({ usage: end.usage }) : '{}';

/** The value of a column in the header; undefined for any other column. */
export const headerValue = (call: CallHeader, column: string): JsonValue | undefined => {
  const origin = origins[column];
  return typeof origin === 'function' ? origin(call) : undefined;
};

/**
 * The JSON text of one column of a call. Without a payload, the summary has only what the header
 * holds and what the service adds.
 *
 * @param added further fields of the service's block in the summary
 * @param names what the block, and fields of feedback in it, are called
 */
export const columnJson = (
  call: CallHeader,
  payload: Payload | null,
  column: string,
  added?: JsonObject,
  names: FieldNames = ownNames,
): string => {
  if (column === 'summary') {
    return summaryJson(
      payload?.summary ?? knownSummary(call),
      {
        ...serviceSummary(call),
        ...added,
      },
      names,
    );
  }
  const value = headerValue(call, column);
  if (value !== undefined) return JSON.stringify(value);
  return (isPayloadColumn(column) && payload?.[column]) || 'null';
};
