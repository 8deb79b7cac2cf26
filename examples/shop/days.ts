import {
  type Assistant,
  type Conversation,
  conversations,
  createRandom,
  type DemoCall,
  embedding,
  type Message,
  models,
  newId,
  type Step,
  type ToolCall,
  type Turn,
  tokensIn,
  toUsage,
} from './conversations.ts';

const hourMs = 3_600_000;

/** The name of the prompt that answers are made of. */
export const promptName = 'shop-support';

/** The versions of the prompt, the newest last: what the system message says. */
export const prompts = [
  'You help customers of {shop}.',
  'You help customers of {shop}.\nAsk for the order number before you look anything up.',
  'You help customers of {shop}.\nAsk for the order number before you look anything up.\nAnswer in Markdown, short and friendly. Never promise a date that no tool gave you.',
] as const;

const shop = 'a bicycle shop';

/** The versions of the prompt and of the agents that the releases of the two days had. */
const releases = [
  { prompt: prompts[1].replace('{shop}', shop), release: '2.3.0', version: 1, agent: '6' },
  { prompt: prompts[2].replace('{shop}', shop), release: '2.4.0', version: 2, agent: '7' },
] as const;
type Release = (typeof releases)[number];
const newest = releases[1];

/** Who writes to the shop. */
const customers = ['mia', 'noah', 'lina', 'omar', 'eva', 'jon', 'ida'] as const;

const toAttributes = ({ release, agent }: Release, name: Assistant, customer: string) => ({
  release,
  environment: 'production',
  user: { id: customer },
  agent: { name, version: agent },
});

/** What calls of models say: they name their prompt, as clients do. */
const toModelAttributes = (release: Release, name: Assistant, customer: string) => ({
  ...toAttributes(release, name, customer),
  kind: 'model',
  prompt: { name: promptName, version: String(release.version) },
});

/** Writes the calls of one conversation, while the clock goes on. */
class Teller {
  readonly calls: DemoCall[] = [];
  readonly #messages: Message[] = [];
  readonly #conversation: Conversation;
  readonly #thread: string;
  readonly #random: () => number;
  /** How much slower models are: they were faster this morning. */
  readonly #slower: number;
  readonly #release: Release;
  readonly #attributes: ReturnType<typeof toAttributes>;
  #now: number;

  constructor(
    conversation: Conversation,
    thread: string,
    start: number,
    slower: number,
    release: Release,
    customer: string,
    random: () => number,
  ) {
    this.#conversation = conversation;
    this.#thread = thread;
    this.#now = start;
    this.#slower = slower;
    this.#release = release;
    this.#attributes = toAttributes(release, conversation.assistant, customer);
    this.#random = random;
  }

  /** A turn, and the time until the next. */
  turn(turn: Turn): void {
    const { assistant, topic } = this.#conversation;
    const id = newId();
    const start = this.#now;
    const place = { trace: id, thread: this.#thread, turn: id };
    this.#messages.push({ by: 'user', text: turn.user, photo: turn.photo ?? false });
    for (const step of turn.steps ?? []) this.#step(step, place);
    if (this.#release === newest) for (const step of turn.newSteps ?? []) this.#step(step, place);
    this.#model(turn.answer, undefined, place, turn.fails);
    this.#messages.push({ by: 'assistant', text: turn.answer });
    const ends = turn.fails === undefined ? { output: turn.answer } : { exception: turn.fails };
    this.calls.push({
      ...place,
      id,
      parent: null,
      op: `${assistant}.turn`,
      name: `${assistant}.turn`,
      start,
      ms: this.#now - start + 4,
      attributes: { ...this.#attributes, kind: 'agent', topic },
      inputs: { message: turn.user },
      ...ends,
    });
    this.#now += 20_000 + Math.round(this.#random() * 60_000);
  }

  /** The support's model has what was said before in its cache; nobody has set that up for the advisor's. */
  #usage(prompt: number, completion: number): object {
    const { assistant } = this.#conversation;
    const cached = assistant === 'support' && this.#messages.length > 2 ? Math.floor(prompt * 0.6) : 0;
    return toUsage(models[assistant].name, prompt, completion, cached);
  }

  #step(step: Step, place: Pick<DemoCall, 'trace' | 'thread' | 'turn'>): void {
    const toolCall: ToolCall =
      'search' in step
        ? { id: `call_${newId().slice(0, 8)}`, tool: 'search_manual', args: { query: step.search } }
        : { id: `call_${newId().slice(0, 8)}`, tool: step.tool, args: step.args };
    this.#model('', toolCall, place);
    this.#messages.push({ by: 'assistant', text: '', toolCall });
    const start = this.#now;
    const id = newId();
    const tool = { ...place, id, parent: place.turn, op: toolCall.tool, start, inputs: toolCall.args };
    if ('search' in step) this.#embed(step.search, place, id);
    this.#now += 30 + Math.round(this.#random() * 220);
    const kind = 'search' in step ? { kind: 'retriever' } : { kind: 'tool', tool: { name: toolCall.tool } };
    const done = { ...tool, ms: this.#now - start, attributes: { ...this.#attributes, ...kind } };
    if ('error' in step) {
      this.calls.push({ ...done, exception: `${step.error}\n    at findOrder (support/orders.ts:17:11)` });
      this.#messages.push({ by: 'tool', id: toolCall.id, result: { error: step.error } });
      return;
    }
    const output = 'search' in step ? step.hits : step.result;
    this.calls.push({ ...done, output });
    this.#messages.push({ by: 'tool', id: toolCall.id, result: output });
  }

  #embed(text: string, place: Pick<DemoCall, 'trace' | 'thread' | 'turn'>, parent: string): void {
    const ms = 40 + Math.round(this.#random() * 60);
    const kind = { ...this.#attributes, kind: 'embedding' };
    this.calls.push({
      ...place,
      id: newId(),
      parent,
      start: this.#now,
      ms,
      attributes: kind,
      ...embedding(text),
    });
    this.#now += ms;
  }

  #model(
    text: string,
    toolCall: ToolCall | undefined,
    place: Pick<DemoCall, 'trace' | 'thread' | 'turn'>,
    fails?: string,
  ): void {
    const model = models[this.#conversation.assistant];
    const inputs = model.inputs(this.#release.prompt, this.#messages);
    const output = model.output(text, toolCall);
    const tokens = tokensIn(text) + (toolCall ? tokensIn(toolCall.args) + 12 : 0);
    const noise = 0.7 + this.#random() * 0.8;
    const ms = Math.round((model.ms.base + model.ms.perToken * tokens) * noise * this.#slower);
    const ends =
      fails === undefined
        ? { output, summary: this.#usage(Math.min(tokensIn(inputs), 2400), tokens) }
        : { exception: fails };
    this.calls.push({
      ...place,
      id: newId(),
      parent: place.turn,
      op: model.op,
      start: this.#now,
      ms,
      attributes: toModelAttributes(this.#release, this.#conversation.assistant, this.#attributes.user.id),
      inputs,
      ...ends,
    });
    this.#now += ms + 6;
  }
}

/** A turn that has started, and whose model still thinks. */
const running = (now: number): DemoCall[] => {
  const id = newId();
  const place = { trace: id, thread: 'shop-now', turn: id };
  const text = 'Do you have winter tyres for 28 inches?';
  const { op, inputs } = models.support;
  const messages: Message[] = [{ by: 'user', text, photo: false }];
  const attributes = toAttributes(newest, 'support', 'kim');
  const own = { attributes: { ...attributes, kind: 'agent', topic: 'tyres' }, inputs: { message: text } };
  const model = {
    attributes: toModelAttributes(newest, 'support', 'kim'),
    inputs: inputs(newest.prompt, messages),
  };
  return [
    {
      ...place,
      ...own,
      id,
      parent: null,
      op: 'support.turn',
      name: 'support.turn',
      start: now - 9000,
      ms: null,
    },
    { ...place, ...model, id: newId(), parent: id, op, start: now - 8990, ms: null },
  ];
};

/** How many conversations begin in each hour of the two days before now, the oldest first. */
const perHour = [
  0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 2, 0, 1, 1, 2, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 2, 2, 1, 2, 1,
  2, 2, 1, 1, 2, 1, 1, 0, 1, 2, 2, 2,
];

/** Since how many hours the models are slower. */
const slowHours = 14;

/**
 * The calls of two days: conversations over the hours before now, and a turn that still runs. Of
 * late the models are slower, so that the overview has something to tell.
 */
export const daysOfCalls = (now: number): DemoCall[] => {
  const random = createRandom(7);
  const calls: DemoCall[] = [];
  let number = 0;
  for (const [hour, count] of perHour.entries()) {
    const slower = hour < perHour.length - slowHours ? 1 : 1.6;
    for (let at = 0; at < count; at++) {
      const conversation = conversations[number % conversations.length];
      if (!conversation) continue;
      const start = now - (perHour.length - hour) * hourMs + Math.round(random() * (hourMs - 12 * 60_000));
      const teller = new Teller(
        conversation,
        `shop-${conversation.topic}-${number + 1}`,
        start,
        slower,
        releases[hour < perHour.length / 2 ? 0 : 1],
        customers[number % customers.length] ?? 'mia',
        random,
      );
      for (const turn of conversation.turns) teller.turn(turn);
      calls.push(...teller.calls);
      number++;
    }
  }
  return [...calls, ...running(now)];
};

/** What people thought of the answers: every third turn has something. */
const opinions = [
  { feedback_type: 'thumbs', payload: { up: true } },
  { feedback_type: 'thumbs', payload: { up: false, note: 'The table has no tracking number.' } },
  { feedback_type: 'score', payload: { score: 0.9 } },
  { feedback_type: 'note', payload: { note: 'Good tone. Keep the list short.' } },
  { feedback_type: 'thumbs', payload: { up: true, note: 'Solved in one turn' } },
  { feedback_type: 'score', payload: { score: 0.4 } },
  { feedback_type: 'correction', payload: { correction: 'Returns take 14 days, not 30.' } },
] as const;

/** Feedback on the finished turns of a day. */
export const feedbackOn = (project: string, calls: readonly DemoCall[]): object[] =>
  calls
    .filter(({ parent, ms }) => parent === null && ms !== null)
    .filter((_, at) => at % 3 === 1)
    .map(({ id }, at) => ({
      project_id: project,
      svc_ref: `svc:///${project}/call/${id}`,
      creator: at % 2 === 0 ? 'Ada' : 'Grace',
      ...opinions[at % opinions.length],
    }));

/** What an evaluator of the shop's own says of answers of models: the newer version of the prompt does better. */
export const verdictsOn = (project: string, calls: readonly DemoCall[]): object[] => {
  const answers = new Map(
    calls
      .filter(({ attributes, output }) => 'prompt' in attributes && output !== undefined)
      .map((call) => [call.trace, call]),
  );
  return [...answers.values()].map(({ id, attributes }, at) => {
    const { release } = attributes as Release;
    const value = release === newest.release ? at % 8 !== 3 : at % 3 !== 1;
    const reason = value ? 'It answers what was asked.' : 'It does not say what happens next.';
    return {
      project_id: project,
      svc_ref: `svc:///${project}/call/${id}`,
      feedback_type: 'evaluation.to-the-point',
      payload: { value, reason },
    };
  });
};
