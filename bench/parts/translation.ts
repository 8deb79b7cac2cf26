/**
 * What translating takes of the processor: each event of a streamed answer, from the text of its data to
 * the text for the client, and each request, of every pair of APIs. Nothing is sent.
 */
import { type Api, type ClientApi, translate } from '../../core/doors/inference/protocols/index.ts';
import { type JsonObject, parseJson } from '../../foundations/wire/index.ts';
import type { BenchPart } from '../harness/bench.ts';
import { type Figure, measured } from '../harness/figures.ts';
import { cpuEach } from '../harness/stores.ts';

/** The most that an event may take, in ms. */
const mostEach = 0.15;
const eventsEach = 200;
const answersEach = 50;
/** Rounds that are not measured: V8 optimizes in them. */
const warmUps = 5;
const rounds = 25;

type Event = readonly [name: string | undefined, data: string];

const model = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
/** About four tokens, as models send them. */
const piece = 'and then it rained ';

const event = (data: JsonObject, name?: string): Event => [name, JSON.stringify(data)];
const times = (one: (i: number) => Event): Event[] => Array.from({ length: eventsEach }, (_, i) => one(i));

const ofMessages = (data: JsonObject): Event => event(data, String(data.type));

/** An answer of half text and half arguments of a tool, as each API streams it. */
const streams: Readonly<Record<Api, readonly Event[]>> = {
  messages: [
    ofMessages({
      type: 'message_start',
      message: { id: 'msg_1', model, content: [], usage: { input_tokens: 9, output_tokens: 1 } },
    }),
    ofMessages({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ofMessages({
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
    }),
    ...times((i) =>
      ofMessages({
        type: 'content_block_delta',
        index: i % 2,
        delta:
          i % 2 ? { type: 'input_json_delta', partial_json: piece } : { type: 'text_delta', text: piece },
      }),
    ),
    ofMessages({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 800 } }),
    ofMessages({ type: 'message_stop' }),
  ],
  converse: [
    event({ role: 'assistant' }, 'messageStart'),
    event({ contentBlockIndex: 1, start: { toolUse: { toolUseId: 't', name: 'f' } } }, 'contentBlockStart'),
    ...times((i) =>
      event(
        {
          contentBlockIndex: i % 2,
          delta: i % 2 ? { toolUse: { input: piece } } : { text: piece },
          p: 'abcdefghijklm',
        },
        'contentBlockDelta',
      ),
    ),
    event({ stopReason: 'tool_use' }, 'messageStop'),
    event({ usage: { inputTokens: 9, outputTokens: 800, totalTokens: 809 } }, 'metadata'),
  ],
  chat: [
    ...times((i) => {
      const call = { index: 0, id: 't', function: { name: 'f', arguments: piece } };
      const delta = i < eventsEach / 2 ? { content: piece } : { tool_calls: [call] };
      const choices = [{ index: 0, delta, finish_reason: null }];
      return event({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices });
    }),
    event({ id: 'chatcmpl-1', model, choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }),
    [undefined, '[DONE]'],
  ],
};

const directions: readonly (readonly [ClientApi, Api])[] = [
  ['chat', 'messages'],
  ['chat', 'converse'],
  ['messages', 'chat'],
  ['messages', 'converse'],
];

/** A conversation of an agent: 30 turns, each with a call of a tool and 2 KB of what it gave. */
const turns = Array.from({ length: 30 }, (_, i) => ({ id: `t${i}`, text: piece.repeat(100) }));
const requests: Readonly<Record<ClientApi, string>> = {
  chat: JSON.stringify({
    stream: true,
    messages: [
      { role: 'system', content: piece },
      { role: 'user', content: piece },
      ...turns.flatMap(({ id, text }) => [
        {
          role: 'assistant',
          content: piece,
          tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{"path":"/a"}' } }],
        },
        { role: 'tool', tool_call_id: id, content: text },
      ]),
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
  }),
  messages: JSON.stringify({
    stream: true,
    max_tokens: 1000,
    system: piece,
    messages: [
      { role: 'user', content: piece },
      ...turns.flatMap(({ id, text }) => [
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: { path: '/a' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] },
      ]),
    ],
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
  }),
};

const translation = (from: ClientApi, to: Api) => {
  const made = translate(from, to, parseJson(requests[from]) as JsonObject, model);
  if (!made) throw new Error(`${from} and ${to} are one`);
  return made;
};

const streamAll = async (from: ClientApi, to: Api): Promise<void> => {
  const made = translation(from, to);
  for (let i = 0; i < answersEach; i++) {
    const events = made.events();
    for (const [name, data] of streams[to]) events.event(name, data);
    if (!events.isComplete) throw new Error('the answer is not complete');
  }
};

const requestAll = async (from: ClientApi, to: Api): Promise<void> => {
  for (let i = 0; i < answersEach; i++) JSON.stringify(translation(from, to).body);
};

const run = async (): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [from, to] of directions) {
    const each: number[] = [];
    const request: number[] = [];
    for (let round = 0; round < warmUps + rounds; round++) {
      each.push(await cpuEach(() => streamAll(from, to), answersEach * streams[to].length));
      request.push(await cpuEach(() => requestAll(from, to), answersEach));
    }
    figures.push(
      measured(`${to} for ${from}: an event`, 'ms', each.slice(warmUps), { atMost: mostEach }),
      measured(`${from} to ${to}: a request`, 'ms', request.slice(warmUps)),
    );
  }
  return figures;
};

/** CPU time of translating requests and events. */
export const translationPart: BenchPart = {
  name: 'translation',
  title: `CPU time of translating answers of ${eventsEach} events, and requests of 30 turns with 60 KB`,
  run,
};
