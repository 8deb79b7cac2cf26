/**
 * Makes traces as a support agent leaves them: conversations of several turns, each turn a trace of model calls, which carry the whole
 * conversation so far, and of tool calls. The same seed makes the same traces, to the byte.
 */

/** A call's start and end as `/call/upsert_batch` takes them. */
export interface TracedCall {
  readonly start: {
    readonly project_id: string;
    readonly id: string;
    readonly op_name: string;
    readonly display_name: string | null;
    readonly trace_id: string;
    readonly parent_id: string | null;
    readonly thread_id: string;
    readonly turn_id: string;
    readonly started_at: string;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly inputs: Readonly<Record<string, unknown>>;
  };
  readonly end: {
    readonly project_id: string;
    readonly id: string;
    readonly ended_at: string;
    readonly output: unknown;
    readonly exception: string | null;
    readonly summary: Readonly<Record<string, unknown>>;
  };
}

/** What to make. */
export interface TraceOptions {
  /** `<entity>/<project>`. */
  readonly projectId: string;
  /** How many conversations, of two to eight turns each. */
  readonly conversations: number;
  /** Any integer. */
  readonly seed?: number;
  /** When the first conversation starts, in milliseconds since 1970. */
  readonly startMs?: number;
}

/** A random number generator from a seed (mulberry32): numbers from 0 up to, not including, 1. */
const randomFrom = (seed: number) => {
  let state = seed >>> 0;
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const topics = [
  'a flat tyre',
  'a creaking crank',
  'a late parcel',
  'a wrong invoice',
  'worn brake pads',
  'a frame size',
];
const openings = [
  'Hello, I need help with',
  'Hi! Could you look into',
  'Good morning – it is about',
  '你好, this is about',
];
const details = [
  'I ordered it last week and it still has not arrived at my address.',
  'The mechanic told me that the part is out of stock until next month.',
  'My order number is on the invoice that you sent me by mail.',
  'I would rather have a refund to the card that I paid with.',
  'Could you check whether the warranty covers this kind of damage?',
  'Yes, please go ahead; that price is fine with me.',
];
const replies = [
  'I have found your order and can see what happened to it.',
  'To go on I need your order number and the name on the account.',
  'The part is covered by the warranty, so the repair costs you nothing.',
  'I have booked the repair for Thursday at nine in the morning.',
  'The refund of 89.90 € is on its way and takes three to five days.',
];
const tools = ['find_order', 'check_stock', 'book_repair', 'refund_payment', 'think'];
const rules = [
  'confirm the name and the order number before you look anything up',
  'never promise a delivery date that the stock system does not show',
  'list every change and its price, and wait for an explicit yes, before you book a repair or a refund',
  'refund to the payment method of the order, and to no other',
  'make one tool call at a time, and do not answer the customer in the same message',
  'hand over to a colleague when the request is outside what your tools can do',
  'repairs under warranty are free within 24 months of purchase, wear and tear excluded',
  'orders that have left the warehouse cannot be changed, only returned within 30 days',
];
const policy = `# Bicycle shop support policy\n\n${rules
  .flatMap((rule, i) => [
    `## Rule ${i + 1}\n\nAs a support agent you must ${rule}. This holds for orders from the web shop, by telephone and from the branches alike; where a customer insists, explain the rule in one sentence and offer what the rule allows instead.`,
    `Example ${i + 1}: a customer writes about ${topics[i % topics.length]}. First you ${rule}; then you say in plain words what you found, what it costs, and by when it will be done. Do not give opinions, and do not tell what was not asked for.\n`,
  ])
  .join('\n')}`;

const microTime = (micros: number): string => {
  const millis = Math.floor(micros / 1000);
  return `${new Date(millis).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
};

interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: 'function';
    readonly function: object;
  }[];
}

/** Makes the calls of the conversations, in order of their starts. */
export function* agentTraces({
  projectId,
  conversations,
  seed = 1,
  startMs = Date.UTC(2026, 9, 1),
}: TraceOptions): Generator<TracedCall> {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  let now = startMs * 1000;
  const pass = (mostMs: number): number => {
    now += 1 + Math.floor(random() * mostMs * 1000);
    return now;
  };
  /** A UUIDv7 of the present moment. */
  const newId = (): string => {
    const time = Math.floor(now / 1000)
      .toString(16)
      .padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${pick(['8', '9', 'a', 'b'])}${hex(3)}-${hex(12)}`;
  };
  const op = (name: string): string =>
    `svc:///${projectId}/op/${name}:${Buffer.from(name).toString('hex').padEnd(43, '0').slice(0, 43)}`;

  for (let conversation = 0; conversation < conversations; conversation++) {
    const thread = `support-${seed}-${conversation}`;
    const history: Message[] = [{ role: 'system', content: policy }];
    const turns = 2 + Math.floor(random() * 7);
    for (let turn = 0; turn < turns; turn++) {
      const calls: TracedCall[] = [];
      const trace = newId();
      const turnId = newId();
      const said = turn === 0 ? `${pick(openings)} ${pick(topics)}. ${pick(details)}` : pick(details);
      history.push({ role: 'user', content: said });

      const call = (
        name: string,
        id: string,
        startedAt: number,
        inputs: Readonly<Record<string, unknown>>,
        rest: Partial<TracedCall['end']>,
      ): TracedCall => ({
        start: {
          project_id: projectId,
          id,
          op_name: op(name),
          display_name: null,
          trace_id: trace,
          parent_id: id === turnId ? null : turnId,
          thread_id: thread,
          turn_id: turnId,
          started_at: microTime(startedAt),
          attributes: { env: 'shop', conversation },
          inputs,
        },
        end: {
          project_id: projectId,
          id,
          ended_at: microTime(now),
          output: null,
          exception: null,
          summary: {},
          ...rest,
        },
      });

      const turnStart = pass(20_000);
      const rounds = 1 + Math.floor(random() * 2.4);
      for (let round = 0; round < rounds; round++) {
        const isLast = round === rounds - 1;
        const modelStart = pass(10);
        const id = newId();
        const messages = [...history];
        pass(4000);
        const tool = pick(tools);
        const answer: Message = isLast
          ? { role: 'assistant', content: `${pick(replies)} ${pick(replies)}` }
          : {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  id: `call_${hex(24)}`,
                  type: 'function',
                  function: { name: tool, arguments: `{"order": "W${hex(6)}"}` },
                },
              ],
            };
        const promptTokens = Math.ceil(JSON.stringify(messages).length / 4.4);
        const completionTokens = Math.ceil(JSON.stringify(answer).length / 4.4);
        const usage = {
          'gpt-4o': {
            prompt_tokens: promptTokens,
            completion_tokens: completionTokens,
            requests: 1,
            total_tokens: promptTokens + completionTokens,
          },
        };
        calls.push(
          call(
            'openai.chat.completions.create',
            id,
            modelStart,
            { model: 'gpt-4o', temperature: 0, messages },
            {
              output: {
                model: 'gpt-4o',
                choices: [{ index: 0, finish_reason: isLast ? 'stop' : 'tool_calls', message: answer }],
              },
              summary: { usage },
            },
          ),
        );
        history.push(answer);
        if (isLast) break;
        const toolStart = pass(5);
        const toolId = newId();
        pass(200);
        const fails = random() < 0.04;
        const result = `{"status": "${pick(['shipped', 'open', 'returned'])}", "customer": "customer_${hex(4)}", "total": ${Math.floor(random() * 20_000) / 100}}`;
        calls.push(
          call(
            `tool.${tool}`,
            toolId,
            toolStart,
            { order: `W${hex(6)}` },
            {
              output: fails ? null : result,
              exception: fails ? 'OrderNotFound: no such order\n  at find_order (tools.py:41)' : null,
            },
          ),
        );
        history.push({ role: 'tool', content: result });
      }
      pass(2);
      const { content } = history.at(-1) ?? { content: null };
      yield call('agent.turn', turnId, turnStart, { message: said }, { output: content });
      yield* calls;
    }
  }
}
