import type { JsonObject, JsonValue } from '../../../../foundations/wire/index.ts';
import { writeThinking, writeToolChoice } from './messages-request.ts';
import { claudeThinking, type Family, getFamily, thinkingWay, toEffort, usualMaxTokens } from './models.ts';
import {
  type CacheTtl,
  type ContentPart,
  calledTools,
  type DocumentPart,
  hasToolParts,
  type ImagePart,
  type Prompt,
  type Tool,
  type Turn,
} from './prompt.ts';
import type { Refusals } from './refusals.ts';

/*
 * Requests of Bedrock's Converse API, by the types of @aws-sdk/client-bedrock-runtime 3.1164.0. What
 * Converse leaves to each model, in `additionalModelRequestFields`, is by @ai-sdk/amazon-bedrock 4.0.186.
 */

/** Media types of images and documents, and their formats. */
const imageFormats: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'image/jpeg': 'jpeg',
    'image/png': 'png',
    'image/gif': 'gif',
    'image/webp': 'webp',
  }),
);
const documentFormats: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'application/pdf': 'pdf',
    'text/csv': 'csv',
    'application/msword': 'doc',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.ms-excel': 'xls',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'text/html': 'html',
    'text/plain': 'txt',
    'text/markdown': 'md',
  }),
);
const audioFormats: ReadonlySet<string> = new Set([
  'mp3',
  'wav',
  'opus',
  'aac',
  'flac',
  'm4a',
  'ogg',
  'webm',
]);

/** Writes the parts of one prompt. Converse wants each document to have a name of its own. */
class Writer {
  readonly #refusals: Refusals;
  readonly #family: Family;
  readonly #names = new Set<string>();

  constructor(family: Family, refusals: Refusals) {
    this.#family = family;
    this.#refusals = refusals;
  }

  /** Parts as blocks, with points of caching where the model has a cache. */
  blocks(parts: readonly ContentPart[]): JsonObject[] {
    return parts.flatMap((part) => [...this.#block(part), ...this.cachePoint(part.cache)]);
  }

  /** Nothing but time and money is lost where there is no cache. */
  cachePoint(cache: { readonly ttl: CacheTtl } | undefined): JsonObject[] {
    if (!cache || (this.#family !== 'claude' && this.#family !== 'nova')) return [];
    const ttl = this.#family === 'claude' ? cache.ttl : undefined;
    return [{ cachePoint: { type: 'default', ...(ttl && { ttl }) } }];
  }

  #block(part: ContentPart): JsonObject[] {
    switch (part.kind) {
      case 'text':
        return [{ text: part.text }];
      case 'image':
        return this.#image(part);
      case 'document':
        return [{ document: this.#document(part) }];
      case 'audio':
        if (!audioFormats.has(part.format))
          this.#refusals.refuse(part.at, `audio of the format ${part.format}`);
        return [{ audio: { format: part.format, source: { bytes: part.data } } }];
      case 'search':
        return [
          {
            searchResult: {
              source: part.source,
              title: part.title,
              content: part.texts.map((text) => ({ text })),
              ...(part.citations && { citations: { enabled: true } }),
            },
          },
        ];
      case 'call':
        return [{ toolUse: { toolUseId: part.id, name: part.name, input: part.input } }];
      case 'result':
        return [
          {
            toolResult: {
              toolUseId: part.id,
              content: this.blocks(part.parts.map((inner) => ({ ...inner, cache: undefined }))),
              ...(part.isError && { status: 'error' }),
            },
          },
        ];
      case 'thinking':
        // Without its signature no model takes it back.
        if (part.signature === '') return [];
        return [{ reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } }];
      case 'redacted':
        return [{ reasoningContent: { redactedContent: part.data } }];
    }
  }

  #image({ source, at }: ImagePart): JsonObject[] {
    if ('url' in source) {
      if (!source.url.startsWith('s3://')) {
        this.#refusals.refuse(at, 'send the image itself, as a data: URL or base64');
        return [];
      }
      const extension = /\.(\w+)$/.exec(source.url)?.[1]?.toLowerCase() ?? '';
      const format = imageFormats.get(`image/${extension === 'jpg' ? 'jpeg' : extension}`);
      if (format === undefined)
        this.#refusals.refuse(at, 'name a file that ends with .jpeg, .png, .gif or .webp');
      return [{ image: { format: format ?? '', source: { s3Location: { uri: source.url } } } }];
    }
    const format = imageFormats.get(source.mediaType);
    if (format === undefined)
      this.#refusals.refuse(at, `images of type ${source.mediaType}; send JPEG, PNG, GIF or WebP`);
    return [{ image: { format: format ?? '', source: { bytes: source.data } } }];
  }

  #document({ source, title, context, citations, at }: DocumentPart): JsonObject {
    const rest = {
      name: this.#toDocumentName(title),
      ...(context && { context: context.value }),
      ...(citations && { citations: { enabled: true } }),
    };
    if ('text' in source) return { format: 'txt', source: { text: source.text }, ...rest };
    if ('texts' in source) return { source: { content: source.texts.map((text) => ({ text })) }, ...rest };
    if ('url' in source) {
      this.#refusals.refuse(at, 'send the document itself');
      return {};
    }
    const format = documentFormats.get(source.mediaType);
    if (format === undefined) this.#refusals.refuse(at, `documents of type ${source.mediaType}`);
    return { format: format ?? '', source: { bytes: source.data }, ...rest };
  }

  /** Names have letters, digits, single spaces, hyphens, parentheses and brackets. */
  #toDocumentName(title = ''): string {
    const clean = title
      .replace(/\.\w{1,5}$/, '')
      .replace(/[^a-zA-Z0-9\s()[\]-]/g, '-')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, 180);
    const base = clean || 'document';
    let name = base;
    for (let n = 2; this.#names.has(name); n++) name = `${base}-${n}`;
    this.#names.add(name);
    return name;
  }
}

const writeTool = ({ name, description, schema, strict }: Tool): JsonObject => ({
  toolSpec: {
    name,
    // Converse refuses an empty one.
    ...(description && { description }),
    inputSchema: { json: { type: 'object', ...schema } },
    ...(strict && { strict: true }),
  },
});

interface WrittenTools {
  readonly toolConfig?: JsonObject;
  /** The choice in Claude's own words, which say more than Converse's. */
  readonly claudeChoice?: JsonObject;
}

/** A choice that Converse has, as it has it. */
const writeConverseChoice = ({ toolChoice }: Prompt): JsonObject | undefined => {
  const choice = toolChoice?.value;
  if (!choice || choice.kind === 'none') return undefined;
  return choice.kind === 'tool' ? { tool: { name: choice.name } } : { [choice.kind]: {} };
};

const writeTools = (prompt: Prompt, writer: Writer, family: Family, refusals: Refusals): WrittenTools => {
  const { tools, toolChoice, serial } = prompt;
  const specs = (
    tools.length > 0 ? tools : calledTools(prompt).map((name): Tool => ({ at: [], name, schema: {} }))
  ).flatMap((tool) => [writeTool(tool), ...(family === 'claude' ? writer.cachePoint(tool.cache) : [])]);
  const isNone = tools.length === 0 || toolChoice?.value.kind === 'none';
  if (isNone) {
    if (!hasToolParts(prompt)) return {};
    // Converse wants the tools of earlier calls, and has no word for calling none.
    if (family === 'claude') return { toolConfig: { tools: specs }, claudeChoice: { type: 'none' } };
    const advice = 'earlier calls need their tools there, which then may be called';
    refusals.refuse(toolChoice?.at ?? ['body', 'tools'], advice);
    return {};
  }
  if (serial && family !== 'claude')
    refusals.refuse(serial.at, 'these models may call several tools at once');
  if (serial && family === 'claude')
    return {
      toolConfig: { tools: specs },
      claudeChoice: writeToolChoice(toolChoice?.value ?? { kind: 'auto' }, true),
    };
  const choice = writeConverseChoice(prompt);
  return { toolConfig: { tools: specs, ...(choice && { toolChoice: choice }) } };
};

interface Reasoning {
  readonly fields: JsonObject;
  readonly effort?: string | undefined;
  readonly maxTokens?: number;
}

const claudeReasoning = (prompt: Prompt, refusals: Refusals): Reasoning => {
  // A budget is a part of what the answer may have, which then has to be said.
  const wantsBudget = prompt.thinking?.value.type === 'asked' && thinkingWay(prompt.model) === 'budget';
  const most = wantsBudget && !prompt.maxTokens ? { maxTokens: usualMaxTokens(prompt.model) } : {};
  const thinking = claudeThinking(prompt, prompt.maxTokens?.value ?? usualMaxTokens(prompt.model));
  if ('problem' in thinking) {
    refusals.refuse(prompt.effort?.at ?? [], thinking.problem);
    return { fields: {} };
  }
  return {
    fields: thinking.thinking ? { thinking: writeThinking(thinking.thinking) } : {},
    effort: thinking.effort,
    ...most,
  };
};

const novaEfforts: ReadonlySet<string> = new Set(['low', 'medium', 'high']);

/** How much a model other than Claude is told to reason, as it takes it. */
const otherReasoning = (prompt: Prompt, family: Family, refusals: Refusals): Reasoning => {
  const { thinking, model } = prompt;
  const type = thinking?.value.type;
  const at = prompt.effort?.at ?? thinking?.at ?? [];
  const budget = thinking?.value.type === 'enabled' ? toEffort(thinking.value.budget) : undefined;
  const level = prompt.effort?.value ?? budget;
  switch (family) {
    case 'nova': {
      if (type === 'disabled') return { fields: { reasoningConfig: { type } } };
      if (level === undefined) return { fields: {} };
      const maxReasoningEffort = level === 'minimal' ? 'low' : level;
      if (!novaEfforts.has(maxReasoningEffort)) refusals.refuse(at, 'Nova reasons low, medium or high');
      return { fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort } } };
    }
    case 'openai': {
      const effort = type === 'disabled' ? 'none' : level;
      if (effort === undefined) return { fields: {} };
      return { fields: model.includes('gpt-oss') ? { reasoning_effort: effort } : { reasoning: { effort } } };
    }
    default:
      if (type === 'disabled' && at.at(-1) === 'reasoning_effort')
        refusals.refuse(at, 'whether this model reasons cannot be set');
      return { fields: {}, effort: level === 'minimal' ? 'low' : level };
  }
};

/** `top_k`, which each family has elsewhere. */
const writeTopK = ({ topK, model }: Prompt, family: Family, refusals: Refusals): JsonObject => {
  if (!topK) return {};
  if (family === 'claude' || /\bmistral\./.test(model)) return { top_k: topK.value };
  if (family === 'nova') return { inferenceConfig: { topK: topK.value } };
  refusals.refuse(topK.at);
  return {};
};

const tiers: ReadonlySet<string> = new Set(['default', 'flex', 'priority']);

/** Converse takes the schema as text. */
const writeFormat = ({ format }: Prompt): JsonObject | undefined =>
  format && {
    type: 'json_schema',
    structure: {
      jsonSchema: {
        schema: JSON.stringify(format.value.schema),
        name: format.value.name ?? 'answer',
        ...(format.value.description !== undefined && { description: format.value.description }),
      },
    },
  };

/**
 * Anthropic's betas that Converse takes without a field of the request, as of 2026-11-24, by LiteLLM's
 * anthropic_beta_headers_config.json. Bedrock refuses requests with any other.
 */
const takenBetas: ReadonlySet<string> = new Set([
  'context-1m-2025-08-07',
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
  'structured-outputs-2025-11-13',
  'thinking-display-updates-2026-08-18',
]);

const isNonEmpty = (value: JsonObject): boolean => Object.keys(value).length > 0;

const writeTurns = (turns: readonly Turn[], writer: Writer): JsonValue[] =>
  turns.flatMap(({ role, parts }) => {
    const content = writer.blocks(parts);
    return content.length > 0 ? [{ role, content }] : [];
  });

/**
 * Writes a request of Converse.
 *
 * @param betas what the client wants of Anthropic's betas
 */
export const writeConverse = (prompt: Prompt, betas: readonly string[], refusals: Refusals): JsonObject => {
  const { model, system, turns, stops, temperature, topP, tier } = prompt;
  const family = getFamily(model);
  const isClaude = family === 'claude';
  const anthropicBeta = betas.filter((beta) => takenBetas.has(beta));
  const writer = new Writer(family, refusals);
  const { toolConfig, claudeChoice } = writeTools(prompt, writer, family, refusals);
  const reasoning = isClaude ? claudeReasoning(prompt, refusals) : otherReasoning(prompt, family, refusals);
  const maxTokens = prompt.maxTokens?.value ?? reasoning.maxTokens;
  if (tier && !tiers.has(tier.value)) refusals.refuse(tier.at);
  const textFormat = writeFormat(prompt);
  const output = {
    ...(textFormat && { textFormat }),
    ...(reasoning.effort !== undefined && { effort: reasoning.effort }),
  };
  const inference = {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature && { temperature: temperature.value }),
    ...(topP && { topP: topP.value }),
    ...(stops && { stopSequences: [...stops.value] }),
  };
  const additional = {
    ...reasoning.fields,
    ...writeTopK(prompt, family, refusals),
    ...(claudeChoice && { tool_choice: claudeChoice }),
    ...(isClaude && anthropicBeta.length > 0 && { anthropic_beta: anthropicBeta }),
  };
  const messages = writeTurns(turns, writer);
  const last = messages.at(-1) as { content: JsonObject[] } | undefined;
  last?.content.push(...writer.cachePoint(prompt.cache));
  return {
    ...(system.length > 0 && { system: writer.blocks(system) }),
    messages,
    ...(isNonEmpty(inference) && { inferenceConfig: inference }),
    ...(toolConfig && { toolConfig }),
    ...(isNonEmpty(additional) && { additionalModelRequestFields: additional }),
    // Which sequence an answer has stopped at is Claude's to say: whole, and streamed.
    ...(isClaude &&
      stops && { additionalModelResponseFieldPaths: ['/stop_sequence', '/delta/stop_sequence'] }),
    ...(isNonEmpty(output) && { outputConfig: output }),
    ...(tier && { serviceTier: { type: tier.value } }),
  };
};
