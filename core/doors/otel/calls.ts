import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProjectId,
  problemOf,
  utf8Length,
} from '../../foundations/wire/index.ts';
import type { CallReport } from '../../records/calls/index.ts';
import { callAttributes } from './attributes.ts';
import { type Translation, translate, withoutRepeats } from './conventions/index.ts';
import type { ReceivedSpan } from './decode/received.ts';
import { detailsMaker } from './details.ts';
import { exceptionOf } from './exception.ts';
import { callIdOf, microsOf } from './ids.ts';
import { idFrom, opNameOf } from './names.ts';
import type { Span } from './span.ts';
import { type ThreadAndTurn, threadsOf } from './threads.ts';

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
