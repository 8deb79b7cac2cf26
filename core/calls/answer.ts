import { formatTime, isJsonObject, type JsonValue, parseRef, type WireNames } from '../wire/index.ts';
import type { CallHeader } from './model.ts';
import type { Payload, PayloadField } from './payload.ts';
import type { StoredCall } from './payload-reader.ts';

/** The columns of a call as it is answered, in order. */
export const callColumns = (names: WireNames): readonly string[] => [
  'id',
  'project_id',
  'op_name',
  'display_name',
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'started_at',
  'ended_at',
  'attributes',
  'inputs',
  'output',
  'exception',
  'summary',
  names.userId,
  names.runId,
  names.runStep,
  names.runStepEnd,
];

const payloadColumns: ReadonlySet<string> = new Set<PayloadField>([
  'attributes',
  'inputs',
  'output',
  'exception',
  'summary',
]);

/** Whether a column's value lies in the payload, so that an answer with it must read the payload. */
export const isPayloadColumn = (column: string): column is PayloadField => payloadColumns.has(column);

/** The value of a column that lies in the header; null where there is none. Times are text, as they are answered. */
export const headerValue = (names: WireNames, call: CallHeader, column: string): JsonValue => {
  const { start, end } = call;
  switch (column) {
    case 'id':
      return call.id;
    case 'project_id':
      return call.projectId;
    case 'op_name':
      return start.opName;
    case 'display_name':
      return start.displayName;
    case 'trace_id':
      return start.traceId;
    case 'parent_id':
      return start.parentId;
    case 'thread_id':
      return start.threadId;
    case 'turn_id':
      return start.turnId;
    case 'started_at':
      return formatTime(start.startedAt);
    case 'ended_at':
      return end && formatTime(end.endedAt);
    case names.userId:
      return start.userId;
    case names.runId:
      return start.runId;
    case names.runStep:
      return start.runStep;
    case names.runStepEnd:
      return end?.runStepEnd ?? null;
    default:
      return null;
  }
};

/** How a call stands; `running` until its end is known. */
export const statusOf = ({ end }: CallHeader): 'running' | 'success' | 'error' | 'descendant_error' =>
  end ? end.status : 'running';

/** Whole milliseconds from start to end, rounded; null while the call runs. */
export const latencyMs = ({ start, end }: CallHeader): number | null =>
  end && Math.round((end.endedAt - start.startedAt) / 1000);

/** What a call is shown as: its display name, its op's short name where `op_name` is a ref, or `op_name`. */
export const traceName = (names: WireNames, { start }: CallHeader): string => {
  if (start.displayName !== null) return start.displayName;
  const ref = parseRef(names, start.opName);
  return ref && ref.kind !== 'call' ? ref.name : start.opName;
};

/** The block that the service adds to a call's summary, under its own name. */
export const serviceSummary = (names: WireNames, call: CallHeader) => ({
  status: statusOf(call),
  latency_ms: latencyMs(call),
  trace_name: traceName(names, call),
});

/** The client's summary (JSON text) with the service's block in it; a client's own value under that name gives way. */
export const summaryJson = (names: WireNames, call: CallHeader, summary: string): string => {
  const block = JSON.stringify(serviceSummary(names, call));
  const key = JSON.stringify(names.service);
  if (summary === '{}') return `{${key}:${block}}`;
  // An escaped spelling of the name does not match: JSON.stringify, which wrote the text, never escapes letters.
  if (!summary.includes(key)) return `${summary.slice(0, -1)},${key}:${block}}`;
  const parsed: unknown = JSON.parse(summary);
  const others = isJsonObject(parsed)
    ? Object.entries(parsed).filter(([name]) => name !== names.service)
    : [];
  return JSON.stringify(Object.fromEntries([...others, [names.service, serviceSummary(names, call)]]));
};

/** The JSON text of one of a call's columns. */
export const columnJson = (
  names: WireNames,
  call: CallHeader,
  payload: Payload | null,
  column: string,
): string => {
  if (!isPayloadColumn(column)) return JSON.stringify(headerValue(names, call, column));
  const text = payload?.[column] ?? 'null';
  return column === 'summary' ? summaryJson(names, call, text) : text;
};

/** A whole call as JSON text, all columns in order. The payload's text is passed on as it was stored, unparsed. */
export const callJson = (names: WireNames, { header, payload }: StoredCall): string => {
  const fields = callColumns(names).map(
    (column) => `${JSON.stringify(column)}:${columnJson(names, header, payload, column)}`,
  );
  return `{${fields.join(',')}}`;
};
