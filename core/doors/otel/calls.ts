import { createHash } from 'node:crypto';
import {
  formatTime,
  isId,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  problemOf,
  utf8Length,
} from '../../foundations/wire/index.ts';
import type { CallReport } from '../../records/calls/index.ts';
import { type Translation, translate, withoutRepeats } from './conventions/index.ts';
import type { ReceivedSpan } from './decode/spans.ts';
import type { Attributes, AttributeValue, Scope, Span, SpanEvent, SpanLink } from './span.ts';
import { type ThreadAndTurn, threadsOf } from './threads.ts';
import { nested } from './values.ts';

/**
 * The id of a span's call: the last 16 hex digits of its trace id, then its own 16. Whoever has a
 * span can name its call, and spans of two traces that share an id by chance stay apart.
 */
export const callIdOf = (traceId: string, spanId: string): string => `${traceId.slice(16)}${spanId}`;

/**
 * Nanoseconds since 1970 as microseconds, cut off. OTLP's times reach the year 2554, so the result
 * can be beyond the safe integers that times of calls are.
 */
export const microsOf = (nanos: bigint): Micros => Number(nanos / 1000n);

const maxName = 1024;
const maxId = 256;
const digestLength = 24;

/** What neither a name nor an id may hold: controls and lone surrogates. */
const unprintable = /[\p{Cc}\p{Cs}]+/gu;
const lineSeparators = /[\p{Zl}\p{Zp}]+/gu;

/**
 * A span's name as an op's: 1–1,024 characters without controls. Others become spaces, and a longer
 * name is cut.
 */
export const opNameOf = (name: string): string => {
  const clean = name.slice(0, maxName).replace(unprintable, ' ');
  return clean === '' ? 'unnamed' : clean;
};

/**
 * A client's text as an id of 1–256 printable characters. A longer one is cut and ends in a digest,
 * so that different texts give different ids.
 *
 * @returns undefined if nothing printable is in the text
 */
export const idFrom = (text: string): string | undefined => {
  if (isId(text)) return text;
  const clean = text.replace(unprintable, ' ').replace(lineSeparators, ' ').trim();
  if (clean === '') return undefined;
  if (isId(clean)) return clean;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, digestLength);
  const kept = [...clean.slice(0, 2 * maxId)].slice(0, maxId - digestLength - 1).join('');
  return `${kept.replace(unprintable, ' ')}-${digest}`;
};

const errorStatus = 2;

const textAt = (attributes: Attributes, key: string): string => {
  const value = attributes.get(key);
  return typeof value === 'string' ? value : '';
};

/**
 * `<type>: <message>`, and the stack trace below it, as far as the last exception event has them.
 */
const ofEvents = ({ events }: Span): string => {
  const event = events.findLast(({ name }) => name === 'exception');
  if (!event) return '';
  const [type, message, stack] = ['type', 'message', 'stacktrace'].map((name) =>
    textAt(event.attributes, `exception.${name}`),
  );
  const head = [type, message].filter(Boolean).join(': ');
  return [head, stack].filter(Boolean).join('\n');
};

/**
 * The exception of a call. Where the status is an error: the last exception event, else the status
 * message, else what a convention says, else `error`.
 *
 * @param told the error that a convention tells elsewhere
 * @returns null without an error
 */
export const exceptionOf = (span: Span, told: string | undefined): string | null => {
  if (span.status.code !== errorStatus) return told ?? null;
  return ofEvents(span) || span.status.message || told || 'error';
};

const spanKinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const statuses = ['unset', 'ok', 'error'];

/** Resources and scopes are the same for many spans, so they are nested once. */
const nestedOnce = (): ((attributes: Attributes) => JsonObject) => {
  const made = new WeakMap<Attributes, JsonObject>();
  return (attributes) => {
    const known = made.get(attributes) ?? nested(attributes);
    made.set(attributes, known);
    return known;
  };
};

const dropped = (counts: Readonly<Record<string, number>>): JsonObject => {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.length > 0 ? { dropped: Object.fromEntries(some) } : {};
};

const some = (name: string, list: JsonObject[]): JsonObject => (list.length > 0 ? { [name]: list } : {});

const eventOf = ({ name, timeUnixNano, attributes, droppedAttributesCount }: SpanEvent): JsonObject => ({
  name,
  time: formatTime(microsOf(timeUnixNano)),
  ...(attributes.size > 0 && { attributes: nested(attributes) }),
  ...dropped({ attributes: droppedAttributesCount }),
});

const linkOf = ({
  traceId,
  spanId,
  traceState,
  attributes,
  droppedAttributesCount,
}: SpanLink): JsonObject => ({
  trace_id: traceId,
  span_id: spanId,
  id: callIdOf(traceId, spanId),
  ...(traceState !== '' && { trace_state: traceState }),
  ...(attributes.size > 0 && { attributes: nested(attributes) }),
  ...dropped({ attributes: droppedAttributesCount }),
});

const scopeOf = ({ name, version, attributes }: Scope): JsonObject => ({
  name,
  ...(version !== '' && { version }),
  ...(attributes.size > 0 && { attributes: nested(attributes) }),
});

const statusOf = ({ code, message }: Span['status']): JsonObject => ({
  code: statuses[code] ?? String(code),
  ...(message !== '' && { message }),
});

/**
 * Makes what OpenTelemetry alone knows of spans: `attributes.otel` of their calls. Fields that
 * would be empty are left out.
 *
 * @returns takes a span and the indices of events that became messages
 */
export const detailsMaker = (): ((span: Span, usedEvents: ReadonlySet<number>) => JsonObject) => {
  const resourceOf = nestedOnce();
  const scopes = new WeakMap<Scope, JsonObject>();
  return (span, usedEvents) => {
    const scope = scopes.get(span.scope) ?? scopeOf(span.scope);
    scopes.set(span.scope, scope);
    return {
      span_kind: spanKinds[span.kind] ?? String(span.kind),
      scope,
      resource: resourceOf(span.resource),
      ...some('events', span.events.filter((_, i) => !usedEvents.has(i)).map(eventOf)),
      ...some('links', span.links.map(linkOf)),
      status: statusOf(span.status),
      ...(span.traceState !== '' && { trace_state: span.traceState }),
      ...dropped({
        attributes: span.droppedAttributesCount,
        events: span.droppedEventsCount,
        links: span.droppedLinksCount,
      }),
    };
  };
};

type Entry = readonly [key: string, value: AttributeValue];

/** Fields of a call's attributes that are not the span's own. */
const reserved = /^(?:kind|otel)(?:\.|$)/;

/** Where the end user is, whatever a convention calls it. */
const userKey = 'user.id';

/**
 * The attributes of a call: the span's own, nested, without what its inputs, output or summary
 * have; beside them `kind` and `otel`. The span's own attributes of those names are in
 * `otel.attributes`.
 *
 * @param details what `otel` holds otherwise
 */
export const callAttributes = (span: Span, translation: Translation, details: JsonObject): JsonObject => {
  const { kind, userId, usedKeys } = translation;
  const own: Entry[] = [];
  const displaced: Entry[] = [];
  for (const entry of span.attributes) {
    const [key] = entry;
    if (usedKeys.has(key) || (key === userKey && userId !== undefined)) continue;
    (reserved.test(key) ? displaced : own).push(entry);
  }
  if (userId !== undefined) own.push([userKey, userId]);
  const otel = displaced.length > 0 ? { ...details, attributes: nested(displaced) } : details;
  return Object.assign(nested(own), { kind, otel });
};

/** A span with the project that it goes to. */
export interface PlacedSpan extends ReceivedSpan {
  readonly projectId: ProjectId;
}

/** How deep a field of a call may nest below the call. */
const maxLevels = 500;

/** Tells a span from all others of a request. Neither part has a line break. */
const keyOf = (projectId: ProjectId, traceId: string, spanId: string): string =>
  `${projectId}\n${traceId}\n${spanId}`;

/**
 * What a span says, as far as it can be kept. Where a convention's own JSON nests too deep, the
 * span counts as one of no convention, so that its attributes keep the text.
 */
const keepable = (span: Span): Translation => {
  const translation = translate(span);
  if (!problemOf(translation.inputs, maxLevels) && !problemOf(translation.output, maxLevels))
    return translation;
  return { ...translation, inputs: {}, output: null, usedKeys: new Set(), usedEvents: new Set() };
};

const asJson = (value: unknown): JsonValue => (value ?? null) as JsonValue;
const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** Bytes of JSON that a report would have besides its payload fields. */
const envelopeBytes = (record: object, fields: readonly string[]): number =>
  utf8Length(JSON.stringify(record)) + fields.reduce((bytes, field) => bytes + field.length + 4, 0);

interface Identity {
  readonly projectId: ProjectId;
  readonly id: string;
}

const startOf = (
  { projectId, id }: Identity,
  span: Span,
  { threadId, turnId }: { threadId: string | null; turnId: string | null },
  payload: { attributes: JsonObject; inputs: JsonObject },
): CallReport => {
  const parentId = span.parentSpanId === undefined ? null : callIdOf(span.traceId, span.parentSpanId);
  const named = { opName: opNameOf(span.name), traceId: span.traceId, parentId, threadId, turnId };
  const startedAt = microsOf(span.startTimeUnixNano);
  const bytes = envelopeBytes({ projectId, id, ...named, startedAt }, ['attributes', 'inputs']);
  const none = { displayName: null, runId: null, runStep: null };
  return {
    kind: 'start',
    start: { projectId, id, ...named, startedAt, ...none, ...payload, envelopeBytes: bytes },
  };
};

const endOf = (
  { projectId, id }: Identity,
  span: Span,
  { output, usage, exception }: Translation,
): CallReport => {
  const endedAt = microsOf(span.endTimeUnixNano);
  const bytes = envelopeBytes({ projectId, id, endedAt }, ['output', 'exception', 'summary']);
  return {
    kind: 'end',
    end: {
      projectId,
      id,
      endedAt,
      output: asJson(output),
      exception: exceptionOf(span, exception),
      summary: usage ? { usage: usage as unknown as JsonObject } : {},
      runStepEnd: null,
      envelopeBytes: bytes,
    },
  };
};

/**
 * Makes calls of spans: a start and an end of each, in order. The same spans give the same calls,
 * so an export may be sent again.
 *
 * @param spans all of one request, for they show which calls belong to which turn
 */
export const callsOf = (spans: readonly PlacedSpan[]): CallReport[] => {
  const read = spans.map((received) => ({ ...received, translation: keepable(received.span) }));
  const single = withoutRepeats(read);
  const translated = read.map((received, index) => ({
    ...received,
    translation: single[index] ?? received.translation,
  }));
  const threads = threadsOf(
    translated.map(({ projectId, span, hasRemoteParent, translation: { threadId } }) => ({
      key: keyOf(projectId, span.traceId, span.spanId),
      parent: span.parentSpanId === undefined ? undefined : keyOf(projectId, span.traceId, span.parentSpanId),
      hasRemoteParent,
      threadId: threadId === undefined ? undefined : idFrom(threadId),
    })),
  );
  const details = detailsMaker();
  return translated.flatMap(({ projectId, span, translation }) => {
    const identity = { projectId, id: callIdOf(span.traceId, span.spanId) };
    const thread = threads.get(keyOf(projectId, span.traceId, span.spanId));
    const attributes = callAttributes(span, translation, details(span, translation.usedEvents));
    const payload = { attributes, inputs: asObject(translation.inputs) };
    return [startOf(identity, span, inThread(thread, span), payload), endOf(identity, span, translation)];
  });
};

/** A turn is in the same trace, so its call's id follows from its span's. */
const inThread = (thread: ThreadAndTurn | undefined, { traceId }: Span) => ({
  threadId: thread?.threadId ?? null,
  turnId:
    thread?.turn == null ? null : callIdOf(traceId, thread.turn.slice(thread.turn.lastIndexOf('\n') + 1)),
});
