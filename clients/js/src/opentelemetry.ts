/**
 * Marks the model calls that follow a compiled prompt, in traces of OpenTelemetry: they get
 * `pennytrace.prompt.name` and `pennytrace.prompt.version`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Attributes, isSpanContextValid, type Span, trace } from '@opentelemetry/api';
import { type Mark, type MarkingPlace, marking } from './prompt.ts';

const attributes = { name: 'pennytrace.prompt.name', version: 'pennytrace.prompt.version' } as const;

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

/** What was compiled last, and the trace in which that was. */
interface Compiled extends Mark {
  readonly traceId: string | undefined;
}

interface Marking {
  mark(prompt: Mark): void;
  get(): Compiled | undefined;
}

/** The marks of this program, which all copies of this module share. */
const getMarking = (): Marking => {
  const place = globalThis as MarkingPlace;
  if (!place[marking]) {
    const current = new AsyncLocalStorage<Compiled>();
    const made: Marking = {
      mark: ({ name, versionIndex }) => {
        const span = trace.getActiveSpan()?.spanContext();
        const traceId = span && isSpanContextValid(span) ? span.traceId : undefined;
        current.enterWith({ name, versionIndex, traceId });
      },
      get: () => current.getStore(),
    };
    place[marking] = made;
  }
  return place[marking] as Marking;
};

const isModelCall = (span: WritableSpan): boolean =>
  modelCalls.some(([attribute, value]) => value.test(String(span.attributes[attribute] ?? '')));

const write = (span: WritableSpan, { name, versionIndex }: Compiled): void => {
  // What the program has said itself stays.
  if (attributes.name in span.attributes) return;
  span.setAttribute(attributes.name, name);
  if (versionIndex !== null) span.setAttribute(attributes.version, String(versionIndex));
};

/**
 * A span processor for the tracer provider, in any place of its list. It marks model calls with the prompt that was
 * compiled last in the same asynchronous context and, if a span was active then, in the same trace.
 */
export class PromptSpanProcessor {
  readonly #marking = getMarking();
  /** Spans that have not said yet whether they are model calls. */
  readonly #waiting = new WeakMap<object, Compiled>();

  onStart(span: WritableSpan): void {
    const compiled = this.#marking.get();
    if (!compiled || (compiled.traceId ?? span.spanContext().traceId) !== span.spanContext().traceId) return;
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
