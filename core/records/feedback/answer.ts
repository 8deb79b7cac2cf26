import { type FieldNames, ownNames } from '../../../foundations/door.ts';
import { type FieldPath, pick, toPath, type Value, valueAt } from '../../../foundations/expression/index.ts';
import { formatTime, type JsonObject, type JsonValue, parseJson } from '../../../foundations/wire/index.ts';
import type { FeedbackHeader, FeedbackRecord } from './model.ts';

const payloadField = 'payload';

/**
 * The fields of a record as it is answered, in order. Times are text; the payload has no value
 * here.
 */
const values: Readonly<Record<string, ((header: FeedbackHeader) => JsonValue) | typeof payloadField>> = {
  id: ({ id }) => id,
  project_id: ({ projectId }) => projectId,
  svc_ref: ({ ref }) => ref,
  feedback_type: ({ type }) => type,
  [payloadField]: payloadField,
  creator: ({ creator }) => creator,
  annotation_ref: ({ annotationRef }) => annotationRef,
  runnable_ref: ({ runnableRef }) => runnableRef,
  call_ref: ({ callRef }) => callRef,
  trigger_ref: ({ triggerRef }) => triggerRef,
  created_at: ({ createdAt }) => formatTime(createdAt),
  svc_user_id: ({ userId }) => userId,
};

/** The fields of a record but its payload, as they are answered. */
export const headerFields = (header: FeedbackHeader): JsonObject =>
  Object.fromEntries(
    Object.entries(values).flatMap(([field, value]) =>
      value === payloadField ? [] : [[field, value(header)]],
    ),
  );

/** Whether a path leads into the payload. */
export const isInPayload = ({ field }: FieldPath): boolean => field === payloadField;

/** What a call's summary shows of feedback on it, in the order of a whole record. */
export const joinedFields: readonly string[] = [
  'id',
  'svc_ref',
  'feedback_type',
  payloadField,
  'creator',
  'annotation_ref',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
  'created_at',
  'svc_user_id',
];

/** Reads values from records. A payload is parsed once, when it is first asked for. */
export class FeedbackReader {
  readonly #parsed = new WeakMap<FeedbackRecord, JsonObject>();

  /**
   * What a path leads to; undefined if it leads nowhere. The payload must have been read if the
   * path leads into it.
   */
  value(record: FeedbackRecord, { field, steps }: FieldPath): Value {
    const value = values[field];
    if (value === undefined) return undefined;
    return valueAt(value === payloadField ? this.payload(record) : value(record.header), steps);
  }

  /** A record's payload, which must have been read. */
  payload(record: FeedbackRecord): JsonObject {
    const parsed = this.#parsed.get(record) ?? (parseJson(record.payload ?? '{}') as JsonObject);
    this.#parsed.set(record, parsed);
    return parsed;
  }

  /** Some fields of a record, whose payload must have been read if it is among them. */
  object(record: FeedbackRecord, fields: readonly string[]): JsonObject {
    const read = (field: string): JsonValue => {
      const value = values[field];
      if (value === payloadField) return record.payload === null ? null : this.payload(record);
      return value?.(record.header) ?? null;
    };
    return Object.fromEntries(fields.map((field) => [field, read(field)]));
  }

  /** A whole field as JSON text; a payload as it was stored, unparsed. */
  json(record: FeedbackRecord, field: string): string {
    const value = values[field];
    if (value === payloadField) return record.payload ?? 'null';
    return JSON.stringify(value?.(record.header) ?? null);
  }
}

/**
 * Makes the encoder of records as JSON text. Each field that was asked for comes once, in the order
 * of a whole record.
 *
 * @param names what fields are called in the answer
 * @param fields names and dotted paths, which keep the shape of what they lead into; null for all
 */
export const encoder = (
  reader: FeedbackReader,
  fields: readonly string[] | null,
  names: FieldNames = ownNames,
): ((record: FeedbackRecord) => string) => {
  const all = Object.keys(values);
  const pathsByField = Map.groupBy((fields ?? all).map(toPath), ({ field }) => field);
  const columns = all.flatMap((field) => {
    const paths = pathsByField.get(field);
    if (!paths) return [];
    const isWhole = paths.some(({ steps }) => steps.length === 0);
    return [
      {
        field,
        key: JSON.stringify(names[field] ?? field),
        steps: isWhole ? null : paths.map(({ steps }) => steps),
      },
    ];
  });
  return (record) => {
    const texts = columns.map(({ field, key, steps }) => {
      if (steps === null) return `${key}:${reader.json(record, field)}`;
      const value = reader.value(record, toPath(field)) ?? null;
      return `${key}:${JSON.stringify(pick(value, steps))}`;
    });
    return `{${texts.join(',')}}`;
  };
};
