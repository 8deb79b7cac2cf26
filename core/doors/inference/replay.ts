import { isJsonObject, type JsonObject, type JsonValue } from '../../../foundations/wire/index.ts';
import { toObjects } from './protocols/answer.ts';
import type { InferencePath } from './request.ts';

/*
 * Whole answers as the streams that they would have been. Texts come in one piece.
 */

const event = (data: JsonObject): string => `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`;

const chunk = (data: JsonObject): string => `data: ${JSON.stringify(data)}\n\n`;

const done = 'data: [DONE]\n\n';

/** The delta of a message: its tool calls have indices. */
const toDelta = (message: JsonValue | undefined): JsonObject => {
  if (!isJsonObject(message)) return {};
  const { tool_calls: calls, ...delta } = message;
  if (!Array.isArray(calls)) return delta;
  return {
    ...delta,
    tool_calls: toObjects(calls).map((call, index) => ({ index, ...call })),
  };
};

/** The chunks of chat completions and of text completions, the last of them with the usage if it is asked for. */
const chunks = ({ choices, usage, ...head }: JsonObject, withUsage: boolean): string[] => {
  const isChat = head.object === 'chat.completion';
  const common = { ...head, ...(isChat && { object: 'chat.completion.chunk' }) };
  const of = (choice: JsonObject): string =>
    chunk({ ...common, choices: [choice], ...(withUsage && { usage: null }) });
  return [
    ...toObjects(choices).flatMap(({ message, finish_reason, ...choice }) =>
      isChat
        ? [
            of({ ...choice, delta: toDelta(message), finish_reason: null }),
            of({ index: choice.index ?? 0, delta: {}, finish_reason: finish_reason ?? null }),
          ]
        : [of({ ...choice, finish_reason: finish_reason ?? null })],
    ),
    ...(withUsage && usage !== undefined ? [chunk({ ...common, choices: [], usage })] : []),
    done,
  ];
};

/** What of a block comes in deltas, and the block as it begins. */
const blockStart = (block: JsonObject): readonly [start: JsonObject, deltas: readonly JsonObject[]] => {
  switch (block.type) {
    case 'text': {
      const { citations, ...rest } = block;
      return [
        { ...rest, text: '' },
        [
          ...toObjects(citations).map((citation) => ({ type: 'citations_delta', citation })),
          { type: 'text_delta', text: block.text ?? '' },
        ],
      ];
    }
    case 'thinking':
      return [
        { ...block, thinking: '', signature: '' },
        [
          { type: 'thinking_delta', thinking: block.thinking ?? '' },
          { type: 'signature_delta', signature: block.signature ?? '' },
        ],
      ];
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return [
        { ...block, input: {} },
        [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input ?? {}) }],
      ];
    default:
      return [block, []];
  }
};

/** The events of Anthropic's Messages. */
const messageEvents = (answer: JsonObject): string[] => {
  const { content, stop_reason, stop_sequence, usage, context_management, ...head } = answer;
  const counts = isJsonObject(usage) ? usage : {};
  return [
    event({
      type: 'message_start',
      message: {
        ...head,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...counts, output_tokens: 0 },
      },
    }),
    ...toObjects(content).flatMap((block, index) => {
      const [content_block, deltas] = blockStart(block);
      return [
        event({ type: 'content_block_start', index, content_block }),
        ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
        event({ type: 'content_block_stop', index }),
      ];
    }),
    event({
      type: 'message_delta',
      delta: { stop_reason: stop_reason ?? null, stop_sequence: stop_sequence ?? null },
      usage: counts,
      ...(context_management !== undefined && { context_management }),
    }),
    event({ type: 'message_stop' }),
  ];
};

/** The events of a part of an item, between its beginning and its end. */
const partEvents = (place: JsonObject, part: JsonObject): JsonObject[] => {
  const [field, name] = part.type === 'refusal' ? ['refusal', 'refusal'] : ['text', 'output_text'];
  const text = part[field];
  if (typeof text !== 'string') return [];
  return [
    {
      type: `response.${name}.delta`,
      ...place,
      delta: text,
      ...(name === 'output_text' && { logprobs: [] }),
    },
    {
      type: `response.${name}.done`,
      ...place,
      [field]: text,
      ...(name === 'output_text' && { logprobs: [] }),
    },
  ];
};

/** The events between the beginning of an item and its end, and the item as it begins. */
const itemEvents = (item: JsonObject, output_index: number): readonly [JsonObject, JsonObject[]] => {
  const place = { item_id: item.id ?? '', output_index };
  switch (item.type) {
    case 'message':
      return [
        { ...item, status: 'in_progress', content: [] },
        toObjects(item.content).flatMap((part, content_index) => {
          const at = { ...place, content_index };
          const begun = part.type === 'refusal' ? { ...part, refusal: '' } : { ...part, text: '' };
          return [
            { type: 'response.content_part.added', ...at, part: begun },
            ...partEvents(at, part),
            { type: 'response.content_part.done', ...at, part },
          ];
        }),
      ];
    case 'function_call':
      return [
        { ...item, status: 'in_progress', arguments: '' },
        [
          { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments ?? '' },
          {
            type: 'response.function_call_arguments.done',
            ...place,
            name: item.name ?? '',
            arguments: item.arguments ?? '',
          },
        ],
      ];
    case 'reasoning':
      return [
        { ...item, summary: [] },
        toObjects(item.summary).flatMap((part, summary_index) => {
          const at = { ...place, summary_index };
          const text = part.text ?? '';
          return [
            { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
            { type: 'response.reasoning_summary_text.delta', ...at, delta: text },
            { type: 'response.reasoning_summary_text.done', ...at, text },
            { type: 'response.reasoning_summary_part.done', ...at, part },
          ];
        }),
      ];
    default:
      return [item, []];
  }
};

/** The events of a response. */
const responseEvents = (answer: JsonObject): string[] => {
  const begun = { ...answer, status: 'in_progress', output: [], usage: null };
  const data: JsonObject[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...toObjects(answer.output).flatMap((item, output_index) => {
      const [start, between] = itemEvents(item, output_index);
      return [
        { type: 'response.output_item.added', output_index, item: start },
        ...between,
        { type: 'response.output_item.done', output_index, item },
      ];
    }),
    { type: 'response.completed', response: answer },
  ];
  return data.map((each, sequence_number) => event({ ...each, sequence_number }));
};

/**
 * Makes the stream of a whole answer.
 *
 * @param withUsage whether a stream of chunks ends with the usage
 * @returns the text of its events; undefined if answers of the path are not streamed
 */
export const replay = (path: InferencePath, answer: JsonObject, withUsage: boolean): string | undefined => {
  switch (path) {
    case '/chat/completions':
    case '/completions':
      return chunks(answer, withUsage).join('');
    case '/messages':
      return messageEvents(answer).join('');
    case '/responses':
      return responseEvents(answer).join('');
    default:
      return undefined;
  }
};
