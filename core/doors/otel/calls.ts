import { createHash } from 'node:crypto';
import {
  formatTime,
  isId,
  type JsonObject,
  type Micros,
  nonEmptyString,
  type ProjectId,
} from '../../../foundations/wire/index.ts';
import { type CallReport, fitsHeader, type SpanOfTrace, type SpanRole } from '../../records/calls/index.ts';
import { endReport, startReport } from '../report.ts';
import { inContext, type Named, readLabels, type Translation, translate } from './conventions/index.ts';
import type { ReceivedSpan } from './decode/spans.ts';
import { getException } from './exception.ts';
import { withPauses } from './runs.ts';
import {
  type Attributes,
  type AttributeValue,
  type Scope,
  type Span,
  type SpanEvent,
  type SpanLink,
  toCallId,
} from './span.ts';
import { findPlaces } from './threads.ts';
import { nested } from './values.ts';

/**
 * Nanoseconds since 1970 as microseconds, cut off. OTLP's times reach the year 2554, so the result
 * can be beyond the safe integers that times of calls are.
 */
export const toMicros = (nanos: bigint): Micros => Number(nanos / 1000n);

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
export const toOpName = (name: string): string => {
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

const spanKinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const statuses = ['unset', 'ok', 'error'];

/** A function that is run once for each object. Resources and scopes are the same for many spans. */
const memoized = <T extends object>(make: (value: T) => JsonObject): ((value: T) => JsonObject) => {
  const converted = new WeakMap<T, JsonObject>();
  return (value) => {
    const known = converted.get(value) ?? make(value);
    converted.set(value, known);
    return known;
  };
};

/** A list as a field, unless it is empty. */
const listField = (name: string, list: JsonObject[]): JsonObject => (list.length > 0 ? { [name]: list } : {});

/** A text as a field, unless it is empty. */
const textField = (name: string, text: string): JsonObject => (text === '' ? {} : { [name]: text });

const attributesField = (attributes: Attributes): JsonObject =>
  attributes.size > 0 ? { attributes: nested(attributes) } : {};

const droppedField = (counts: Readonly<Record<string, number>>): JsonObject => {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.length > 0 ? { dropped: Object.fromEntries(some) } : {};
};

const toEvent = ({ name, timeUnixNano, attributes, droppedAttributesCount }: SpanEvent): JsonObject => ({
  name,
  time: formatTime(toMicros(timeUnixNano)),
  ...attributesField(attributes),
  ...droppedField({ attributes: droppedAttributesCount }),
});

const toLink = (link: SpanLink): JsonObject => ({
  trace_id: link.traceId,
  span_id: link.spanId,
  id: toCallId(link.traceId, link.spanId),
  ...textField('trace_state', link.traceState),
  ...attributesField(link.attributes),
  ...droppedField({ attributes: link.droppedAttributesCount }),
});

/**
 * Makes what OpenTelemetry alone knows of spans: `attributes.otel` of their calls. Fields that
 * would be empty are left out.
 *
 * @returns takes a span and the indices of events that became messages
 */
const detailsMaker = (): ((span: Span, usedEvents: ReadonlySet<number>) => JsonObject) => {
  const toResource = memoized<Attributes>(nested);
  const toScope = memoized<Scope>(({ name, version, attributes }) => ({
    name,
    ...textField('version', version),
    ...attributesField(attributes),
  }));
  return (span, usedEvents) => ({
    span_kind: spanKinds[span.kind] ?? String(span.kind),
    scope: toScope(span.scope),
    resource: toResource(span.resource),
    ...listField('events', span.events.filter((_, i) => !usedEvents.has(i)).map(toEvent)),
    ...listField('links', span.links.map(toLink)),
    status: {
      code: statuses[span.status.code] ?? String(span.status.code),
      ...textField('message', span.status.message),
    },
    ...textField('trace_state', span.traceState),
    ...droppedField({
      attributes: span.droppedAttributesCount,
      events: span.droppedEventsCount,
      links: span.droppedLinksCount,
    }),
  });
};

type Entry = readonly [key: string, value: AttributeValue];

/** Fields of a call's attributes that are not the span's own. */
const reserved = /^(?:kind|otel)(?:\.|$)/;

/** What is known of something that has a name, below a key. */
const namedEntries = (key: string, named: Named | undefined): Entry[] =>
  named === undefined ? [] : Object.entries(named).map(([field, value]) => [`${key}.${field}`, value]);

/** What calls say under the same names, whatever a convention calls it. */
const ofEvery = ({ userId, agent, tool, prompt }: Translation): Entry[] => [
  ...(userId === undefined ? [] : [['user.id', userId] as const]),
  ...namedEntries('agent', agent),
  ...(tool === undefined ? [] : [['tool.name', tool] as const]),
  ...namedEntries('prompt', prompt),
];

/**
 * The attributes of a call: the span's own, nested, without what its inputs, output or summary
 * have; beside them `kind`, `agent`, `tool`, `prompt`, `otel` and labels. The span's own attributes of those names are in
 * `otel.attributes`.
 *
 * @param details what `otel` holds otherwise
 */
const callAttributes = (span: Span, translation: Translation, details: JsonObject): JsonObject => {
  const { kind, usedKeys, wait, resume } = translation;
  const common = ofEvery(translation);
  const known = new Set(common.map(([key]) => key));
  const own: Entry[] = [];
  const displaced: Entry[] = [];
  for (const entry of span.attributes) {
    const [key] = entry;
    if (usedKeys.has(key) || known.has(key)) continue;
    // Only calls of tools are counted by the name of a tool.
    (reserved.test(key) || key === 'tool.name' ? displaced : own).push(entry);
  }
  own.push(...common);
  own.push(...Object.entries(readLabels(span.attributes, span.resource)));
  const otel = {
    ...details,
    ...(displaced.length > 0 && { attributes: nested(displaced) }),
    // The names by which a question and its answer find each other.
    ...(wait && { wait: { keys: [...wait.keys], ...(wait.unique && { unique: true }) } }),
    ...(resume && {
      resume: {
        keys: [...resume.keys],
        ...(resume.unique && { unique: true }),
        ...(resume.answer !== undefined && { said: resume.answer }),
      },
    }),
  };
  return { ...nested(own), kind, otel };
};

/** A span with the project that it goes to. */
export interface ProjectSpan extends ReceivedSpan {
  readonly projectId: ProjectId;
}

/** A span with what it is called as a call, and what it says. */
interface TranslatedSpan extends ProjectSpan {
  readonly id: string;
  readonly parentId: string | null;
  readonly translation: Translation;
}

/** Names by which spans of workflows are known, whatever their kind. */
const runs: ReadonlySet<string> = new Set([
  'invoke_workflow',
  'invoke_graph',
  'invoke_swarm',
  'workflow_run',
]);

const toRole = ({ span, hasRemoteParent, translation }: TranslatedSpan): SpanRole => {
  const { kind, isPlain = false, threadId, wait, resume } = translation;
  return {
    isRun: kind === 'agent' || runs.has(nonEmptyString(span.attributes.get('gen_ai.operation.name')) ?? ''),
    isPlain,
    hasRemoteParent,
    pauses: wait !== undefined || resume !== undefined,
    threadId: (threadId === undefined ? undefined : idFrom(threadId)) ?? null,
    givenUser: null,
  };
};

const spanOfCall = (call: TranslatedSpan): SpanOfTrace => {
  const { userId } = call.translation;
  const { id, parentId } = call;
  return {
    id,
    parentId,
    span: toRole(call),
    userId: userId !== undefined && fitsHeader(userId) ? userId : null,
  };
};

/**
 * Makes calls of spans: a start and an end of each, in order. The same spans give the same calls,
 * so an export may be sent again.
 *
 * @param spans all of one request, for they show which calls belong to which turn
 */
export const toCalls = (spans: readonly ProjectSpan[]): CallReport[] => {
  const calls = withPauses(
    inContext(
      spans.map((received) => {
        const { traceId, spanId, parentSpanId } = received.span;
        return {
          ...received,
          translation: translate(received.span),
          id: toCallId(traceId, spanId),
          parentId: parentSpanId === undefined ? null : toCallId(traceId, parentSpanId),
        };
      }),
    ),
  );
  // A parent is looked for among the calls of the same project.
  const places = new Map(
    Array.from(
      Map.groupBy(calls, ({ projectId }) => projectId),
      ([projectId, some]) => [projectId, findPlaces(some.map(spanOfCall))],
    ),
  );
  const toDetails = detailsMaker();
  return calls.flatMap((call) => {
    const { projectId, id, parentId, span, translation } = call;
    const place = places.get(projectId)?.get(id);
    const { inputs, output, usage, displayName, exception, wait } = translation;
    const placeUserId = translation.userId === undefined ? (place?.userId ?? null) : null;
    return [
      startReport({
        displayName: displayName === undefined ? null : toOpName(displayName),
        projectId,
        id,
        opName: toOpName(span.name),
        traceId: span.traceId,
        parentId,
        threadId: place?.threadId ?? null,
        turnId: place?.turnId ?? null,
        startedAt: toMicros(span.startTimeUnixNano),
        attributes: callAttributes(span, translation, toDetails(span, translation.usedEvents)),
        inputs,
        span: { ...toRole(call), givenUser: placeUserId },
      }),
      endReport({
        projectId,
        id,
        endedAt: toMicros(span.endTimeUnixNano),
        output,
        // Who asks a person has not failed, whatever exception the question is.
        exception: wait && !wait.maybe ? null : getException(span, exception),
        summary: { ...(usage && { usage }), ...(wait && !wait.maybe && { waiting: true }) },
      }),
    ];
  });
};
