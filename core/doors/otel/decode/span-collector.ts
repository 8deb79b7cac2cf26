import { tooLarge } from '../../../foundations/wire/index.ts';
import type { Attributes, Scope } from '../span.ts';
import { type ReceivedExport, type ReceivedSpan, type Rejection, UnusableSpan } from './received.ts';
import { type SpanFields, toSpan } from './span.ts';

/** More calls than one request can store in its time. */
const maxSpans = 50_000;

const maxName = 60;

/** A span's name for a message. Names can be as long as the request. */
const shortName = (name: unknown): string => {
  if (typeof name !== 'string') return 'without a name';
  return `"${name.length > maxName ? `${name.slice(0, maxName)}…` : name}"`;
};

/** Collects the spans of a request, and sets those apart that cannot be taken. */
export class SpanCollector {
  readonly #spans: ReceivedSpan[] = [];
  readonly #rejected: Rejection[] = [];

  /**
   * Takes one span.
   *
   * @param name the span's name, for a message
   * @param fields throws UnusableSpan if the span cannot be taken
   * @throws ServiceError 413 when there are too many of them
   */
  take(name: unknown, fields: () => SpanFields, resource: Attributes, scope: Scope): void {
    if (this.#spans.length + this.#rejected.length >= maxSpans) {
      const msg = `should have at most ${maxSpans} spans: lower OTEL_BSP_MAX_EXPORT_BATCH_SIZE, or send_batch_max_size of a collector`;
      throw tooLarge({ loc: ['body'], msg, type: 'too_large' });
    }
    try {
      this.#spans.push(toSpan(fields(), resource, scope));
    } catch (error) {
      if (!(error instanceof UnusableSpan)) throw error;
      this.#rejected.push({ spans: 1, reason: `span ${shortName(name)}: ${error.message}` });
    }
  }

  /** What was collected. */
  all(): ReceivedExport {
    return { spans: this.#spans, rejected: this.#rejected };
  }
}
