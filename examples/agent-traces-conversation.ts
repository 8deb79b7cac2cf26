/**
 * One conversation of `agent-traces.ts`: a customer and a support agent, whose model sees all that
 * was said before.
 */
import { type CallPlace, type TracedCall, tracedCall } from './agent-traces-call.ts';
import { policy } from './agent-traces-policy.ts';
import { answers, farewell, openings, replies, toolFailure } from './agent-traces-texts.ts';
import { type ToolUse, useTool } from './agent-traces-tools.ts';
import type { World } from './agent-traces-world.ts';

/** What the places of all calls of a conversation share. */
type ConversationPlace = Omit<CallPlace, 'trace' | 'turn'>;

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

/** About as many tokens as the value's JSON has for English text. */
const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4.4);

/** The model's usage for a round, in tokens. */
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

/** A conversation in its course: every turn adds to its history. */
export class Conversation {
  readonly #world: World;
  readonly #place: ConversationPlace;
  readonly #history: Message[] = [{ role: 'system', content: policy }];

  /**
   * `place` says in which project and thread the conversation is; chance and time come from
   * `world`.
   */
  constructor(world: World, place: ConversationPlace) {
    this.#world = world;
    this.#place = place;
  }

  /**
   * The next turn's calls in order of their starts: the turn itself, then requests for tools with
   * their work, then the reply.
   */
  turn(): TracedCall[] {
    const world = this.#world;
    const place = { ...this.#place, trace: world.newId(), turn: world.newId() };
    const message = this.#ask();
    const startedAt = world.pass(20_000);
    const calls: TracedCall[] = [];
    for (let rounds = this.#toolRounds(); rounds > 0; rounds--) {
      const use = useTool(world);
      calls.push(this.#modelRound(place, this.#toolRequest(use)), this.#toolRound(place, use));
    }
    const answer = this.#reply();
    calls.push(this.#modelRound(place, answer));
    const endedAt = world.pass(2);
    const work = { name: 'agent.turn', id: place.turn, inputs: { message }, output: answer.content };
    return [tracedCall(place, { ...work, startedAt, endedAt }), ...calls];
  }

  /**
   * The last turn: the customer is content, or has given up, and the model is not asked any more.
   */
  lastTurn(): TracedCall {
    const world = this.#world;
    const place = { ...this.#place, trace: world.newId(), turn: world.newId() };
    const startedAt = world.pass(20_000);
    const work = { name: 'agent.turn', id: place.turn, inputs: { message: farewell }, output: null };
    return tracedCall(place, { ...work, startedAt, endedAt: world.pass(2) });
  }

  /** Most turns need no tool, some one or two, and one in a hundred a long row of them. */
  #toolRounds(): number {
    const world = this.#world;
    if (world.happens(0.63)) return 0;
    return world.happens(0.025) ? 5 + world.below(16) : 1 + world.below(2.5);
  }

  /** The customer writes a message: the first one names the topic. */
  #ask(): string {
    const world = this.#world;
    const isFirst = this.#history.length === 1;
    const content = world.say(world.pick(isFirst ? openings : answers));
    this.#history.push({ role: 'user', content });
    return content;
  }

  /** The model gives the answer to the history so far: a reply, or a request for a tool. */
  #modelRound(place: CallPlace, answer: Message): TracedCall {
    const world = this.#world;
    const startedAt = world.pass(10);
    const id = world.newId();
    const messages = [...this.#history];
    const endedAt = world.pass(4000);
    this.#history.push(answer);
    return tracedCall(place, {
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

  /** The tool works, and one time in fifty fails; the history gets a result either way. */
  #toolRound(place: CallPlace, { name, inputs, result }: ToolUse): TracedCall {
    const world = this.#world;
    const startedAt = world.pass(5);
    const id = world.newId();
    const endedAt = world.pass(200);
    const fails = world.happens(0.02);
    this.#history.push({ role: 'tool', content: fails ? toolFailure : result });
    return tracedCall(place, {
      ...{ name: `tool.${name}`, id, startedAt, endedAt, inputs },
      output: fails ? null : result,
      exception: fails ? toolFailure : null,
    });
  }
}
