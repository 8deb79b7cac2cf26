import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../../foundations/wire/index.ts';
import type { CallReport, StoredCall } from '../../records/calls/index.ts';
import { endReport, startReport } from '../report.ts';

const json = (text: string): JsonValue => parseJson(text) as JsonValue;

const parseObject = (text: string): JsonObject => {
  const value = json(text);
  return isJsonObject(value) ? value : {};
};

/** A call as spans report it. */
export interface Reported {
  readonly start: Parameters<typeof startReport>[0];
  readonly end: Parameters<typeof endReport>[0] | undefined;
}

/** What was reported of a stored call: its start, and its end if it has one. */
export const toReported = ({ header, payload }: StoredCall): Reported => {
  const { projectId, id, start, end } = header;
  const { opName, displayName, traceId, parentId, threadId, turnId, startedAt, span } = start;
  const exception = json(payload.exception);
  return {
    start: {
      projectId,
      id,
      opName,
      displayName,
      traceId,
      parentId,
      threadId,
      turnId,
      startedAt,
      attributes: parseObject(payload.attributes),
      inputs: parseObject(payload.inputs),
      ...(span && { span }),
    },
    end: end
      ? {
          projectId,
          id,
          endedAt: end.endedAt,
          output: json(payload.output),
          summary: parseObject(payload.summary),
          exception: typeof exception === 'string' ? exception : null,
        }
      : undefined,
  };
};

/** The reports of a call. */
export const toReports = ({ start, end }: Reported): CallReport[] => [
  startReport(start),
  ...(end ? [endReport(end)] : []),
];
