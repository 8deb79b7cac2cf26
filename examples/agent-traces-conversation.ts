/**
 * One conversation of `agent-traces.ts` between a customer and a support agent. The agent's model
 * sees all earlier messages.
 */
import { type CallContext, type TracedCall, tracedCall } from './agent-traces-call.ts';
import { policy } from './agent-traces-policy.ts';
import { answers, farewell, openings, replies, toolFailure } from './agent-traces-texts.ts';
import { type ToolUse, useTool } from './agent-traces-tools.ts';
import type { World } from './agent-traces-world.ts';

/** What all calls of a conversation share. */
type ConversationContext = Omit<CallContext, 'trace' | 'turn'>;

/** A message of a chat completion. */
interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** Null if the model calls a tool. */
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: 'function';
    readonly function: object;
  }[];
}

/** Estimates the tokens of a value's JSON for English text. */
const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4.4);

/** The usage of a model call, in tokens. */
const usage = (messages: readonly Message[], answer: Message): Readonly<Record<string, unknown>> => {
  const prompt = tokens(messages);
  const completion = tokens(answer);
  return {
    'gpt-4o': {
      prompt_tokens: prompt,
      completion_tokens: completion,
      requests: 1,
      total_tokens: prompt + completion,
    },
  };
};

/** A running conversation. Every turn adds to its history. */
export class Conversation {
  readonly #world: World;
  readonly #context: ConversationContext;
  readonly #history: Message[] = [{ role: 'system', content: policy }];

  /**
   * @param world the source of chance and time
   * @param context the project and thread of the conversation
   */
  constructor(world: World, context: ConversationContext) {
    this.#world = world;
    this.#context = context;
  }

  /**
   * Makes the calls of the next turn in order of their starts: the turn itself, tool requests with
   * their tool calls, then the reply.
   */
  turn(): TracedCall[] {
    const world = this.#world;
    const context = { ...this.#context, trace: world.newId(), turn: world.newId() };
    const message = this.#customerMessage();
    const startedAt = world.advance(20_000);
    const calls: TracedCall[] = [];
    for (let rounds = this.#toolRounds(); rounds > 0; rounds--) {
      const use = useTool(world);
      calls.push(this.#modelRound(context, this.#toolRequest(use)), this.#toolRound(context, use));
    }
    const answer = this.#reply();
    calls.push(this.#modelRound(context, answer));
    const endedAt = world.advance(2);
    const work = { name: 'agent.turn', id: context.turn, inputs: { message }, output: answer.content };
    return [tracedCall(context, { ...work, startedAt, endedAt }), ...calls];
  }

  /** Makes the last turn. The customer is content or has given up, and the model is not called. */
  lastTurn(): TracedCall {
    const world = this.#world;
    const context = { ...this.#context, trace: world.newId(), turn: world.newId() };
    const startedAt = world.advance(20_000);
    const work = { name: 'agent.turn', id: context.turn, inputs: { message: farewell }, output: null };
    return tracedCall(context, { ...work, startedAt, endedAt: world.advance(2) });
  }

  /** Most turns need no tool, some need one or two, and one in a hundred needs many. */
  #toolRounds(): number {
    const world = this.#world;
    if (world.happens(0.63)) return 0;
    return world.happens(0.025) ? 5 + world.below(16) : 1 + world.below(2.5);
  }

  /** Writes the customer's message. The first one names the topic. */
  #customerMessage(): string {
    const world = this.#world;
    const isFirst = this.#history.length === 1;
    const content = world.say(world.pick(isFirst ? openings : answers));
    this.#history.push({ role: 'user', content });
    return content;
  }

  /** Makes the model's call for the history so far. Its answer is a reply or a tool request. */
  #modelRound(context: CallContext, answer: Message): TracedCall {
    const world = this.#world;
    const startedAt = world.advance(10);
    const id = world.newId();
    const messages = [...this.#history];
    const endedAt = world.advance(4000);
    this.#history.push(answer);
    return tracedCall(context, {
      name: 'openai.chat.completions.create',
      id,
      startedAt,
      endedAt,
      inputs: { model: 'gpt-4o', temperature: 0, messages },
      output: {
        model: 'gpt-4o',
        choices: [{ index: 0, finish_reason: answer.tool_calls ? 'tool_calls' : 'stop', message: answer }],
      },
      summary: { usage: usage(messages, answer) },
    });
  }

  #reply(): Message {
    const world = this.#world;
    const sentences = Array.from({ length: 1 + world.below(4.6) }, () => world.say(world.pick(replies)));
    return { role: 'assistant', content: sentences.join(' ') };
  }

  #toolRequest({ name, inputs }: ToolUse): Message {
    const id = `call_${this.#world.hex(24)}`;
    const called = { name, arguments: JSON.stringify(inputs) };
    return { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: called }] };
  }

  /** Makes the tool's call. One in fifty fails; the history gets a result either way. */
  #toolRound(context: CallContext, { name, inputs, result }: ToolUse): TracedCall {
    const world = this.#world;
    const startedAt = world.advance(5);
    const id = world.newId();
    const endedAt = world.advance(200);
    const fails = world.happens(0.02);
    this.#history.push({ role: 'tool', content: fails ? toolFailure : result });
    return tracedCall(context, {
      ...{ name: `tool.${name}`, id, startedAt, endedAt, inputs },
      output: fails ? null : result,
      exception: fails ? toolFailure : null,
    });
  }
}
