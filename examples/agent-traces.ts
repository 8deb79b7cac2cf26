/**
 * Makes traces like those of a support agent. Conversations have several turns, and each turn is a
 * trace of model calls and tool calls. Every model call carries the whole conversation so far. The
 * same seed makes the same bytes.
 */

import {
  answers,
  farewell,
  openings,
  policy,
  refusals,
  replies,
  type Texts,
  thoughts,
  toolFailure,
  words,
} from './agent-traces-texts.ts';

/** A random number generator from a seed (mulberry32). Its numbers are at least 0 and below 1. */
const randomFrom = (seed: number) => {
  let state = seed >>> 0;
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/**
 * A source of random choices, and a clock that moves only by its methods. Both take from one sequence of
 * random numbers: a change of their order changes every later trace.
 */
export class World {
  readonly #random: () => number;
  /** UTC microseconds since 1970. */
  #now: number;

  /**
   * @param seed any integer
   * @param startMs the clock's first time, in ms since 1970
   */
  constructor(seed: number, startMs: number) {
    this.#random = randomFrom(seed);
    this.#now = startMs * 1000;
  }

  /**
   * Lets between a microsecond and `maxMs` milliseconds pass. Returns the new time, in UTC
   * microseconds since 1970.
   */
  advance(maxMs: number): number {
    this.#now += 1 + this.below(maxMs * 1000);
    return this.#now;
  }

  /**
   * A random integer from 0 up to, but excluding, `limit`. With a limit of 2.4, 2 is less frequent
   * than 0 and 1.
   */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** Whether an event of this probability (0 to 1) happens. */
  happens(probability: number): boolean {
    return this.#random() < probability;
  }

  /** One of the texts, all equally likely. */
  pick(texts: Texts): string {
    return texts[this.below(texts.length)] ?? texts[0];
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.below(16).toString(16)).join('');
  }

  digits(count: number): string {
    return Array.from({ length: count }, () => this.below(10)).join('');
  }

  /**
   * Replaces each of the text's `{words}` by one of `words`, or by a random `{number}`, `{price}`
   * or `{order}`.
   */
  say(text: string): string {
    return text.replace(/\{(\w+)\}/g, (_, name: string) => this.#word(name));
  }

  #word(name: string): string {
    if (name === 'number') return String(1 + this.below(28));
    if (name === 'price') return `${this.below(400)}.${this.digits(2)}`;
    if (name === 'order') return `W${this.digits(7)}`;
    return this.say(this.pick(words[name] ?? [name]));
  }

  /** A UUIDv7 of the clock's time. */
  newId(): string {
    const time = Math.floor(this.#now / 1000)
      .toString(16)
      .padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${this.hex(3)}-${this.pick(['8', '9', 'a', 'b'])}${this.hex(3)}-${this.hex(12)}`;
  }
}

/** A tool call of the model, and its result. */
interface ToolUse {
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The tool's output, mostly a record as JSON. */
  readonly result: string;
}

const address = (world: World) => ({
  address1: world.say('{number} {street}'),
  address2: world.say('Apartment {number}{number}'),
  city: world.say('{city}'),
  country: 'EU',
  zip: world.digits(5),
});

const line = (world: World) => ({
  sku: world.hex(8).toUpperCase(),
  name: world.say('{part}, {colour}'),
  quantity: 1 + world.below(2),
  price: world.below(40_000) / 100,
  currency: 'EUR',
  warranty_months: 24,
});

const customer = (world: World) => {
  const name = { first_name: world.say('{first}'), last_name: world.say('{last}') };
  const card = `credit_card_${world.digits(7)}`;
  return {
    name,
    address: address(world),
    email: `${name.first_name}.${name.last_name}${world.digits(4)}@example.com`.toLowerCase(),
    born: `19${world.digits(2)}-0${1 + world.below(9)}-1${world.below(10)}`,
    payment_methods: {
      [card]: { source: 'credit_card', brand: 'mastercard', last_four: world.digits(4), id: card },
      [`voucher_${world.digits(7)}`]: { source: 'voucher', amount: 5 * world.below(100) },
    },
    membership: world.pick(['regular', 'silver', 'gold']),
    orders: Array.from({ length: 1 + world.below(5) }, () => world.say('{order}')),
  };
};

const order = (world: World) => ({
  order_id: world.say('{order}'),
  customer_id: world.say('{first}_{last}_').toLowerCase() + world.digits(4),
  status: world.pick(['shipped', 'open', 'returned']),
  ship_to: address(world),
  lines: Array.from({ length: 3 + world.below(4) }, () => line(world)),
  payment_history: [{ payment_id: `credit_card_${world.digits(7)}`, amount: world.below(90_000) / 100 }],
  created_at: `2026-0${1 + world.below(9)}-1${world.below(10)}T0${world.below(10)}:${10 + world.below(50)}:${10 + world.below(50)}`,
  insurance: world.pick(['yes', 'no']),
});

const offer = (world: World) => ({
  ...line(world),
  branch: world.say('{city}'),
  available: { now: world.below(20), next_week: world.below(90) },
});

/**
 * Makes one tool call with its result: mostly a customer or an order; sometimes a long list, a
 * thought, or nothing.
 */
const useTool = (world: World): ToolUse => {
  const kind = world.below(100);
  if (kind < 10) return { name: 'think', inputs: { thought: world.say(world.pick(thoughts)) }, result: '' };
  if (kind < 25)
    return {
      name: 'find_order',
      inputs: { order_id: world.say('{order}') },
      result: world.say(world.pick(refusals)),
    };
  if (kind < 30) {
    const found = Array.from({ length: 15 + world.below(26) }, () => offer(world));
    return { name: 'search_stock', inputs: { name: world.say('{part}') }, result: JSON.stringify(found) };
  }
  if (kind < 50) {
    const found = customer(world);
    const inputs = { email: found.email };
    return { name: 'find_customer', inputs, result: JSON.stringify(found) };
  }
  const found = order(world);
  const inputs = { order_id: found.order_id };
  // A booking repeats the lines of the order.
  if (kind >= 93)
    return {
      name: 'book_repair',
      inputs: { ...inputs, lines: found.lines },
      result: JSON.stringify(found),
    };
  return { name: 'find_order', inputs, result: JSON.stringify(found) };
};

/** The project, conversation and turn of a call. */
interface CallContext {
  /** `<entity>/<project>`. */
  readonly projectId: string;
  /** The number of the conversation, from 0. */
  readonly conversation: number;
  readonly thread: string;
  readonly trace: string;
  /** The id of the turn's root call, which is the parent of every other call of the turn. */
  readonly turn: string;
}

/** What a call did and when. */
interface CallWork {
  /** The name of the operation, without project and version. */
  readonly name: string;
  readonly id: string;
  /** UTC microseconds since 1970. */
  readonly startedAt: number;
  /** UTC microseconds since 1970. */
  readonly endedAt: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Null if the call failed. */
  readonly output: unknown;
  /** Null by default: the call succeeded. */
  readonly exception?: string | null;
  /** Empty by default. */
  readonly summary?: Readonly<Record<string, unknown>>;
}

/** Formats UTC microseconds since 1970 as ISO 8601 with six decimals; `Date` has only three. */
const microTime = (micros: number): string => {
  const millis = Math.floor(micros / 1000);
  return `${new Date(millis).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
};

/**
 * The ref of an operation. A client puts the digest of its code at the end; here 43 characters come
 * from the name.
 */
const opRef = (projectId: string, name: string): string =>
  `svc:///${projectId}/op/${name}:${Buffer.from(name).toString('hex').padEnd(43, '0').slice(0, 43)}`;

/**
 * Makes the start and end of the call that did `work` in `context`, as `/call/upsert_batch` accepts
 * them. The turn's root call has no parent.
 */
const tracedCall = (
  { projectId, conversation, thread, trace, turn }: CallContext,
  { name, id, startedAt, endedAt, inputs, output, exception = null, summary = {} }: CallWork,
) => ({
  start: {
    project_id: projectId,
    id,
    op_name: opRef(projectId, name),
    display_name: null,
    trace_id: trace,
    parent_id: id === turn ? null : turn,
    thread_id: thread,
    turn_id: turn,
    started_at: microTime(startedAt),
    attributes: { env: 'shop', conversation } as Readonly<Record<string, unknown>>,
    inputs,
  },
  end: { project_id: projectId, id, ended_at: microTime(endedAt), output, exception, summary },
});

/** A call's start and end. */
export type TracedCall = ReturnType<typeof tracedCall>;

/** What all calls of a conversation share. */
type ConversationContext = Omit<CallContext, 'trace' | 'turn'>;

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
      name: `tool.${name}`,
      id,
      startedAt,
      endedAt,
      inputs,
      output: fails ? null : result,
      exception: fails ? toolFailure : null,
    });
  }
}

interface TraceOptions {
  /** `<entity>/<project>`. */
  readonly projectId: string;
  /** The number of conversations. Each has four to thirteen turns. */
  readonly conversations: number;
  /** Any integer. */
  readonly seed?: number;
  /** The start of the first conversation, in ms since 1970. */
  readonly startMs?: number;
}

/** Makes the calls of the conversations, in order of their starts. */
export function* agentTraces({
  projectId,
  conversations,
  seed = 1,
  startMs = Date.UTC(2026, 9, 1),
}: TraceOptions): Generator<TracedCall> {
  const world = new World(seed, startMs);
  for (let number = 0; number < conversations; number++) {
    const thread = `support-${seed}-${number}`;
    const conversation = new Conversation(world, { projectId, conversation: number, thread });
    const turns = 3 + world.below(4) + world.below(7);
    for (let turn = 0; turn < turns; turn++) yield* conversation.turn();
    yield conversation.lastTurn();
  }
}
