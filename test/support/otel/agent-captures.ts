import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { JsonObject } from '../../../foundations/wire/index.ts';

/*
 * Exports of programs with agents, and what a person expects to see of them. They are judged by what
 * the API answers, whatever the service made of spans and log records.
 */

const folder = resolve(import.meta.dirname, '../../otel/agents');

/** An operation as a person expects to see it. A fact is there only if the export tells it. */
export interface ExpectedOperation {
  /** `other` fits any kind. */
  readonly kind: string;
  readonly name_contains?: string;
  readonly model?: string;
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly reasoning?: number;
  readonly cost_usd?: number;
  readonly input_contains?: readonly string[];
  readonly output_contains?: readonly string[];
  /** On a span around it that is no operation. */
  readonly output_on_enclosing_span?: readonly string[];
  readonly error_contains?: string;
  /** The index of the operation around it, perhaps with calls between that are not listed. */
  readonly parent: number | null;
  readonly conversation_id?: string | null;
  readonly user_id?: string | null;
  /** The nearest agent, the operation's own name if it is one. */
  readonly agent?: string | null;
  readonly tool?: string;
  /** How long it waited for a person; 0 if nobody was asked. */
  readonly waits_ms?: number;
  readonly turn?: 'user' | 'resume' | 'notification';
  readonly interrupt?: string;
  readonly resume?: string;
}

interface ExpectedThread {
  readonly id: string | null;
  readonly user?: string | null;
  readonly turns: readonly { readonly user: string; readonly assistant: string | null }[];
}

interface ExpectedEvaluation {
  readonly name: string;
  readonly value?: number;
  readonly label?: string;
  readonly reason?: string;
  /** The judge failed: there is no verdict. */
  readonly error?: string;
  /** The index of the judged operation. */
  readonly on: number;
}

/** A recorded program: what was sent, and what a person expects to see. */
export interface AgentCapture {
  readonly name: string;
  readonly requests: readonly {
    /** Below the exporter's endpoint: `/v1/traces`. */
    readonly path: string;
    readonly body: Buffer;
    readonly headers: Readonly<Record<string, string>>;
  }[];
  readonly operations: readonly ExpectedOperation[];
  readonly threads: readonly ExpectedThread[];
  readonly evaluations: readonly ExpectedEvaluation[];
  /** The most tokens that all calls together may count. */
  readonly maxTokens: number;
}

const json = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

/** The names of all captures of agents. */
export const agentCaptureNames: readonly string[] = readdirSync(folder);

/** Reads a capture's folder. */
export const readAgentCapture = (name: string): AgentCapture => {
  const path = join(folder, name);
  const bodies = readdirSync(path).filter((file) => /^\d+\.bin$/.test(file));
  const expected = json<Pick<AgentCapture, 'operations' | 'threads'> & Partial<AgentCapture>>(
    join(path, 'expect.json'),
  );
  const meta = json<{ truth: { total_tokens: number } }>(join(path, 'meta.json'));
  return {
    name,
    requests: bodies.sort().map((file) => ({
      body: readFileSync(join(path, file)),
      ...json<{ path: string; headers: Record<string, string> }>(join(path, file.replace('.bin', '.json'))),
    })),
    operations: expected.operations,
    threads: expected.threads,
    evaluations: expected.evaluations ?? [],
    maxTokens: meta.truth.total_tokens,
  };
};

interface Feedback {
  readonly feedback_type: string;
  readonly payload: JsonObject;
}

/** A call as `/calls/stream_query` answers it, with costs and feedback. */
export interface AnsweredCall {
  readonly id: string;
  readonly op_name: string;
  readonly display_name: string | null;
  readonly parent_id: string | null;
  readonly thread_id: string | null;
  readonly turn_id: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly attributes: {
    readonly kind?: string;
    readonly agent?: { readonly name?: string };
    readonly tool?: { readonly name?: string };
    readonly user?: { readonly id?: string };
    readonly gen_ai?: { readonly provider?: { readonly name?: string } };
  };
  readonly inputs: JsonObject;
  readonly output: unknown;
  readonly exception: string | null;
  readonly summary: {
    readonly usage?: Readonly<Record<string, UsageOfModel>>;
    readonly cost_usd?: number;
    readonly svc: {
      readonly waited_ms?: number | null;
      readonly waiting?: boolean;
      readonly feedback?: readonly Feedback[];
    };
  };
}

interface UsageOfModel {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_read_input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number };
}

/** What a fact is about. Each is counted by itself. */
export type FactKind =
  | 'operation'
  | 'agent'
  | 'tool'
  | 'cached tokens'
  | 'wait'
  | 'thread'
  | 'verdict'
  | 'tokens';

/** One thing that a person expects, and whether it holds. */
export interface Fact {
  readonly kind: FactKind;
  readonly what: string;
  readonly problems: readonly string[];
}

/** All texts in a value, keys too, so that a fact is found wherever it stands. */
export const textsIn = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(textsIn).join('\n');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, item]) => `${key}\n${textsIn(item)}`)
    .join('\n');
};

/** Whether a value has a text, or is what the text says in JSON. */
const isIn = (text: string, value: unknown): boolean =>
  textsIn(value).includes(text) || JSON.stringify(value) === text;

/** Whether a call's model is the wanted one. Some spans write the provider, which they name, before it. */
const isModel = ({ inputs, attributes }: AnsweredCall, wanted: string): boolean =>
  inputs.model === wanted || inputs.model === `${attributes.gen_ai?.provider?.name}/${wanted}`;

const totalUsage = ({ summary }: AnsweredCall, count: (usage: UsageOfModel) => number | undefined): number =>
  Object.values(summary.usage ?? {}).reduce((total, usage) => total + (count(usage) ?? 0), 0);

const inputTokens = ({ input_tokens }: UsageOfModel) => input_tokens;
const outputTokens = ({ output_tokens }: UsageOfModel) => output_tokens;

/** Judges what a service answers for a capture. */
export class Judgement {
  readonly #capture: AgentCapture;
  readonly #calls: readonly AnsweredCall[];
  readonly #byId: ReadonlyMap<string, AnsweredCall>;
  readonly #found: (AnsweredCall | undefined)[] = [];

  constructor(capture: AgentCapture, calls: readonly AnsweredCall[]) {
    this.#capture = capture;
    this.#calls = calls.toSorted((a, b) => (a.started_at < b.started_at ? -1 : 1));
    this.#byId = new Map(calls.map((call) => [call.id, call]));
  }

  /** @param threadIds the threads that `/threads/stream_query` lists */
  facts(threadIds: readonly string[]): Fact[] {
    const facts = this.#capture.operations.flatMap((wanted, index) => this.#operation(wanted, index));
    return [
      ...facts,
      ...this.#capture.threads.map((thread) => this.#thread(thread)),
      this.#noOtherThreads(threadIds),
      ...this.#capture.evaluations.map((evaluation) => this.#evaluation(evaluation)),
      this.#tokens(),
    ];
  }

  #ancestors(call: AnsweredCall): AnsweredCall[] {
    const chain: AnsweredCall[] = [];
    for (let at = call.parent_id; at !== null; ) {
      const parent = this.#byId.get(at);
      if (!parent || chain.includes(parent)) break;
      chain.push(parent);
      at = parent.parent_id;
    }
    return chain;
  }

  #operation(wanted: ExpectedOperation, index: number): Fact[] {
    const what = `${index} ${wanted.kind} ${wanted.name_contains ?? wanted.agent ?? ''}`;
    const parent = wanted.parent === null ? undefined : this.#found[wanted.parent];
    const judged = this.#calls
      .filter((call) => !this.#found.includes(call))
      .filter((call) => wanted.kind === 'other' || call.attributes.kind === wanted.kind)
      .filter((call) => wanted.parent === null || (parent && this.#ancestors(call).includes(parent)))
      .map((call) => ({ call, problems: this.#contradictions(call, wanted) }));
    const best = judged.toSorted((a, b) => a.problems.length - b.problems.length)[0];
    this.#found.push(best?.call);
    const problems = best ? best.problems : ['no such call'];
    return [{ kind: 'operation', what, problems }, ...this.#details(best?.call, wanted, what)];
  }

  /** What a call says otherwise than is expected of the operation itself. */
  #contradictions(call: AnsweredCall, wanted: ExpectedOperation): string[] {
    const names = [call.op_name, call.display_name, call.attributes.tool?.name, call.attributes.agent?.name];
    const around = this.#ancestors(call);
    const facts: [string, unknown, boolean][] = [
      ['name', call.op_name, names.some((name) => name?.includes(wanted.name_contains ?? ''))],
      ['model', call.inputs.model, wanted.model === undefined || isModel(call, wanted.model)],
      [
        'prompt tokens',
        totalUsage(call, inputTokens),
        totalUsage(call, inputTokens) === (wanted.prompt_tokens ?? 0),
      ],
      [
        'completion tokens',
        totalUsage(call, outputTokens),
        totalUsage(call, outputTokens) === (wanted.completion_tokens ?? 0),
      ],
      [
        'cost',
        call.summary.cost_usd,
        wanted.cost_usd === undefined || Math.abs((call.summary.cost_usd ?? 0) - wanted.cost_usd) < 1e-9,
      ],
      [
        'error',
        call.exception,
        wanted.error_contains === undefined
          ? call.exception === null
          : (call.exception?.includes(wanted.error_contains) ?? false),
      ],
    ];
    for (const text of [...(wanted.input_contains ?? []), wanted.resume ?? []].flat())
      facts.push([`input ${text}`, call.inputs, textsIn(call.inputs).includes(text)]);
    for (const text of [...(wanted.output_contains ?? []), wanted.interrupt ?? []].flat())
      facts.push([`output ${text}`, call.output, isIn(text, call.output)]);
    for (const text of wanted.output_on_enclosing_span ?? [])
      facts.push([
        `output around ${text}`,
        '',
        [call, ...around].some(({ output }) => textsIn(output).includes(text)),
      ]);
    return facts.flatMap(([what, found, holds]) => (holds ? [] : [`${what}: ${JSON.stringify(found)}`]));
  }

  #details(call: AnsweredCall | undefined, wanted: ExpectedOperation, what: string): Fact[] {
    const fact = (
      kind: FactKind,
      name: string,
      expected: unknown,
      found: unknown,
      holds?: boolean,
    ): Fact => ({
      kind,
      what: `${what}: ${name}`,
      problems:
        (holds ?? expected === found)
          ? []
          : [`${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`],
    });
    const agent =
      call &&
      [call, ...this.#ancestors(call)]
        .map(({ attributes }) => attributes.agent?.name)
        .find((name) => name !== undefined);
    const facts: Fact[] = [];
    if (wanted.agent !== undefined) facts.push(fact('agent', 'agent', wanted.agent ?? undefined, agent));
    if (wanted.tool !== undefined) facts.push(fact('tool', 'tool', wanted.tool, call?.attributes.tool?.name));
    const cached = [
      ['cache_read', (usage: UsageOfModel) => usage.cache_read_input_tokens],
      ['cache_write', (usage: UsageOfModel) => usage.cache_creation_input_tokens],
      ['reasoning', (usage: UsageOfModel) => usage.output_tokens_details?.reasoning_tokens],
    ] as const;
    for (const [name, count] of cached)
      if (wanted[name] !== undefined)
        facts.push(fact('cached tokens', name, wanted[name], call && totalUsage(call, count)));
    if (wanted.waits_ms !== undefined) {
      const { waited_ms: waited = 0, waiting = false } = call?.summary.svc ?? {};
      const isOpen = waiting && wanted.waits_ms > 0;
      const isNear =
        isOpen || (!waiting && Math.abs((waited ?? 0) - wanted.waits_ms) <= 0.2 * wanted.waits_ms);
      facts.push(fact('wait', 'waits', wanted.waits_ms, waited, call !== undefined && isNear));
    }
    if (wanted.conversation_id !== undefined)
      facts.push(fact('thread', 'conversation', wanted.conversation_id, call?.thread_id));
    if (wanted.user_id !== undefined)
      facts.push(fact('thread', 'user', wanted.user_id ?? undefined, call?.attributes.user?.id));
    if (wanted.turn !== undefined)
      facts.push(fact('thread', 'turn', wanted.turn === 'user', call !== undefined && this.#isTurn(call)));
    return facts;
  }

  /**
   * Whether a call is a turn. Where a span around it is, and is no operation since it says nothing
   * itself, the first operation in it is.
   */
  #isTurn(call: AnsweredCall): boolean {
    if (call.turn_id === call.id) return true;
    const turn = this.#ancestors(call).find(({ id }) => id === call.turn_id);
    if (!turn || this.#found.includes(turn) || Object.keys(turn.inputs).length > 0) return false;
    const operations = this.#found.filter((found) => found?.turn_id === turn.id);
    return operations[0] === call;
  }

  /** What people read of a turn: its own text, else that of the models in it. */
  #turnTexts(turn: AnsweredCall): { readonly user: string; readonly assistant: string } {
    const models = this.#calls.filter(
      (call) => call.attributes.kind === 'model' && this.#ancestors(call).includes(turn),
    );
    const isEmpty = (value: unknown): boolean => value === null || textsIn(value) === '';
    return {
      user: textsIn(isEmpty(turn.inputs) ? models[0]?.inputs : turn.inputs),
      assistant: textsIn(isEmpty(turn.output) ? models.at(-1)?.output : turn.output),
    };
  }

  /** The turns of a thread. Without an id they are those of no thread that has one. */
  #findTurns(id: string | null): readonly AnsweredCall[] {
    const named = this.#capture.threads.map((thread) => thread.id);
    return this.#calls.filter(({ id: callId, thread_id, turn_id, parent_id }) => {
      if (id !== null) return thread_id === id && turn_id === callId;
      if (thread_id === null) return parent_id === null;
      return !named.includes(thread_id) && turn_id === callId;
    });
  }

  #thread({ id, user, turns }: ExpectedThread): Fact {
    const what = `thread ${id}`;
    const found = this.#findTurns(id);
    const problems = turns.flatMap((turn, index) => {
      const call = found[index];
      if (!call) return [`no turn ${JSON.stringify(turn.user)}`];
      const texts = this.#turnTexts(call);
      return [
        ...(texts.user.includes(turn.user) ? [] : [`turn ${index} asks ${JSON.stringify(texts.user)}`]),
        ...(texts.assistant.includes(turn.assistant ?? '')
          ? []
          : [`turn ${index} answers ${JSON.stringify(texts.assistant)}`]),
        ...(user === undefined || user === null || call.attributes.user?.id === user
          ? []
          : [`turn ${index} is of the user ${call.attributes.user?.id}`]),
      ];
    });
    const more = found.length - turns.length;
    return { kind: 'thread', what, problems: more > 0 ? [...problems, `${more} turns too many`] : problems };
  }

  #noOtherThreads(threadIds: readonly string[]): Fact {
    const { threads, operations } = this.#capture;
    const expected: (string | null | undefined)[] = [
      ...threads.map(({ id }) => id),
      ...operations.map(({ conversation_id: id }) => id),
    ];
    const other = threadIds.filter((id) => !expected.includes(id));
    return { kind: 'thread', what: 'no other threads', problems: other };
  }

  #evaluation(wanted: ExpectedEvaluation): Fact {
    const call = this.#found[wanted.on];
    const found = (call?.summary.svc.feedback ?? []).filter(
      ({ feedback_type }) => feedback_type === `evaluation.${wanted.name}`,
    );
    const { name, value, label, reason, error } = wanted;
    const payload = Object.fromEntries(
      Object.entries({ value, label, reason }).filter(([, content]) => content !== undefined),
    );
    const expected = error === undefined ? [payload] : [];
    const payloads = found.map((record) => record.payload);
    const isSame = JSON.stringify(payloads) === JSON.stringify(expected);
    return {
      kind: 'verdict',
      what: `${name} on ${wanted.on}`,
      problems: isSame ? [] : [JSON.stringify(payloads)],
    };
  }

  #tokens(): Fact {
    const total = this.#calls.reduce(
      (sum, call) => sum + totalUsage(call, inputTokens) + totalUsage(call, outputTokens),
      0,
    );
    const { maxTokens } = this.#capture;
    return {
      kind: 'tokens',
      what: 'tokens of all calls',
      problems: total <= maxTokens ? [] : [`${total}, and at most ${maxTokens}`],
    };
  }
}
