import {
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseRef,
  type WireNames,
} from '../../wire/index.ts';
import type { CallHeader } from '../model.ts';
import { endFields, type Payload, type PayloadField, startFields } from '../payloads/blocks.ts';

/** Where the value of a column comes from: out of the header, or out of the payload. */
type Origin = ((call: CallHeader) => JsonValue) | 'payload';

/**
 * The columns of a call as it is answered, in order. Values are null where there is none; times are
 * text.
 */
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
/**
 * {@link originsOf}, made once for each name of the service: it is asked for once a column and
 * call.
 */
const origins = (names: WireNames): Readonly<Record<string, Origin>> => {
  const made = memo.get(names.service) ?? originsOf(names);
  memo.set(names.service, made);
  return made;
};

/** The names of the columns of a call as it is answered, in order. */
export const callColumns = (names: WireNames): readonly string[] => Object.keys(origins(names));

const payloadColumns: ReadonlySet<string> = new Set<PayloadField>([...startFields, ...endFields]);

/**
 * Whether a column's value lies in the payload, so that an answer with it must read the payload.
 */
export const isPayloadColumn = (column: string): column is PayloadField => payloadColumns.has(column);

/** How a call stands; `running` until its end is known. */
const statusOf = ({ end }: CallHeader): 'running' | 'success' | 'error' | 'descendant_error' =>
  end ? end.status : 'running';

/** Whole milliseconds from start to end, rounded; null while the call runs. */
const latencyMs = ({ start, end }: CallHeader): number | null =>
  end && Math.round((end.endedAt - start.startedAt) / 1000);

/**
 * What a call is shown as: its display name, its op's short name where `op_name` is a ref, or
 * `op_name`.
 */
const traceName = (names: WireNames, { start }: CallHeader): string => {
  if (start.displayName !== null) return start.displayName;
  const ref = parseRef(names, start.opName);
  return ref && ref.kind !== 'call' ? ref.name : start.opName;
};

/** The block that the service adds to a call's summary, under its own name. */
export const serviceSummary = (names: WireNames, call: CallHeader): JsonObject => ({
  status: statusOf(call),
  latency_ms: latencyMs(call),
  trace_name: traceName(names, call),
});

/** The bytes of JSON that a call was received as: its start and its end. */
export const storageSize = ({ start, end }: CallHeader): number => start.bytes + (end?.bytes ?? 0);

/**
 * The client's summary (JSON text) with the service's block in it; a client's own value under that
 * name gives way.
 */
const summaryJson = (names: WireNames, summary: string, serviceBlock: JsonObject): string => {
  const block = JSON.stringify(serviceBlock);
  const key = JSON.stringify(names.service);
  if (summary === '{}') return `{${key}:${block}}`;
  // An escaped spelling of the name does not match: JSON.stringify, which wrote the text, never
  // escapes letters.
  if (!summary.includes(key)) return `${summary.slice(0, -1)},${key}:${block}}`;
  const parsed: unknown = JSON.parse(summary);
  const others = isJsonObject(parsed)
    ? Object.entries(parsed).filter(([name]) => name !== names.service)
    : [];
  return JSON.stringify(Object.fromEntries([...others, [names.service, serviceBlock]]));
};

/** What the header says of the client's summary, as JSON text. */
const knownSummary = ({ end }: CallHeader): string =>
  end && typeof end.usage === 'object' && end.usage !== null ? JSON.stringify({ usage: end.usage }) : '{}';

/** The value of a column that lies in the header; undefined for any other. */
export const headerValue = (names: WireNames, call: CallHeader, column: string): JsonValue | undefined => {
  const origin = origins(names)[column];
  return typeof origin === 'function' ? origin(call) : undefined;
};

/**
 * The JSON text of one of a call's columns; without its payload, a call has what the header says of
 * its summary and what the service adds to it.
 *
 * @param added what the service's block in the summary has beside what the header says
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
