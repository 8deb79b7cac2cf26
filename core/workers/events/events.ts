import type { ChangeKind } from '../../../api/openapi/events.ts';
import { shortDigest } from '../../../foundations/encoding/index.ts';
import { asBytes, type Item } from '../../../foundations/storage/index.ts';
import {
  callRef,
  type JsonObject,
  type JsonValue,
  type Micros,
  parseJson,
  parseRef,
} from '../../../foundations/wire/index.ts';
import {
  type CallHeader,
  callColumns,
  headerValue,
  isPayloadColumn,
  isTurn,
  type Payload,
  serviceSummary,
  shortAttributes,
} from '../../records/calls/index.ts';
import { totalCost } from '../../records/costs/index.ts';
import { feedbackFields, toFeedback } from '../../records/feedback/index.ts';
import type { ItemChange, Measured } from '../streams.ts';
import type { EndedCall } from './ended.ts';

/** An event, ready to be sent. */
export interface ServiceEvent {
  readonly kind: ChangeKind;
  /** The same whenever the same end or the same feedback is reported again. */
  readonly id: string;
  /** When the end or the feedback was stored. */
  readonly time: Micros;
  /** The number of the record that it was made of. */
  readonly sequence: string;
  /** What rules and targets get. api/openapi/events.ts has the schema. */
  readonly detail: JsonObject;
}

/**
 * The id of an event: a digest of what makes it this event and no other, as 32 hex digits.
 *
 * @param parts the project, the id of the call or the feedback, and its revision
 */
const eventId = (kind: ChangeKind, ...parts: readonly unknown[]): string =>
  shortDigest(JSON.stringify([kind, ...parts])).toString('hex');

/**
 * The most bytes of a detail. EventBridge takes 1 MB since January 2026, and charges each 64 KB. Some
 * targets take 256 KB, of which an event's other fields need a little.
 */
export const maxDetailBytes = 240 * 1024;

const jsonSize = (value: JsonValue): number => Buffer.byteLength(JSON.stringify(value));

/**
 * The beginning of a value's JSON, as text. In a detail each of its quotes has a backslash, so it
 * gets half of the bytes.
 */
const beginning = (value: JsonValue, bytes: number): string =>
  new TextDecoder().decode(Buffer.from(JSON.stringify(value)).subarray(0, Math.max(0, bytes >> 1)), {
    stream: true,
  });

/**
 * Adds fields to a detail as far as they fit. The small ones come whole. Of the others the detail
 * has the beginning of their JSON as text, and `cut` names them.
 */
export const withFitting = (detail: JsonObject, fields: JsonObject): JsonObject => {
  const names = Object.keys(fields);
  const sizes = new Map(names.map((name) => [name, jsonSize(fields[name] ?? null)]));
  // A field's name, its quotes, a colon and a comma; and once more among those that were cut.
  const frames = names.reduce((sum, name) => sum + 2 * (name.length + 4), 16);
  let left = maxDetailBytes - jsonSize(detail) - frames;
  const cut = new Map<string, string>();
  for (const [at, name] of names
    .toSorted((one, other) => (sizes.get(one) ?? 0) - (sizes.get(other) ?? 0))
    .entries()) {
    const share = Math.floor(left / (names.length - at));
    const size = sizes.get(name) ?? 0;
    if (size > share) cut.set(name, beginning(fields[name] ?? null, share));
    left -= Math.min(size, share);
  }
  const fitting = names.map((name) => [name, cut.get(name) ?? fields[name] ?? null] as const);
  return {
    ...detail,
    ...Object.fromEntries(fitting),
    ...(cut.size > 0 && { cut: names.filter((name) => cut.has(name)) }),
  };
};

/** The kinds of events that an ended call makes. */
const getKinds = ({ id, start, end }: CallHeader): ChangeKind[] => [
  'CallEnded',
  ...(end?.status === 'error' ? (['CallFailed'] as const) : []),
  ...(isTurn({ id, ...start }) ? (['TurnEnded'] as const) : []),
];

const headerFields = (header: CallHeader): JsonObject =>
  Object.fromEntries(
    callColumns.flatMap((column) =>
      isPayloadColumn(column) ? [] : [[column, headerValue(header, column) ?? null]],
    ),
  );

const parsed = (payload: Payload): JsonObject =>
  Object.fromEntries(Object.entries(payload).map(([field, text]) => [field, parseJson(text) as JsonValue]));

/**
 * The events of an ended call. Their ids are made of the end alone. So the same end has the same
 * ids however often it is reported, and wherever its payload lies.
 */
export const callEvents = (
  { change: { change }, header }: EndedCall,
  { usage, costs, payload }: Measured,
): ServiceEvent[] => {
  const { projectId, id, end } = header;
  const { payload: _, waited, ...others } = end ?? { payload: null, waited: null };
  // A call that did not wait has the id that it had before ends said so.
  const revision = waited === null ? others : { ...others, waited };
  const detail = {
    call_ref: callRef(projectId, id),
    ...headerFields(header),
    ...serviceSummary(header),
    ...shortAttributes(header.start),
    total_cost: totalCost(costs),
  };
  // Clients choose the names of models and the content of usage, so they can be of any size.
  const variable = { usage, costs: { ...costs }, ...(payload && parsed(payload)) };
  return getKinds(header).map((kind) => {
    const event_id = eventId(kind, projectId, id, revision);
    return {
      kind,
      id: event_id,
      time: change.at,
      sequence: change.sequence,
      detail: withFitting({ event_id, ...detail }, variable),
    };
  });
};

/** The ref of the call that a ref leads to. */
const callAt = (text: string): string | null => {
  const ref = parseRef(text);
  return ref?.kind === 'call' ? callRef(ref.projectId, ref.callId) : null;
};

const getDigest = (item: Item | undefined): string | undefined => {
  const digest = asBytes(item?.d);
  return digest && Buffer.from(digest).toString('hex');
};

/**
 * The event of a change of the feedback table. Records that were replaced or purged make none. The
 * id is made of the record's content and time, so that the same record has the same.
 */
export const feedbackEvent = async ({
  projectId,
  before,
  after,
  at,
  sequence,
}: ItemChange): Promise<ServiceEvent | undefined> => {
  const record = after && (await toFeedback(projectId, after));
  // A record whose attributes changed, but not its content, is no new one.
  if (!record || (before?.h && getDigest(before) === getDigest(after))) return undefined;
  const { header, payload } = record;
  const id = eventId('FeedbackCreated', projectId, header.id, header.createdAt, getDigest(after));
  const detail = {
    event_id: id,
    ...feedbackFields(header),
    on_call: callAt(header.ref),
  };
  // The payload of a record is null if it lies in the bucket.
  const fitting =
    payload === null
      ? { ...detail, payload: null, cut: ['payload'] }
      : withFitting(detail, { payload: parseJson(payload) as JsonValue });
  return {
    kind: 'FeedbackCreated',
    id,
    time: at,
    sequence,
    detail: fitting,
  };
};
