import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  plainNumber,
} from '../../../../foundations/wire/index.ts';
import { base64OfText, parseDataUrl, textOfBase64, toDataUrl } from './data-url.ts';
import { type Cached, readCacheControl, readThinkingConfig } from './messages-request.ts';
import { isClaude, toEffort } from './models.ts';
import {
  type ContentPart,
  type DocumentPart,
  efforts,
  type Format,
  type ImagePart,
  isEffort,
  joinTurns,
  onlyText,
  type Prompt,
  type Tool,
  type ToolCallPart,
  type ToolChoice,
  type ToolResultPart,
  type Turn,
} from './prompt.ts';
import { Fields, isEmptyList, type Refusals, type Said } from './refusals.ts';

/*
 * Requests of OpenAI's Chat Completions API, by the types of the package `openai` 7.55.0. Beside them are
 * read, as other gateways do: `thinking`, `top_k`, `cache_control` of parts, and `reasoning_content` and
 * `thinking_blocks` of messages.
 */

/** The number of a value, for comparing; NaN for what is none. */
const amount = (value: JsonValue): number => {
  const plain = plainNumber(value);
  return typeof plain === 'number' ? plain : Number.NaN;
};

const isZero = (value: JsonValue): boolean => amount(value) === 0;
const isOne = (value: JsonValue): boolean => amount(value) === 1;
const isFalse = (value: JsonValue): boolean => value === false;
const isEmptyObject = (value: JsonValue): boolean => isJsonObject(value) && Object.keys(value).length === 0;

/** What says nothing to the answer: what the provider stores, how it caches, and how it streams. */
const ignored = [
  'metadata',
  'prediction',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'store',
];

/** Whether the prompt up to here is to be cached, in Anthropic's words or OpenAI's. */
const readCache = (fields: Fields): Cached => {
  const breakpoint = fields.object('prompt_cache_breakpoint');
  const cached = readCacheControl(fields);
  if (!breakpoint) return cached;
  breakpoint.expect('mode', (mode) => mode === 'explicit');
  breakpoint.expect('ttl', () => false, 'send cache_control with a ttl of 5m or 1h');
  breakpoint.end();
  return { cache: { ttl: undefined }, ...cached };
};

const readImage = (fields: Fields): ImagePart[] => {
  const image = fields.requiredObject('image_url');
  const url = image?.required('url') ?? '';
  // How closely to look is a setting of OpenAI's models alone.
  image?.ignore('detail');
  image?.end();
  const data = parseDataUrl(url);
  if (url.startsWith('data:') && !data) fields.refusals.invalid(fields.at('image_url'), 'is no data: URL');
  return [{ kind: 'image', at: fields.place, source: data ?? { url }, ...readCache(fields) }];
};

const readFile = (fields: Fields): DocumentPart[] => {
  const file = fields.requiredObject('file');
  if (!file) return [];
  if (file.text('file_id') !== undefined)
    file.refuse('file_id', 'it is a file at another provider; send file_data');
  const title = file.text('filename');
  const data = parseDataUrl(file.text('file_data') ?? '');
  if (!data) file.refusals.invalid(file.at('file_data'), 'should be a data: URL with a media type');
  file.end();
  if (!data) return [];
  const isText = data.mediaType === 'text/plain';
  const source = isText ? { text: textOfBase64(data.data) } : data;
  return [{ kind: 'document', at: fields.place, source, title, ...readCache(fields) }];
};

const readPart = (fields: Fields): ContentPart[] => {
  const at = fields.place;
  const type = fields.required('type');
  switch (type) {
    case 'text':
      return [{ kind: 'text', at, text: fields.required('text'), ...readCache(fields) }];
    case 'refusal':
      return [{ kind: 'text', at, text: fields.required('refusal') }];
    case 'image_url':
      return readImage(fields);
    case 'file':
      return readFile(fields);
    case 'input_audio': {
      const audio = fields.requiredObject('input_audio');
      const part = { data: audio?.required('data') ?? '', format: audio?.required('format') ?? '' };
      audio?.end();
      return [{ kind: 'audio', at, ...part, ...readCache(fields) }];
    }
    default:
      fields.refuse('type', `parts of type ${type}`);
      return [];
  }
};

/** The parts of a message's content. Empty texts say nothing, and some APIs refuse them. */
const readContent = (fields: Fields): ContentPart[] => {
  const content = fields.get('content');
  const cached = readCache(fields);
  if (content === undefined) return [];
  if (typeof content === 'string')
    return content === '' ? [] : [{ kind: 'text', at: fields.at('content'), text: content, ...cached }];
  const parts = fields.objects('content').flatMap((part) => {
    const read = readPart(part);
    part.end();
    return read;
  });
  const last = parts.pop();
  if (!last) return [];
  return [...parts, { ...last, ...cached }].filter((part) => part.kind !== 'text' || part.text !== '');
};

/** What a tool was called with. Models write nothing for no arguments. */
const readArguments = (fields: Fields): JsonValue => {
  const text = fields.text('arguments') ?? '';
  if (text.trim() === '') return {};
  try {
    const value = parseJson(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Said below.
  }
  fields.refuse('arguments', 'the arguments of a tool should be a JSON object');
  return {};
};

const readCall = (fields: Fields): ToolCallPart[] => {
  const id = fields.required('id');
  if ((fields.text('type') ?? 'function') !== 'function') {
    fields.refuse('type', 'only functions can be called');
    fields.ignore('custom');
    return [];
  }
  const called = fields.requiredObject('function');
  if (!called) return [];
  const part: ToolCallPart = {
    kind: 'call',
    at: fields.place,
    id,
    name: called.required('name'),
    input: readArguments(called),
    ...readCache(fields),
  };
  called.ignore('parsed_arguments');
  called.end();
  // Bookkeeping of clients that put streams together.
  fields.ignore('index');
  fields.end();
  return [part];
};

/** Reasoning as it was answered before. Without its blocks it has no signature, and nobody takes it back. */
const readThinking = (fields: Fields): ContentPart[] => {
  fields.ignore('reasoning_content', 'reasoning');
  return fields.objects('thinking_blocks').flatMap((block): ContentPart[] => {
    const at = block.place;
    const type = block.required('type');
    const part: ContentPart =
      type === 'redacted_thinking'
        ? { kind: 'redacted', at, data: block.required('data') }
        : {
            kind: 'thinking',
            at,
            text: block.text('thinking') ?? '',
            signature: block.text('signature') ?? '',
          };
    block.ignore('index');
    block.end();
    return [part];
  });
};

const readAssistant = (fields: Fields): ContentPart[] => {
  const refusal = fields.text('refusal');
  fields.expect('audio', () => false);
  fields.expect('function_call', () => false, 'use tool_calls');
  fields.expect('annotations', isEmptyList);
  // What OpenAI's SDK has read of the answer.
  fields.ignore('parsed');
  const refused: ContentPart[] = refusal ? [{ kind: 'text', at: fields.at('refusal'), text: refusal }] : [];
  return [
    ...readThinking(fields),
    ...readContent(fields),
    ...refused,
    ...fields.objects('tool_calls').flatMap(readCall),
  ];
};

const readResult = (fields: Fields): ToolResultPart => {
  const id = fields.required('tool_call_id');
  const parts = readContent(fields);
  // Some clients say the tool's name again.
  fields.ignore('name');
  const cache = parts.findLast((part) => part.cache)?.cache;
  return {
    kind: 'result',
    at: fields.place,
    id,
    parts: parts.map((part) => ({ ...part, cache: undefined })),
    isError: false,
    cache,
  };
};

const readTurn = (fields: Fields): Turn[] => {
  const role = fields.required('role');
  const at = fields.place;
  switch (role) {
    case 'system':
    case 'developer':
      return [{ role: 'system', at, parts: onlyText(readContent(fields), fields.refusals) }];
    case 'user':
      return [{ role, at, parts: readContent(fields) }];
    case 'assistant':
      return [{ role, at, parts: readAssistant(fields) }];
    case 'tool':
      return [{ role: 'user', at, parts: [readResult(fields)] }];
    default:
      fields.refuse('role', role === 'function' ? 'use the role tool' : undefined);
      fields.ignore('content', 'name');
      return [];
  }
};

const readTool = (fields: Fields): Tool[] => {
  if ((fields.text('type') ?? 'function') !== 'function') {
    fields.refuse('type', 'only functions can be tools');
    return [];
  }
  const tool = fields.requiredObject('function');
  if (!tool) return [];
  const strict = tool.flag('strict');
  const read: Tool = {
    at: fields.place,
    name: tool.required('name'),
    description: tool.text('description'),
    schema: tool.json('parameters') ?? {},
    strict: tool.said('strict', strict || undefined),
    ...readCache(fields),
  };
  tool.end();
  fields.end();
  return [read];
};

const modes: ReadonlyMap<string, ToolChoice> = new Map(
  Object.entries({
    auto: { kind: 'auto' },
    none: { kind: 'none' },
    required: { kind: 'any' },
  }),
);

interface Tools {
  readonly tools: readonly Tool[];
  readonly toolChoice?: Said<ToolChoice> | undefined;
}

/** The tools that `allowed_tools` leaves. */
const allowedTools = (choice: Fields, tools: readonly Tool[]): Tools => {
  const allowed = choice.requiredObject('allowed_tools');
  if (!allowed) return { tools };
  const names = new Set(
    allowed.objects('tools').map((tool) => {
      tool.expect('type', (type) => type === 'function');
      const name = tool.requiredObject('function')?.required('name');
      tool.end();
      return name;
    }),
  );
  const value = modes.get(allowed.required('mode'));
  if (!value) allowed.refusals.invalid(allowed.at('mode'), 'should be "auto" or "required"');
  allowed.end();
  choice.end();
  return {
    tools: tools.filter(({ name }) => names.has(name)),
    toolChoice: value && { at: choice.place, value },
  };
};

const readTools = (fields: Fields): Tools => {
  const tools = fields.objects('tools').flatMap(readTool);
  const choice = fields.get('tool_choice');
  if (choice === undefined) return { tools };
  const at = fields.at('tool_choice');
  const mode = typeof choice === 'string' ? modes.get(choice) : undefined;
  if (mode) return { tools, toolChoice: { at, value: mode } };
  if (!isJsonObject(choice)) {
    fields.refusals.invalid(at, 'should be "none", "auto", "required" or an object');
    return { tools };
  }
  const read = new Fields(choice, at, fields.refusals);
  const type = read.required('type');
  if (type === 'allowed_tools') return allowedTools(read, tools);
  if (type !== 'function') {
    read.refuse('type', 'only functions can be chosen');
    return { tools };
  }
  const name = read.requiredObject('function')?.required('name') ?? '';
  read.end();
  return { tools, toolChoice: { at, value: { kind: 'tool', name } } };
};

const readFormat = (fields: Fields): Said<Format> | undefined => {
  const format = fields.object('response_format');
  const type = format?.required('type');
  if (!format || type === 'text') return undefined;
  if (type !== 'json_schema') {
    format.refuse('type', 'give the schema of the answer: {"type": "json_schema", …}');
    return undefined;
  }
  const jsonSchema = format.object('json_schema');
  const schema = jsonSchema?.json('schema');
  if (!jsonSchema || !schema) {
    fields.refusals.invalid(format.at('json_schema'), 'should have a schema');
    return undefined;
  }
  const value = { schema, name: jsonSchema.text('name'), description: jsonSchema.text('description') };
  // The other APIs always hold to the schema.
  jsonSchema.ignore('strict');
  jsonSchema.end();
  format.end();
  return { at: format.place, value };
};

const readReasoning = (fields: Fields): Pick<Prompt, 'effort' | 'thinking'> => {
  const thinking = readThinkingConfig(fields);
  const effort = fields.text('reasoning_effort');
  if (effort === undefined) return { thinking };
  const at = fields.at('reasoning_effort');
  if (effort === 'none') return { thinking: thinking ?? { at, value: { type: 'disabled' } } };
  if (!isEffort(effort)) {
    fields.refusals.invalid(at, `should be none or one of ${efforts.join(', ')}`);
    return { thinking };
  }
  return {
    effort: { at, value: effort },
    thinking: thinking ?? { at, value: { type: 'asked' } },
  };
};

/** A number that differs from what holds without it. */
const unlessUsual = (fields: Fields, name: string, isUsual: (value: JsonValue) => boolean) => {
  const value = fields.number(name);
  return fields.said(name, value !== undefined && isUsual(value) ? undefined : value);
};

const readStops = (fields: Fields): Said<readonly string[]> | undefined => {
  const stop = fields.get('stop');
  const texts = typeof stop === 'string' ? [stop] : (fields.list('stop') ?? []);
  if (texts.every((text) => typeof text === 'string'))
    return texts.length > 0 ? { at: fields.at('stop'), value: texts } : undefined;
  fields.refusals.invalid(fields.at('stop'), 'should be a text or a list of texts');
  return undefined;
};

const splitSystem = (turns: readonly Turn[]): Pick<Prompt, 'system' | 'turns'> => {
  const first = turns.findIndex(({ role }) => role !== 'system');
  const [head, rest] = first < 0 ? [turns, []] : [turns.slice(0, first), turns.slice(first)];
  const system = head.flatMap(({ parts }) => parts.filter((part) => part.kind === 'text'));
  return { system, turns: joinTurns(rest.filter(({ parts }) => parts.length > 0)) };
};

/** Reads a request of Chat Completions. */
export const readChat = (body: JsonObject, model: string, refusals: Refusals): Prompt => {
  const fields = new Fields(body, ['body'], refusals);
  fields.ignore('model', 'stream', 'stream_options', ...ignored);
  for (const name of ['frequency_penalty', 'presence_penalty', 'top_logprobs']) fields.expect(name, isZero);
  fields.expect('n', isOne, 'ask once for each answer');
  fields.expect('logprobs', isFalse);
  fields.expect('logit_bias', isEmptyObject);
  fields.expect('seed', () => false, 'no answer can be had again by its seed');
  fields.expect('functions', isEmptyList, 'use tools');
  fields.expect('function_call', () => false, 'use tool_choice');
  fields.expect('modalities', (value) => JSON.stringify(value) === '["text"]');
  fields.expect('verbosity', (value) => value === 'medium');
  const turns = fields.objects('messages').flatMap((message) => {
    const read = readTurn(message);
    message.end();
    return read;
  });
  const tier = fields.text('service_tier');
  const longest =
    fields.said('max_completion_tokens', fields.number('max_completion_tokens')) ??
    fields.said('max_tokens', fields.number('max_tokens'));
  fields.ignore('max_tokens');
  const options = fields.json('stream_options') ?? {};
  // 1 is what all of OpenAI's and Anthropic's models take anyway, and newer ones take nothing else.
  const isUsual = isClaude(model) ? isOne : () => false;
  const prompt: Prompt = {
    model,
    ...splitSystem(turns),
    ...readTools(fields),
    ...readReasoning(fields),
    serial: fields.said('parallel_tool_calls', fields.flag('parallel_tool_calls') === false || undefined),
    maxTokens: longest,
    temperature: unlessUsual(fields, 'temperature', isUsual),
    topP: unlessUsual(fields, 'top_p', isUsual),
    topK: unlessUsual(fields, 'top_k', () => false),
    stops: readStops(fields),
    format: readFormat(fields),
    user: fields.text('user'),
    tier: fields.said('service_tier', tier === 'auto' ? undefined : tier),
    ...readCache(fields),
    streams: body.stream === true,
    includesUsage: options.include_usage === true,
  };
  fields.end();
  return prompt;
};

/** The parts of a message as Chat Completions has them: a text alone, or a list. */
const writeContent = (parts: readonly JsonObject[]): JsonValue => {
  const [first] = parts;
  return parts.length === 1 && first?.type === 'text' ? (first.text ?? '') : [...parts];
};

const writeText = (text: string): JsonObject => ({ type: 'text', text });

const writeDocument = (part: DocumentPart, refusals: Refusals): JsonObject[] => {
  const { source, title, context, citations, at } = part;
  if (context) refusals.refuse(context.at);
  if (citations?.value) refusals.refuse(citations.at);
  if ('url' in source) {
    refusals.refuse(at, 'send the document itself');
    return [];
  }
  if ('texts' in source) return source.texts.map(writeText);
  const isText = 'text' in source;
  const data = isText ? { mediaType: 'text/plain', data: base64OfText(source.text) } : source;
  const filename = title ?? (isText ? 'document.txt' : 'document.pdf');
  return [{ type: 'file', file: { filename, file_data: toDataUrl(data) } }];
};

const writePart = (part: ContentPart, refusals: Refusals): JsonObject[] => {
  switch (part.kind) {
    case 'text':
      return [writeText(part.text)];
    case 'image': {
      const url = 'url' in part.source ? part.source.url : toDataUrl(part.source);
      return [{ type: 'image_url', image_url: { url } }];
    }
    case 'document':
      return writeDocument(part, refusals);
    default:
      refusals.refuse(part.at);
      return [];
  }
};

/** A tool's result. Chat Completions has no mark for errors: the text says that it is one. */
const writeResult = ({ id, parts, isError }: ToolResultPart, refusals: Refusals): JsonObject => {
  const texts = parts.flatMap((part) => {
    if (part.kind === 'text') return [part.text];
    refusals.refuse(part.at, 'what a tool gives is text there');
    return [];
  });
  const said = isError ? [`Error: ${texts[0] ?? ''}`, ...texts.slice(1)] : texts;
  const content = said.length > 1 ? said.map(writeText) : (said[0] ?? '');
  return { role: 'tool', tool_call_id: id, content };
};

const writeUser = ({ parts }: Turn, refusals: Refusals): JsonObject[] => {
  const results = parts.flatMap((part) => (part.kind === 'result' ? [writeResult(part, refusals)] : []));
  const rest = parts.flatMap((part) => (part.kind === 'result' ? [] : writePart(part, refusals)));
  return rest.length > 0 ? [...results, { role: 'user', content: writeContent(rest) }] : results;
};

/** Arguments that were no JSON were answered as they were, and go back as they are. */
export const writeArguments = (input: JsonValue): string =>
  typeof input === 'string' ? input : JSON.stringify(input);

/** A call of a tool, of a request as of an answer. */
export const writeCall = ({ id, name, input }: Pick<ToolCallPart, 'id' | 'name' | 'input'>): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: writeArguments(input) },
});

/**
 * An earlier answer. Thinking without a signature came from a model that speaks Chat Completions, which
 * may want it back. What Claude has signed means nothing to another model.
 */
const writeAssistant = ({ parts }: Turn, refusals: Refusals): JsonObject => {
  const texts: JsonObject[] = [];
  const calls: JsonObject[] = [];
  let thought = '';
  for (const part of parts) {
    if (part.kind === 'text') texts.push(writeText(part.text));
    else if (part.kind === 'call') calls.push(writeCall(part));
    else if (part.kind === 'thinking') thought += part.signature === '' ? part.text : '';
    else if (part.kind !== 'redacted') refusals.refuse(part.at);
  }
  return {
    role: 'assistant',
    content: texts.length > 0 ? writeContent(texts) : null,
    ...(thought !== '' && { reasoning_content: thought }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
};

const writeTurn = (turn: Turn, refusals: Refusals): JsonObject[] => {
  if (turn.role === 'user') return writeUser(turn, refusals);
  if (turn.role === 'assistant') return [writeAssistant(turn, refusals)];
  return [{ role: 'system', content: writeContent(turn.parts.flatMap((part) => writePart(part, refusals))) }];
};

const writeTool = ({ name, description, schema, strict }: Tool): JsonObject => ({
  type: 'function',
  function: {
    name,
    ...(description !== undefined && { description }),
    parameters: schema,
    ...(strict && { strict: true }),
  },
});

const writeToolChoice = (choice: ToolChoice): JsonValue => {
  if (choice.kind === 'tool') return { type: 'function', function: { name: choice.name } };
  return choice.kind === 'any' ? 'required' : choice.kind;
};

const writeReasoning = ({ effort, thinking }: Prompt): JsonObject => {
  if (effort) return { reasoning_effort: effort.value };
  // Only a budget says how much. Without one, the model decides, as it does here without the field.
  return thinking?.value.type === 'enabled' ? { reasoning_effort: toEffort(thinking.value.budget) } : {};
};

const writeFormat = ({ schema, name = 'answer', description }: Format): JsonObject => ({
  type: 'json_schema',
  json_schema: { name, ...(description !== undefined && { description }), schema, strict: true },
});

/** The longest id of an end user that OpenAI takes. */
const maxUser = 64;

/** Writes a request of Chat Completions. */
export const writeChat = (prompt: Prompt, refusals: Refusals): JsonObject => {
  const { model, system, turns, tools, toolChoice, serial, format, stops, user, tier, streams } = prompt;
  const { maxTokens, temperature, topP, topK } = prompt;
  if (topK) refusals.refuse(topK.at);
  if (maxTokens && Number(maxTokens.value) === 0)
    refusals.refuse(maxTokens.at, 'an answer has at least a token');
  const last = turns.at(-1);
  if (last?.role === 'assistant')
    refusals.refuse(last.at, 'an answer that is begun cannot be continued; end with a user message');
  const systemTexts = system.map(({ text }) => writeText(text));
  return {
    model,
    messages: [
      ...(systemTexts.length > 0 ? [{ role: 'system', content: writeContent(systemTexts) }] : []),
      ...turns.flatMap((turn) => writeTurn(turn, refusals)),
    ],
    ...(maxTokens && { max_completion_tokens: maxTokens.value }),
    ...(temperature && { temperature: temperature.value }),
    ...(topP && { top_p: topP.value }),
    ...(stops && { stop: [...stops.value] }),
    ...(tools.length > 0 && { tools: tools.map(writeTool) }),
    ...(tools.length > 0 && toolChoice && { tool_choice: writeToolChoice(toolChoice.value) }),
    ...(tools.length > 0 && serial && { parallel_tool_calls: false }),
    ...(format && { response_format: writeFormat(format.value) }),
    ...writeReasoning(prompt),
    ...(user !== undefined && user.length <= maxUser && { user }),
    ...(tier && { service_tier: tier.value }),
    ...(streams && { stream: true, stream_options: { include_usage: true } }),
  };
};
