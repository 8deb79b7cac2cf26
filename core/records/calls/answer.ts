import {
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  parseRef,
  type WireNames,
} from '../../foundations/wire/index.ts';
import type { CallHeader } from './model.ts';
import { endFields, type Payload, type PayloadField, startFields } from './payloads.ts';

/** The source of a column's value: a function of the header, or the payload. */
type Origin = ((call: CallHeader) => JsonValue) | 'payload';

/** The columns of an answered call, in order. Missing values are null; times are text. */
const originsOf = (names: WireNames): Readonly<Record<string, Origin>> => ({
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
  [names.userId]: ({ start }) => start.userId,
  [names.runId]: ({ start }) => start.runId,
  [names.runStep]: ({ start }) => start.runStep,
  [names.runStepEnd]: ({ end }) => end?.runStepEnd ?? null,
});

const memo = new Map<string, Readonly<Record<string, Origin>>>();
/** Caches {@link originsOf} by service name, because it is used for each column and call. */
const origins = (names: WireNames): Readonly<Record<string, Origin>> => {
  const cached = memo.get(names.service) ?? originsOf(names);
  memo.set(names.service, cached);
  return cached;
};

/** The names of an answered call's columns, in order. */
export const callColumns = (names: WireNames): readonly string[] => Object.keys(origins(names));

const payloadColumns: ReadonlySet<string> = new Set<PayloadField>([...startFields, ...endFields]);

/** Whether a column is in the payload, so that an answer with it must read the payload. */
export const isPayloadColumn = (column: string): column is PayloadField => payloadColumns.has(column);

/** The status of a call; `running` as long as it has no end. */
export const statusOf = ({ end }: CallHeader): 'running' | 'success' | 'error' | 'descendant_error' =>
  end ? end.status : 'running';

/** Milliseconds from start to end, rounded; null while the call runs. */
export const latencyMs = ({ start, end }: CallHeader): number | null =>
  end && Math.round((end.endedAt - start.startedAt) / 1000);

/**
 * The name to show for a call: its display name, else its op's short name if `op_name` is a ref,
 * else `op_name`.
 */
const traceName = (names: WireNames, { start }: CallHeader): string => {
  if (start.displayName !== null) return start.displayName;
  const ref = parseRef(names, start.opName);
  return ref && ref.kind !== 'call' ? ref.name : start.opName;
};

/** The fields that the service adds to a call's summary, under the service's name. */
const serviceFields = {
  status: (_: WireNames, call: CallHeader): JsonValue => statusOf(call),
  latency_ms: (_: WireNames, call: CallHeader): JsonValue => latencyMs(call),
  trace_name: (names: WireNames, call: CallHeader): JsonValue => traceName(names, call),
} as const;

const isServiceField = (name: string): name is keyof typeof serviceFields =>
  Object.hasOwn(serviceFields, name);

/** One of the service's fields of a call's summary; undefined for a name that is none. */
export const serviceField = (names: WireNames, call: CallHeader, name: string): JsonValue | undefined =>
  isServiceField(name) ? serviceFields[name](names, call) : undefined;

/** The block that the service adds to a call's summary, under the service's name. */
export const serviceSummary = (names: WireNames, call: CallHeader): JsonObject => ({
  status: serviceFields.status(names, call),
  latency_ms: serviceFields.latency_ms(names, call),
  trace_name: serviceFields.trace_name(names, call),
});

/** The size of a call's start and end as received JSON, in bytes. */
export const storageSize = ({ start, end }: CallHeader): number => start.bytes + (end?.bytes ?? 0);

/**
 * Adds the service's block to the client's summary (JSON text). It replaces a client's own value
 * under that name.
 */
const summaryJson = (names: WireNames, summary: string, serviceBlock: JsonObject): string => {
  const block = JSON.stringify(serviceBlock);
  const key = JSON.stringify(names.service);
  if (summary === '{}') return `{${key}:${block}}`;
  // JSON.stringify wrote the text and never escapes letters, so no escaped spelling can occur.
  if (!summary.includes(key)) return `${summary.slice(0, -1)},${key}:${block}}`;
  const parsed: unknown = parseJson(summary);
  const others = isJsonObject(parsed)
    ? Object.entries(parsed).filter(([name]) => name !== names.service)
    : [];
  return JSON.stringify(Object.fromEntries([...others, [names.service, serviceBlock]]));
};

/** The part of the client's summary that the header holds, as JSON text. */
const knownSummary = ({ end }: CallHeader): string =>
  end && typeof end.usage === 'object' && end.usage !== null ? JSON.stringify({ usage: end.usage }) : '{}';

/** The value of a column in the header; undefined for any other column. */
export const headerValue = (names: WireNames, call: CallHeader, column: string): JsonValue | undefined => {
  const origin = origins(names)[column];
  return typeof origin === 'function' ? origin(call) : undefined;
};

/**
 * The JSON text of one column of a call. Without a payload, the summary has only what the header
 * holds and what the service adds.
 *
 * @param added further fields of the service's block in the summary
 */
export const columnJson = (
  names: WireNames,
  call: CallHeader,
  payload: Payload | null,
  column: string,
  added?: JsonObject,
): string => {
  if (column === 'summary') {
    return summaryJson(names, payload?.summary ?? knownSummary(call), {
      ...serviceSummary(names, call),
      ...added,
    });
  }
  const value = headerValue(names, call, column);
  if (value !== undefined) return JSON.stringify(value);
  return (isPayloadColumn(column) && payload?.[column]) || 'null';
};
