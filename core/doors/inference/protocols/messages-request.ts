import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  plainNumber,
} from '../../../../foundations/wire/index.ts';
import { claudeThinking, usualMaxTokens } from './models.ts';
import {
  type CacheTtl,
  type ContentPart,
  calledTools,
  type DocumentPart,
  type Effort,
  efforts,
  type Format,
  hasToolParts,
  type ImagePart,
  isEffort,
  joinTurns,
  onlyText,
  type Prompt,
  type Thinking,
  type Tool,
  type ToolChoice,
  type ToolResultPart,
  type Turn,
} from './prompt.ts';
import { Fields, isEmptyList, type Refusals, type Said } from './refusals.ts';

/*
 * Requests of Anthropic's Messages API, by the types of @anthropic-ai/sdk 1.13.0. Sampling parameters are
 * no longer in them, but older models take them.
 */

/** What says nothing to the answer: why a prompt was not cached. */
const ignored = ['diagnostics'];

/** Whether the prompt up to somewhere is to be cached. */
export interface Cached {
  readonly cache?: { readonly ttl: CacheTtl };
}

/** Reads `cache_control` of a block. */
export const readCacheControl = (fields: Fields): Cached => {
  const control = fields.object('cache_control');
  if (!control) return {};
  const ttl = control.text('ttl');
  if (ttl !== undefined && ttl !== '5m' && ttl !== '1h') control.refuse('ttl', 'it is 5m or 1h there');
  control.expect('type', (type) => type === 'ephemeral');
  // Who else may use what is cached.
  control.ignore('scope');
  control.end();
  return { cache: { ttl: ttl === '1h' || ttl === '5m' ? ttl : undefined } };
};

/** Thinking as Anthropic says it, wherever it stands. */
export const readThinkingConfig = (fields: Fields): Said<Thinking> | undefined => {
  const config = fields.object('thinking');
  if (!config) return undefined;
  const type = config.required('type');
  const display = config.text('display');
  const budget = config.number('budget_tokens');
  config.end();
  const at = config.place;
  switch (type) {
    case 'enabled':
      if (budget === undefined) config.refusals.invalid(config.at('budget_tokens'), 'is required');
      return { at, value: { type, budget: budget ?? 0, display } };
    case 'adaptive':
      return { at, value: { type, display } };
    case 'disabled':
    case 'between_tools':
      return { at, value: { type } };
    default:
      config.refuse('type');
      return undefined;
  }
};

const readCitations = (fields: Fields): Said<boolean> | undefined => {
  const config = fields.object('citations');
  const isEnabled = config?.flag('enabled') === true;
  config?.end();
  return fields.said('citations', isEnabled || undefined);
};

type Source = { readonly type: string; readonly fields: Fields };

const readSource = (fields: Fields): Source | undefined => {
  const source = fields.requiredObject('source');
  return source && { type: source.required('type'), fields: source };
};

const refuseSource = ({ type, fields }: Source): undefined => {
  fields.refuse('type', type === 'file' ? 'it is a file at another provider; send its data' : undefined);
  return undefined;
};

const readImageSource = (source: Source): ImagePart['source'] | undefined => {
  const { type, fields } = source;
  if (type === 'url') return { url: fields.required('url') };
  if (type !== 'base64') return refuseSource(source);
  return { data: fields.required('data'), mediaType: fields.required('media_type') };
};

/** The texts of blocks that are nothing but text. */
const readTexts = (fields: Fields, name: string): string[] => {
  const content = fields.get(name);
  if (typeof content === 'string') return [content];
  return fields.objects(name).map((block) => {
    block.expect('type', (type) => type === 'text', 'only text can stand here');
    block.ignore('cache_control', 'citations');
    const text = block.required('text');
    block.end();
    return text;
  });
};

const readDocumentSource = (source: Source): DocumentPart['source'] | undefined => {
  const { type, fields } = source;
  switch (type) {
    case 'base64':
      return { data: fields.required('data'), mediaType: fields.required('media_type') };
    case 'text':
      fields.ignore('media_type');
      return { text: fields.required('data') };
    case 'content':
      return { texts: readTexts(fields, 'content') };
    case 'url':
      return { url: fields.required('url') };
    default:
      return refuseSource(source);
  }
};

const readImage = (fields: Fields): ImagePart[] => {
  const read = readSource(fields);
  const source = read && readImageSource(read);
  if (!source) return [];
  read.fields.end();
  return [{ kind: 'image', at: fields.place, source, ...readCacheControl(fields) }];
};

const readDocument = (fields: Fields): DocumentPart[] => {
  const read = readSource(fields);
  const source = read && readDocumentSource(read);
  const title = fields.text('title');
  const citations = readCitations(fields);
  if (!source) return [];
  read.fields.end();
  return [
    {
      kind: 'document',
      at: fields.place,
      source,
      title,
      context: fields.said('context', fields.text('context')),
      citations,
      ...readCacheControl(fields),
    },
  ];
};

/** What a conversation changes on its way: how hard the model tries, and which tools it is offered. */
interface Changes {
  effort?: Said<Effort>;
  /** Tools that were added, or taken away, by their last change. */
  readonly offered: Map<string, boolean>;
}

const readResult = (fields: Fields, changes: Changes): ToolResultPart => ({
  kind: 'result',
  at: fields.place,
  id: fields.required('tool_use_id'),
  parts: readContent(fields, changes),
  isError: fields.flag('is_error') === true,
  ...readCacheControl(fields),
});

/** Notes that a tool is offered from here on, or no longer. */
const readToolChange = (fields: Fields, isOffered: boolean, { offered }: Changes): void => {
  const tool = fields.requiredObject('tool');
  tool?.expect('type', (type) => type === 'tool_reference');
  const name = tool?.required('name');
  if (name !== undefined) offered.set(name, isOffered);
};

const readBlock = (fields: Fields, changes: Changes): ContentPart[] => {
  const at = fields.place;
  const type = fields.required('type');
  switch (type) {
    case 'text':
      // The citations of an earlier answer are about documents that stand above it.
      fields.expect('citations', isEmptyList);
      return [{ kind: 'text', at, text: fields.required('text'), ...readCacheControl(fields) }];
    case 'image':
      return readImage(fields);
    case 'document':
      return readDocument(fields);
    case 'search_result':
      return [
        {
          kind: 'search',
          at,
          source: fields.required('source'),
          title: fields.required('title'),
          texts: readTexts(fields, 'content'),
          citations: readCitations(fields),
          ...readCacheControl(fields),
        },
      ];
    case 'thinking':
      return [
        {
          kind: 'thinking',
          at,
          text: fields.text('thinking') ?? '',
          signature: fields.text('signature') ?? '',
        },
      ];
    case 'redacted_thinking':
      return [{ kind: 'redacted', at, data: fields.required('data') }];
    case 'tool_use':
      fields.expect('caller', (caller) => isJsonObject(caller) && caller.type === 'direct');
      return [
        {
          kind: 'call',
          at,
          id: fields.required('id'),
          name: fields.required('name'),
          input: fields.get('input') ?? {},
          ...readCacheControl(fields),
        },
      ];
    case 'tool_result':
      return [readResult(fields, changes)];
    case 'tool_reference': {
      // A search has found it: its definition is told with those of the other tools.
      const text = fields.required('tool_name');
      changes.offered.set(text, true);
      return [{ kind: 'text', at, text, ...readCacheControl(fields) }];
    }
    case 'tool_addition':
    case 'tool_removal':
      readToolChange(fields, type === 'tool_addition', changes);
      return [];
    default:
      fields.refuse('type', `blocks of type ${type}`);
      return [];
  }
};

/** The parts of a content: a text, or blocks. Empty texts say nothing, and some APIs refuse them. */
const readContent = (fields: Fields, changes: Changes, name = 'content'): ContentPart[] => {
  const content = fields.get(name);
  if (content === undefined || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'text', at: fields.at(name), text: content }];
  return fields
    .objects(name)
    .flatMap((block) => {
      const parts = readBlock(block, changes);
      // What was refused whole need not be refused field by field.
      if (parts.length > 0) block.end();
      return parts;
    })
    .filter((part) => part.kind !== 'text' || part.text !== '');
};

const readEffort = (config: Fields | undefined): Said<Effort> | undefined => {
  const effort = config?.text('effort');
  if (effort !== undefined && !isEffort(effort))
    config?.refusals.invalid(config.at('effort'), `should be one of ${efforts.join(', ')}`);
  return effort !== undefined && isEffort(effort) ? config?.said('effort', effort) : undefined;
};

/** @param isLast whether no message of the user follows */
const readTurn = (fields: Fields, isLast: boolean, changes: Changes): Turn[] => {
  const role = fields.required('role');
  const parts = readContent(fields, changes);
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    fields.refuse('role');
    return [];
  }
  let isShown = parts.length > 0;
  if (role === 'system') {
    // The answer is made with the last that was said.
    const config = fields.object('output_config');
    const effort = readEffort(config);
    if (effort) changes.effort = effort;
    config?.end();
    if (fields.text('clear_at') === 'next_user_message') isShown &&= isLast;
  }
  fields.end();
  return isShown ? [{ role, at: fields.place, parts }] : [];
};

const readTurns = (fields: Fields, changes: Changes): Turn[] => {
  const messages = fields.objects('messages');
  const lastOfUser = messages.findLastIndex((message) => message.get('role') === 'user');
  return joinTurns(messages.flatMap((message, i) => readTurn(message, i > lastOfUser, changes)));
};

/** A tool, unless it waits for the conversation to offer it. */
const readTool = (fields: Fields, { offered }: Changes): Tool[] => {
  const type = fields.text('type') ?? 'custom';
  if (type !== 'custom') {
    fields.refuse('type', `${type} is a tool of Anthropic's own`);
    return [];
  }
  fields.expect('allowed_callers', (callers) => JSON.stringify(callers) === '["direct"]');
  const isDeferred = fields.flag('defer_loading') === true;
  fields.expect('input_examples', isEmptyList);
  // How its arguments stream.
  fields.ignore('eager_input_streaming');
  const strict = fields.flag('strict');
  const tool: Tool = {
    at: fields.place,
    name: fields.required('name'),
    description: fields.text('description'),
    schema: fields.json('input_schema') ?? {},
    strict: fields.said('strict', strict || undefined),
    ...readCacheControl(fields),
  };
  fields.end();
  return (offered.get(tool.name) ?? !isDeferred) ? [tool] : [];
};

const readToolChoice = (fields: Fields): Pick<Prompt, 'toolChoice' | 'serial'> => {
  const choice = fields.object('tool_choice');
  if (!choice) return {};
  const kind = choice.required('type');
  const name = kind === 'tool' ? choice.required('name') : '';
  const isSerial = choice.flag('disable_parallel_tool_use') === true;
  const serial = isSerial ? { at: choice.at('disable_parallel_tool_use'), value: true as const } : undefined;
  choice.end();
  const at = choice.place;
  if (kind === 'tool') return { toolChoice: { at, value: { kind, name } }, serial };
  if (kind === 'auto' || kind === 'any' || kind === 'none')
    return { toolChoice: { at, value: { kind } }, serial };
  choice.refuse('type');
  return {};
};

const readOutput = (fields: Fields): Pick<Prompt, 'format' | 'effort'> => {
  const config = fields.object('output_config');
  const effort = readEffort(config);
  const outputFormat = config?.object('format') ?? fields.object('output_format');
  outputFormat?.expect('type', (type) => type === 'json_schema');
  const schema = outputFormat?.json('schema');
  outputFormat?.end();
  config?.end();
  return {
    effort,
    format: outputFormat && schema && { at: outputFormat.place, value: { schema } },
  };
};

/** Edits of the context that only take out thinking, which other models do not get anyway. */
const readEdits = (fields: Fields): void => {
  const management = fields.object('context_management');
  for (const edit of management?.objects('edits') ?? [])
    edit.expect('type', (type) => typeof type === 'string' && type.startsWith('clear_thinking_'));
  management?.end();
};

const readStops = (fields: Fields): Said<readonly string[]> | undefined => {
  const stops = (fields.list('stop_sequences') ?? []).filter((text) => typeof text === 'string');
  return stops.length > 0 ? { at: fields.at('stop_sequences'), value: stops } : undefined;
};

/** Reads a request of Messages. It may lack `max_tokens`, as those that only count tokens do. */
export const readMessages = (body: JsonObject, model: string, refusals: Refusals): Prompt => {
  const fields = new Fields(body, ['body'], refusals);
  fields.ignore('model', 'stream', ...ignored);
  fields.expect('speed', (speed) => speed === 'standard');
  fields.expect('mcp_servers', isEmptyList);
  readEdits(fields);
  const metadata = fields.object('metadata');
  const user = metadata?.text('user_id');
  metadata?.end();
  const tier = fields.text('service_tier');
  const changes: Changes = { offered: new Map() };
  const system = onlyText(readContent(fields, changes, 'system'), refusals);
  const turns = readTurns(fields, changes);
  const { effort, format } = readOutput(fields);
  const prompt: Prompt = {
    model,
    system,
    turns,
    tools: fields.objects('tools').flatMap((tool) => readTool(tool, changes)),
    ...readToolChoice(fields),
    effort: changes.effort ?? effort,
    format,
    thinking: readThinkingConfig(fields),
    maxTokens: fields.said('max_tokens', fields.number('max_tokens')),
    temperature: fields.said('temperature', fields.number('temperature')),
    topP: fields.said('top_p', fields.number('top_p')),
    topK: fields.said('top_k', fields.number('top_k')),
    stops: readStops(fields),
    user,
    tier: fields.said('service_tier', tier === 'standard_only' ? 'default' : undefined),
    ...readCacheControl(fields),
    streams: body.stream === true,
    includesUsage: true,
  };
  fields.end();
  return prompt;
};

const writeCache = (cache: { readonly ttl: CacheTtl } | undefined): JsonObject =>
  cache ? { cache_control: { type: 'ephemeral', ...(cache.ttl && { ttl: cache.ttl }) } } : {};

const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

const writeImage = ({ source, at, cache }: ImagePart, refusals: Refusals): JsonObject => {
  if ('url' in source)
    return { type: 'image', source: { type: 'url', url: source.url }, ...writeCache(cache) };
  const { data, mediaType } = source;
  if (!imageTypes.has(mediaType))
    refusals.refuse(at, `images of type ${mediaType}; send JPEG, PNG, GIF or WebP`);
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data }, ...writeCache(cache) };
};

const writeDocument = (part: DocumentPart, refusals: Refusals): JsonObject => {
  const { source, title, at, cache } = part;
  const rest = { ...(title !== undefined && { title }), ...writeCache(cache) };
  if ('text' in source)
    return {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: source.text },
      ...rest,
    };
  if ('data' in source && source.mediaType === 'application/pdf')
    return {
      type: 'document',
      source: { type: 'base64', media_type: source.mediaType, data: source.data },
      ...rest,
    };
  refusals.refuse(at, 'documents are PDF or plain text there');
  return {};
};

const writePart = (part: ContentPart, refusals: Refusals): JsonObject[] => {
  const cache = writeCache(part.cache);
  switch (part.kind) {
    case 'text':
      return [{ type: 'text', text: part.text, ...cache }];
    case 'image':
      return [writeImage(part, refusals)];
    case 'document':
      return [writeDocument(part, refusals)];
    case 'call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: part.input, ...cache }];
    case 'result':
      return [
        {
          type: 'tool_result',
          tool_use_id: part.id,
          content: writeBlocks(part.parts, refusals),
          ...(part.isError && { is_error: true }),
          ...cache,
        },
      ];
    case 'thinking':
      return [{ type: 'thinking', thinking: part.text, signature: part.signature }];
    case 'redacted':
      return [{ type: 'redacted_thinking', data: part.data }];
    default:
      refusals.refuse(part.at);
      return [];
  }
};

/** A content: a text alone, or blocks. */
const writeBlocks = (parts: readonly ContentPart[], refusals: Refusals): JsonValue => {
  const [first] = parts;
  if (parts.length === 1 && first?.kind === 'text' && !first.cache) return first.text;
  return parts.flatMap((part) => writePart(part, refusals));
};

const writeTool = ({ name, description, schema, strict, cache }: Tool): JsonObject => ({
  name,
  ...(description !== undefined && { description }),
  input_schema: { type: 'object', ...schema },
  ...(strict && { strict: true }),
  ...writeCache(cache),
});

/**
 * The tools, and which of them may be called. Messages wants the tools of earlier calls: where the
 * client gives none, they are named, and may not be called.
 */
const writeTools = (prompt: Prompt): JsonObject => {
  const { tools, toolChoice, serial } = prompt;
  if (tools.length === 0) {
    if (!hasToolParts(prompt)) return {};
    const named = calledTools(prompt).map((name) => ({ name, input_schema: { type: 'object' } }));
    return { tools: named, tool_choice: { type: 'none' } };
  }
  return {
    tools: tools.map(writeTool),
    ...((toolChoice || serial) && {
      tool_choice: writeToolChoice(toolChoice?.value ?? { kind: 'auto' }, serial !== undefined),
    }),
  };
};

/** The choice of a tool as Claude takes it. */
export const writeToolChoice = (choice: ToolChoice, isSerial: boolean): JsonObject => ({
  type: choice.kind,
  ...(choice.kind === 'tool' && { name: choice.name }),
  ...(isSerial && choice.kind !== 'none' && { disable_parallel_tool_use: true }),
});

/** A format of the answer. Its name means nothing; its description stands in the schema. */
const writeFormat = ({ schema, description }: Format): JsonObject => ({
  type: 'json_schema',
  schema: description === undefined ? schema : { description, ...schema },
});

const tiers: ReadonlyMap<string, string> = new Map(Object.entries({ default: 'standard_only' }));

/** Thinking as Messages and Claude have it. */
export const writeThinking = (thinking: NonNullable<Prompt['thinking']>['value']): JsonObject => ({
  type: thinking.type,
  ...(thinking.type === 'enabled' && { budget_tokens: thinking.budget }),
  ...('display' in thinking && thinking.display !== undefined && { display: thinking.display }),
});

/** Writes a request of Messages. */
export const writeMessages = (prompt: Prompt, refusals: Refusals): JsonObject => {
  const { model, system, turns, temperature, topP, topK, stops, format, user, tier, streams } = prompt;
  const maxTokens = prompt.maxTokens?.value ?? usualMaxTokens(model);
  const reasoning = claudeThinking(prompt, maxTokens);
  if ('problem' in reasoning)
    refusals.refuse(prompt.effort?.at ?? prompt.thinking?.at ?? [], reasoning.problem);
  const { thinking, effort } = 'problem' in reasoning ? {} : reasoning;
  if (temperature && Number(plainNumber(temperature.value)) > 1)
    refusals.refuse(temperature.at, 'it is between 0 and 1 there');
  const serviceTier = tier && tiers.get(tier.value);
  if (tier && serviceTier === undefined) refusals.refuse(tier.at);
  const output = {
    ...(effort !== undefined && { effort }),
    ...(format && { format: writeFormat(format.value) }),
  };
  return {
    model,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system: writeBlocks(system, refusals) }),
    messages: turns.map(({ role, parts }) => ({ role, content: writeBlocks(parts, refusals) })),
    ...writeTools(prompt),
    ...(temperature && { temperature: temperature.value }),
    ...(topP && { top_p: topP.value }),
    ...(topK && { top_k: topK.value }),
    ...(stops && { stop_sequences: [...stops.value] }),
    ...(thinking && { thinking: writeThinking(thinking) }),
    ...(Object.keys(output).length > 0 && { output_config: output }),
    ...(user !== undefined && { metadata: { user_id: user } }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
    ...writeCache(prompt.cache),
    ...(streams && { stream: true }),
  };
};
