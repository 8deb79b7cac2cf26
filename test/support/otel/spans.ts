import type { AttributeValue, Span } from '../../../core/doors/otel/span.ts';

/** What a test says of a span; the rest is empty. */
export interface SpanParts {
  readonly name?: string;
  readonly scope?: string;
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
  readonly events?: readonly (readonly [string, Readonly<Record<string, AttributeValue>>])[];
  readonly status?: Span['status'];
  readonly spanId?: string;
  readonly parentSpanId?: string;
}

/** A decoded span with these parts. */
export const makeSpan = ({
  name = 'span',
  scope = '',
  attributes = {},
  events = [],
  status = { code: 0, message: '' },
  spanId = '00000000000000aa',
  parentSpanId,
}: SpanParts): Span => ({
  traceId: '0000000000000000000000000000000a',
  spanId,
  parentSpanId,
  traceState: '',
  name,
  kind: 1,
  startTimeUnixNano: 1n,
  endTimeUnixNano: 2n,
  attributes: new Map(Object.entries(attributes)),
  events: events.map(([event, fields]) => ({
    name: event,
    timeUnixNano: 1n,
    attributes: new Map(Object.entries(fields)),
    droppedAttributesCount: 0,
  })),
  links: [],
  status,
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
  scope: { name: scope, version: '', attributes: new Map() },
  resource: new Map(),
});
