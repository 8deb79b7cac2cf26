import { formatTime, type JsonObject } from '../../foundations/wire/index.ts';
import { callIdOf, microsOf } from './ids.ts';
import { nested } from './nested.ts';
import type { Attributes, Scope, Span, SpanEvent, SpanLink } from './span.ts';

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
