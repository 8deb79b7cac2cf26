import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  nonEmptyString,
} from '../../../../foundations/wire/index.ts';
import { toMicros } from '../calls.ts';
import type { ProjectRecord } from '../projects.ts';
import type { Attributes, AttributeValue, Span } from '../span.ts';
import { plain, structured, toCount } from '../values.ts';

/*
 * What a log record or a span of a coding agent says, as JSON, so that it can wait for others of the
 * same operation.
 */

const toJson = (attributes: Attributes): JsonObject =>
  Object.fromEntries(Array.from(attributes, ([key, value]) => [key, plain(value)]));

const micros = (value: JsonValue | undefined): Micros => Number(value ?? 0);

/** The JSON of a fact that a log record tells. Its empty fields are left out. */
export const factOfRecord = (record: ProjectRecord, event: string, time: Micros): JsonObject => ({
  event,
  time,
  ...(record.traceId && { trace: record.traceId }),
  ...(record.spanId && { span: record.spanId }),
  attributes: toJson(record.attributes),
  resource: toJson(record.resource),
  scope: { name: record.scope.name, version: record.scope.version },
});

/** The JSON of a fact that a span tells. */
export const factOfSpan = (span: Span): JsonObject => ({
  name: span.name,
  start: toMicros(span.startTimeUnixNano),
  time: toMicros(span.endTimeUnixNano),
  trace: span.traceId,
  span: span.spanId,
  ...(span.parentSpanId && { parent: span.parentSpanId }),
  attributes: toJson(span.attributes),
  resource: toJson(span.resource),
  scope: { name: span.scope.name, version: span.scope.version },
  ...(span.status.code !== 0 && { status: { code: span.status.code, message: span.status.message } }),
  ...(span.events.length > 0 && {
    events: span.events.map(({ name, timeUnixNano, attributes }) => ({
      name,
      time: toMicros(timeUnixNano),
      attributes: toJson(attributes),
    })),
  }),
});

const toAttributes = (value: JsonValue | undefined): Attributes =>
  new Map(isJsonObject(value) ? (Object.entries(value) as [string, AttributeValue][]) : []);

/** Something that happened during a fact's span. */
export interface FactEvent {
  readonly name: string;
  readonly time: Micros;
  readonly attributes: Attributes;
}

/** A fact, as it is read. */
export class Fact {
  /** Tells it from all others. */
  readonly key: string;
  readonly isSpan: boolean;
  /** The span's name, or the event's with its agent's before it. */
  readonly name: string;
  readonly startedAt: Micros;
  readonly endedAt: Micros;
  readonly traceId: string | undefined;
  /** Its own span, or the one around the record. */
  readonly spanId: string | undefined;
  readonly parentSpanId: string | undefined;
  readonly attributes: Attributes;
  readonly resource: Attributes;
  readonly scope: JsonObject;
  /** What the span's status says of an error; undefined without one. */
  readonly error: string | undefined;
  readonly events: readonly FactEvent[];

  constructor(json: JsonObject) {
    const { event, name, start, time, status, events } = json;
    this.key = JSON.stringify(json);
    this.isSpan = event === undefined;
    this.name = String(event ?? name);
    this.attributes = toAttributes(json.attributes);
    this.resource = toAttributes(json.resource);
    this.scope = isJsonObject(json.scope) ? json.scope : {};
    this.endedAt = micros(time);
    this.startedAt = start === undefined ? this.#startOfRecord() : micros(start);
    this.traceId = nonEmptyString(json.trace);
    this.spanId = nonEmptyString(json.span);
    this.parentSpanId = nonEmptyString(json.parent);
    this.error =
      isJsonObject(status) && Number(status.code) === 2
        ? (nonEmptyString(status.message) ?? 'error')
        : undefined;
    this.events = (Array.isArray(events) ? events : []).filter(isJsonObject).map((event) => ({
      name: String(event.name),
      time: micros(event.time),
      attributes: toAttributes(event.attributes),
    }));
  }

  /** When what a record tells of began. A duration that leads to before 1970 is none. */
  #startOfRecord(): Micros {
    const began = this.endedAt - (this.count('duration_ms') ?? 0) * 1000;
    return began < 0 ? this.endedAt : began;
  }

  text(key: string): string | undefined {
    const value = this.attributes.get(key);
    return nonEmptyString(value) ?? (typeof value === 'number' ? String(value) : undefined);
  }

  count(key: string): number | undefined {
    return toCount(this.attributes.get(key));
  }

  json(key: string): unknown {
    const value = this.attributes.get(key);
    return value === undefined ? undefined : structured(plain(value));
  }

  /** Whether it says that it failed, as a boolean or as text. */
  get failed(): boolean {
    return String(this.attributes.get('success')) === 'false';
  }
}

const order = (fact: Fact): readonly (number | string)[] => [
  fact.endedAt,
  fact.count('event.sequence') ?? 0,
  fact.isSpan ? 1 : 0,
  fact.key,
];

/** Facts, each once, in the order in which they happened, whatever the order in which they came. */
export const inOrder = (facts: readonly JsonObject[]): Fact[] => {
  const read = new Map(facts.map((json) => [JSON.stringify(json), json]));
  const keyed = [...read.values()].map((json) => {
    const fact = new Fact(json);
    return { fact, by: order(fact) };
  });
  const compare = (a: readonly (number | string)[], b: readonly (number | string)[]): number => {
    const at = a.findIndex((value, i) => value !== b[i]);
    const x = a[at];
    const y = b[at];
    return x === undefined || y === undefined ? 0 : x < y ? -1 : 1;
  };
  return keyed.sort((a, b) => compare(a.by, b.by)).map(({ fact }) => fact);
};
