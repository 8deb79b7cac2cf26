/** One conversation of `agent-traces.ts`: a customer and a support agent, whose model sees all that was said before. */
import { type CallPlace, type TracedCall, tracedCall } from './agent-traces-call.ts';
import {
  details,
  openings,
  orderStates,
  policy,
  replies,
  toolFailure,
  tools,
  topics,
} from './agent-traces-texts.ts';
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

  /** `place` says in which project and thread the conversation is; chance and time come from `world`. */
  constructor(world: World, place: ConversationPlace) {
    this.#world = world;
    this.#place = place;
  }

  /** The next turn's calls in order of their starts: the turn itself, then up to two requests for a tool with its work, then the reply. */
  turn(): TracedCall[] {
    const world = this.#world;
    const place = { ...this.#place, trace: world.newId(), turn: world.newId() };
    const message = this.#ask();
    const startedAt = world.pass(20_000);
    const calls: TracedCall[] = [];
    for (let toolRounds = world.below(2.4); toolRounds > 0; toolRounds--) {
      const { call, tool } = this.#modelRound(place, false);
      calls.push(call, this.#toolRound(place, tool));
    }
    const { call, answer } = this.#modelRound(place, true);
    const endedAt = world.pass(2);
    const work = { name: 'agent.turn', id: place.turn, inputs: { message }, output: answer.content };
    return [tracedCall(place, { ...work, startedAt, endedAt }), ...calls, call];
  }

  /** The customer writes a message: the first one names the topic. */
  #ask(): string {
    const world = this.#world;
    const isFirst = this.#history.length === 1;
    const content = isFirst
      ? `${world.pick(openings)} ${world.pick(topics)}. ${world.pick(details)}`
      : world.pick(details);
    this.#history.push({ role: 'user', content });
    return content;
  }

  /** The model answers the history so far: a reply in the turn's last round, or else a request for the `tool` given back. */
  #modelRound(place: CallPlace, isLast: boolean): { call: TracedCall; answer: Message; tool: string } {
    const world = this.#world;
    const startedAt = world.pass(10);
    const id = world.newId();
    const messages = [...this.#history];
    const endedAt = world.pass(4000);
    // Picked for a last round too, which has no use for it: to leave it out would change all random choices that follow.
    const tool = world.pick(tools);
    const answer = isLast ? this.#reply() : this.#toolRequest(tool);
    this.#history.push(answer);
    const call = tracedCall(place, {
      name: 'openai.chat.completions.create',
      id,
      startedAt,
      endedAt,
      inputs: { model: 'gpt-4o', temperature: 0, messages },
      output: {
        model: 'gpt-4o',
        choices: [{ index: 0, finish_reason: isLast ? 'stop' : 'tool_calls', message: answer }],
      },
      summary: { usage: usage(messages, answer) },
    });
    return { call, answer, tool };
  }

  #reply(): Message {
    return { role: 'assistant', content: `${this.#world.pick(replies)} ${this.#world.pick(replies)}` };
  }

  #toolRequest(name: string): Message {
    const world = this.#world;
    const id = `call_${world.hex(24)}`;
    const called = { name, arguments: `{"order": "W${world.hex(6)}"}` };
    return { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: called }] };
  }

  /** The tool works, and one time in twenty-five fails; the history gets a result either way. */
  #toolRound(place: CallPlace, tool: string): TracedCall {
    const world = this.#world;
    const startedAt = world.pass(5);
    const id = world.newId();
    const endedAt = world.pass(200);
    const fails = world.happens(0.04);
    const result = `{"status": "${world.pick(orderStates)}", "customer": "customer_${world.hex(4)}", "total": ${world.below(20_000) / 100}}`;
    this.#history.push({ role: 'tool', content: result });
    return tracedCall(place, {
      name: `tool.${tool}`,
      id,
      startedAt,
      endedAt,
      inputs: { order: `W${world.hex(6)}` },
      output: fails ? null : result,
      exception: fails ? toolFailure : null,
    });
  }
}
