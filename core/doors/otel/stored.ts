import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../../foundations/wire/index.ts';
import type { CallReport, StoredCall } from '../../records/calls/index.ts';
import { endReport, startReport } from '../report.ts';

const json = (text: string): JsonValue => parseJson(text) as JsonValue;

const objectOf = (text: string): JsonObject => {
  const value = json(text);
  return isJsonObject(value) ? value : {};
};

/** A call as spans report it. */
export interface Reported {
  readonly start: Parameters<typeof startReport>[0];
  readonly end: Parameters<typeof endReport>[0] | undefined;
}

/** What was reported of a stored call: its start, and its end if it has one. */
export const reportedOf = ({ header, payload }: StoredCall): Reported => {
  const { projectId, id, start, end } = header;
  const { opName, displayName, traceId, parentId, threadId, turnId, startedAt, span } = start;
  const exception = json(payload.exception);
  return {
    start: {
      ...{ projectId, id, opName, displayName, traceId, parentId, threadId, turnId, startedAt },
      ...{ attributes: objectOf(payload.attributes), inputs: objectOf(payload.inputs) },
      ...(span && { span }),
    },
    end: end
      ? {
          ...{ projectId, id, endedAt: end.endedAt, output: json(payload.output) },
          ...{
            summary: objectOf(payload.summary),
            exception: typeof exception === 'string' ? exception : null,
          },
        }
      : undefined,
  };
};

/** The reports of a call. */
export const reportsOf = ({ start, end }: Reported): CallReport[] => [
  startReport(start),
  ...(end ? [endReport(end)] : []),
];
