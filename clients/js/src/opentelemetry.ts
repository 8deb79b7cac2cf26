/**
 * Marks the model calls that follow a compiled prompt, in traces of OpenTelemetry: they get
 * `pennytrace.prompt.name` and `pennytrace.prompt.version`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Attributes, type Context, isSpanContextValid, type Span, trace } from '@opentelemetry/api';
import { type Mark, type MarkingPlace, marking } from './prompt.ts';

const nameAttribute = 'pennytrace.prompt.name';
const versionAttribute = 'pennytrace.prompt.version';

/**
 * What instrumentations write on spans of requests to models, and not on those of agents, tools and embeddings
 * around them: OpenTelemetry's conventions, OpenInference, the AI SDK, OpenLLMetry, Langfuse and MLflow.
 */
const modelCalls: readonly (readonly [attribute: string, value: RegExp])[] = [
  ['gen_ai.operation.name', /^(?:chat|text_completion|generate_content)$/],
  ['openinference.span.kind', /^LLM$/],
  ['ai.operationId', /\.do(?:Generate|Stream)$/],
  ['llm.request.type', /^(?:chat|completion)$/],
  ['langfuse.observation.type', /^generation$/],
  ['mlflow.spanType', /^"?(?:LLM|CHAT_MODEL)"?$/],
];

/** A span of any version of the SDK, while it can be written. */
interface WritableSpan extends Pick<Span, 'setAttribute' | 'spanContext'> {
  readonly attributes: Attributes;
}

/** A prompt that was compiled. */
interface Compiled extends Mark {
  readonly id: number;
  /** Those that were compiled before in the same context, the latest first, as far as it matters. */
  readonly before: readonly number[];
  /** The trace in which that was, if a span was active. */
  readonly traceId: string | undefined;
}

/** How many of those that were compiled before are remembered: each keeps a number. */
const maxBefore = 16;

/**
 * The marks of this program, which all copies of this module share.
 *
 * A function that awaits another one does not see what that has left in the asynchronous context. So a mark also stays at
 * the spans that were active, from the inmost to the root. A context's own mark goes before that of its spans, unless the
 * latter was compiled later in this context or below it: then it is no neighbor's that runs at the same time.
 */
class Marking {
  readonly #own = new AsyncLocalStorage<Compiled>();
  readonly #atSpans = new WeakMap<object, Compiled>();
  readonly #parents = new WeakMap<object, object>();
  #count = 0;

  mark({ name, versionIndex }: Mark): void {
    const former = this.#own.getStore();
    const active = trace.getActiveSpan();
    const place = active?.spanContext();
    const compiled = {
      name,
      versionIndex,
      id: ++this.#count,
      before: former ? [former.id, ...former.before].slice(0, maxBefore) : [],
      traceId: place && isSpanContextValid(place) ? place.traceId : undefined,
    };
    this.#own.enterWith(compiled);
    for (let span: object | undefined = active; span; span = this.#parents.get(span))
      this.#atSpans.set(span, compiled);
  }

  /** Notes a span that starts, and finds what is compiled for it. */
  find(span: WritableSpan, parent: object | undefined): Compiled | undefined {
    if (parent) this.#parents.set(span, parent);
    const stored = this.#own.getStore();
    const own =
      (stored?.traceId ?? span.spanContext().traceId) === span.spanContext().traceId ? stored : undefined;
    let above = parent;
    while (above && !this.#atSpans.has(above)) above = this.#parents.get(above);
    const atSpan = above && this.#atSpans.get(above);
    return !own || atSpan?.before.includes(own.id) ? (atSpan ?? own) : own;
  }
}

const getMarking = (): Marking => {
  const place = globalThis as MarkingPlace;
  place[marking] ??= new Marking();
  return place[marking] as Marking;
};

const isModelCall = (span: WritableSpan): boolean =>
  modelCalls.some(([attribute, value]) => value.test(String(span.attributes[attribute] ?? '')));

const write = (span: WritableSpan, { name, versionIndex }: Compiled): void => {
  // What the program has said itself stays.
  if (nameAttribute in span.attributes) return;
  span.setAttribute(nameAttribute, name);
  if (versionIndex !== null) span.setAttribute(versionAttribute, String(versionIndex));
};

/**
 * A span processor for the tracer provider, in any place of its list. It marks model calls with the prompt that was
 * compiled last in the same asynchronous context and, if a span was active then, in the same trace.
 */
export class PromptSpanProcessor {
  readonly #marking = getMarking();
  /** Spans that have not said yet whether they are model calls. */
  readonly #waiting = new WeakMap<object, Compiled>();

  onStart(span: WritableSpan, parentContext: Context): void {
    const compiled = this.#marking.find(span, trace.getSpan(parentContext));
    if (!compiled) return;
    if (isModelCall(span)) write(span, compiled);
    else this.#waiting.set(span, compiled);
  }

  onEnding(span: WritableSpan): void {
    const compiled = this.#waiting.get(span);
    if (compiled && isModelCall(span)) write(span, compiled);
  }

  onEnd(): void {}

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}
