import { toCallId } from '../../span.ts';
import type { Fact } from '../facts.ts';
import { hashParts } from '../operation.ts';
import { event, getSession, named, span, withinTool } from './telemetry.ts';

/**
 * Prompts that the program itself makes: `<task-notification>` and others of such names. A person
 * may well begin with a tag of another.
 */
const ofProgram = /^\s*<(?:[a-z]+-)*(?:notification|reminder|message|caveat)[\s>]/;

export interface Turn {
  readonly id: string;
  readonly traceId: string;
  /** Whether a person asked; not the program itself. */
  readonly isUsers: boolean;
}

/** Finds the turns of some facts, and the turn and the calls around each. */
export class Session {
  readonly #spans: ReadonlyMap<string, Fact>;
  /** The span of each prompt's turn. */
  readonly #spanOfPrompt = new Map<string, string>();
  readonly #turnSpans = new Set<string>();
  /** The span that is a sub-agent's run: the execution of the tool that started it. */
  readonly #spanOfAgent = new Map<string, string>();
  readonly #turns = new Map<string, Turn>();
  /** The prompts of each session, in order. */
  readonly #promptsBySession: ReadonlyMap<string, readonly Fact[]>;
  /** The key of the turn of each fact, once it was looked for. */
  readonly #keys = new Map<Fact, string | undefined>();

  constructor(facts: readonly Fact[]) {
    this.#promptsBySession = Map.groupBy(facts.filter(named(event.prompt)), getSession);
    this.#spans = new Map(
      facts.flatMap((fact) =>
        fact.isSpan && fact.spanId !== undefined ? [[fact.spanId, fact] as const] : [],
      ),
    );
    for (const fact of facts) this.#note(fact);
    for (const fact of facts.filter(named(event.prompt, span.turn))) this.#noteTurn(fact);
  }

  #note(fact: Fact): void {
    const { name, isSpan, spanId, parentSpanId } = fact;
    const agent = fact.text('agent_id');
    const promptId = fact.text('prompt.id');
    const isMain = agent === undefined;
    if (name === span.turn && spanId !== undefined) this.#turnSpans.add(spanId);
    if (!isSpan && spanId !== undefined && name !== event.decision) {
      if (isMain) {
        if (promptId !== undefined && (name === event.prompt || !this.#spanOfPrompt.has(promptId)))
          this.#spanOfPrompt.set(promptId, spanId);
        this.#turnSpans.add(spanId);
      } else if (!this.#spanOfAgent.has(agent)) this.#spanOfAgent.set(agent, spanId);
    }
    if (isSpan && parentSpanId !== undefined && named(span.model, span.tool)(fact)) {
      if (!isMain && !this.#spanOfAgent.has(agent)) this.#spanOfAgent.set(agent, parentSpanId);
      if (isMain && !this.#spans.has(parentSpanId)) this.#turnSpans.add(parentSpanId);
    }
  }

  #noteTurn(fact: Fact): void {
    const key = this.#getKey(fact);
    const turn = key === undefined ? undefined : this.#turn(key, fact);
    if (key === undefined || !turn) return;
    const text = fact.text('prompt') ?? fact.text('user_prompt');
    const isUsers = text === undefined || !ofProgram.test(text);
    this.#turns.set(key, { ...turn, isUsers: isUsers && (this.#turns.get(key)?.isUsers ?? true) });
  }

  #turn(key: string, fact: Fact): Turn {
    const known = this.#turns.get(key);
    if (known) return known;
    const { traceId } = fact;
    const spanId = key.startsWith('span ') ? key.slice(5) : undefined;
    const id = spanId !== undefined && traceId !== undefined ? toCallId(traceId, spanId) : key;
    return { id, traceId: traceId ?? hashParts(getSession(fact), id), isUsers: true };
  }

  /** What tells a fact's turn from others; undefined if that is not known. */
  #getKey(fact: Fact): string | undefined {
    if (!this.#keys.has(fact)) this.#keys.set(fact, this.#findKey(fact));
    return this.#keys.get(fact);
  }

  #findKey(fact: Fact): string | undefined {
    const promptId = fact.text('prompt.id');
    if (promptId !== undefined) {
      const spanId = this.#spanOfPrompt.get(promptId);
      return spanId === undefined ? hashParts(getSession(fact), `agent ${promptId}`) : `span ${spanId}`;
    }
    const turnSpan = this.#upFrom(fact.spanId).find((at) => this.#turnSpans.has(at));
    if (turnSpan !== undefined) return `span ${turnSpan}`;
    if (fact.isSpan || fact.spanId !== undefined) {
      const [only, ...others] = this.#turnSpans;
      return only !== undefined && others.length === 0 ? `span ${only}` : undefined;
    }
    // Older versions name no prompt: the last one before it.
    const before = this.#promptsBySession
      .get(getSession(fact))
      ?.findLast((prompt) => prompt.endedAt <= fact.endedAt);
    const own = before ?? (fact.name === event.prompt ? fact : undefined);
    return own && hashParts(getSession(own), `agent ${own.endedAt}`);
  }

  /** The turn of a fact, whether or not its prompt is known; undefined if the turn is not known. */
  getTurn(fact: Fact): Turn | undefined {
    const key = this.#getKey(fact);
    return key === undefined ? undefined : this.#turn(key, fact);
  }

  spanOfAgent(agent: string): string | undefined {
    return this.#spanOfAgent.get(agent);
  }

  isSpanOfAgent(spanId: string): boolean {
    return [...this.#spanOfAgent.values()].includes(spanId);
  }

  /** A span and those around it, as far as they are known. Parents of a sick program may form a circle. */
  #upFrom(spanId: string | undefined): string[] {
    const chain = new Set<string>();
    for (let at = spanId; at !== undefined && !chain.has(at); at = this.#spans.get(at)?.parentSpanId)
      chain.add(at);
    return [...chain];
  }

  /** The span that is the call around one: spans within a tool's are none. */
  callAround(spanId: string | undefined): string | undefined {
    return this.#upFrom(spanId).find(
      (at) => !withinTool.has(this.#spans.get(at)?.name ?? '') || this.isSpanOfAgent(at),
    );
  }

  span(spanId: string | undefined): Fact | undefined {
    return spanId === undefined ? undefined : this.#spans.get(spanId);
  }
}
