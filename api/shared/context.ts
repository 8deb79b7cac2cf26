import type { ContextPart } from '../traces.ts';
import { type ContentPart, type Message, parseConversation } from './conversation.ts';
import { type CallFile, fileName, sizeOf } from './files.ts';
import { readTokens, type Tokens } from './usage.ts';
import { asString, isObject } from './values.ts';

/*
 * What filled the window of a model: how the input tokens of a request divide among what it sent.
 * Providers tell one number for all of it, so parts are estimated by their text and scaled to that number. The
 * page reads it here for public links, which bring the calls themselves.
 */

/** Parts of one kind and name, added up. */
export interface Share {
  readonly part: ContextPart;
  /** A tool as `<name>` or `<MCP server>.<name>`, or a file. */
  readonly name?: string;
  /** The length of its text; 0 for what is no text. */
  readonly characters: number;
  readonly tokens: number;
  /** Its share of what the input cost; without it where nothing is known of prices. */
  readonly cost_usd?: number;
}

/** How the input of a request divides. */
export interface Context {
  /** All tokens of the input; what {@link Share.tokens} add up to. */
  readonly input_tokens: number;
  readonly cache_read_tokens: number;
  /** How parts divide is always estimated. */
  readonly estimated: true;
  /** Whether `input_tokens` is what the model counted, rather than an estimate, too. */
  readonly counted: boolean;
  /** The largest first. */
  readonly parts: readonly Share[];
}

/** What the input of a request cost in US dollars. */
export interface InputCost {
  /** All of it. */
  readonly total: number;
  /** What of it was paid for tokens read from the cache, and for those written to it. */
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** A piece of the input, in the order in which models read it. */
interface Piece {
  readonly part: ContextPart;
  readonly name?: string | undefined;
  readonly characters: number;
  /** An estimate, of any scale that is the same for all pieces. */
  readonly weight: number;
}

/** About how many bytes of text a token has. */
const bytesPerToken = 4;
/** About how many tokens an image takes, whatever its size: providers scale them. */
const imageTokens = 1000;
/** About how many bytes of a document or a recording a token stands for. */
const fileBytesPerToken = 40;

const encoder = new TextEncoder();

const textPiece = (part: ContextPart, text: string, name?: string): Piece => ({
  part,
  name,
  characters: text.length,
  weight: encoder.encode(text).length / bytesPerToken,
});

/** A value as the text that a model reads. */
const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** What MCP clients call a tool of a server, as calls of tools are named. */
const toolName = (name: string): string => {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server && tool ? `${server}.${tool}` : name;
};

const filePiece = (file: CallFile): Piece => {
  const { source } = file;
  if (source.in === 'text') return textPiece('media', source.text, fileName(file));
  const bytes = sizeOf(file);
  const weight = bytes === undefined ? imageTokens : bytes / fileBytesPerToken;
  return { part: 'media', name: fileName(file), characters: 0, weight };
};

/** Who says the text of a message, as a part of the context. */
const parts: ReadonlyMap<string, ContextPart> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['model', 'assistant'],
  ['tool', 'tool_results'],
  ['function', 'tool_results'],
]);

const toPiece = (part: ContentPart, { role, name }: Message): Piece => {
  const said = parts.get(role) ?? 'other';
  switch (part.kind) {
    case 'text':
      return textPiece(said, part.text, said === 'tool_results' && name ? toolName(name) : undefined);
    case 'thinking':
      return textPiece('reasoning', part.text);
    case 'call':
      return textPiece('assistant', `${part.name}${asText(part.input)}`);
    case 'result':
      return textPiece('tool_results', asText(part.output), toolName(part.name ?? name ?? '') || undefined);
    case 'image':
      return { part: 'media', characters: 0, weight: imageTokens };
    case 'file':
      return filePiece(part.file);
    case 'other':
      return textPiece(said, asText(part.value));
  }
};

/** The name of a tool's definition, in the shape of any provider. */
const definedName = (tool: Readonly<Record<string, unknown>>): string | undefined => {
  for (const holder of [tool, tool.function, tool.toolSpec])
    if (isObject(holder)) {
      const name = asString(holder.name);
      if (name) return toolName(name);
    }
  return asString(tool.type);
};

/** The definitions of tools: a list, or lists of functions in it, as Gemini has them. */
const definitions = (inputs: Readonly<Record<string, unknown>>): unknown[] => {
  const { tools, toolConfig, functions } = inputs;
  const list = [tools, isObject(toolConfig) ? toolConfig.tools : undefined, functions].find(Array.isArray);
  return (list ?? []).flatMap((tool: unknown) => {
    const declared = isObject(tool) ? (tool.functionDeclarations ?? tool.function_declarations) : undefined;
    return Array.isArray(declared) ? (declared as unknown[]) : [tool];
  });
};

/** What a request sent, in the order in which models read it: tools, the system prompt, messages. */
const piecesOf = (inputs: unknown): Piece[] => {
  const sent = parseConversation({ inputs, output: null })?.sent ?? [];
  const tools = (isObject(inputs) ? definitions(inputs) : []).map((tool) =>
    textPiece('tools', asText(tool), isObject(tool) ? definedName(tool) : undefined),
  );
  const messages = sent.flatMap((message) => message.parts.map((part) => toPiece(part, message)));
  const [system, others] = [true, false].map((is) =>
    messages.filter((piece) => (piece.part === 'system') === is),
  );
  return [...tools, ...(system ?? []), ...(others ?? [])].filter(({ weight }) => weight > 0);
};

/** The tools that the answer of a request calls, each once. */
export const calledTools = (inputs: unknown, output: unknown): string[] => {
  const said = parseConversation({ inputs, output })?.received ?? [];
  const calls = said.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'call' ? [part] : [])));
  return [...new Set(calls.map(({ name }) => toolName(name)))];
};

/** Whole numbers in the proportions of weights, which add up to a sum: the largest remainders are rounded up. */
const divide = (weights: readonly number[], sum: number): number[] => {
  const all = weights.reduce((total, weight) => total + weight, 0);
  if (all === 0) return weights.map(() => 0);
  const exact = weights.map((weight) => (weight / all) * sum);
  const whole = exact.map(Math.floor);
  const left = sum - whole.reduce((total, tokens) => total + tokens, 0);
  const byRemainder = exact
    .map((value, i) => [value - Math.floor(value), i] as const)
    .sort(([a], [b]) => b - a)
    .slice(0, left);
  for (const [, i] of byRemainder) whole[i] = (whole[i] ?? 0) + 1;
  return whole;
};

/** What tokens cost from one place of the input on: what was cached is its beginning. */
const costBetween = (
  [from, to]: readonly [number, number],
  { prompt, cacheRead, cacheWrite }: Pick<Tokens, 'prompt' | 'cacheRead' | 'cacheWrite'>,
  cost: InputCost,
): number => {
  const stretches = [
    [0, cacheRead, cost.cacheRead],
    [cacheRead, cacheRead + cacheWrite, cost.cacheWrite],
    [cacheRead + cacheWrite, prompt, cost.total - cost.cacheRead - cost.cacheWrite],
  ] as const;
  return stretches.reduce((sum, [start, end, paid]) => {
    const covered = Math.max(0, Math.min(to, end) - Math.max(from, start));
    return end > start ? sum + (paid * covered) / (end - start) : sum;
  }, 0);
};

/** Adds up pieces of one kind and name. */
const addUp = (shares: readonly Share[]): Share[] =>
  [...Map.groupBy(shares, ({ part, name }) => `${part}\n${name ?? ''}`).values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const sum = (of: (share: Share) => number) => same.reduce((total, share) => total + of(share), 0);
    const { part, name, cost_usd } = first;
    return {
      part,
      ...(name !== undefined && { name }),
      characters: sum(({ characters }) => characters),
      tokens: sum(({ tokens }) => tokens),
      ...(cost_usd !== undefined && { cost_usd: sum((share) => share.cost_usd ?? 0) }),
    };
  });

/** What a call cost of a model, as calls have it. */
interface ModelCost {
  readonly prompt_tokens_total_cost: number;
  readonly completion_tokens_total_cost: number;
  readonly cache_read_tokens_total_cost?: number | undefined;
  readonly cache_creation_tokens_total_cost?: number | undefined;
  readonly prompt_token_cost_unit: string;
}

/** What is paid in US dollars, of costs by model. */
export const inDollars = <Cost extends ModelCost>(costs: Readonly<Record<string, Cost>>): Cost[] =>
  Object.values(costs).filter(({ prompt_token_cost_unit: unit }) => unit === 'USD');

/** What the input of a request cost, of all its models together; undefined without a price in US dollars. */
export const inputCost = (costs: Readonly<Record<string, ModelCost>>): InputCost | undefined => {
  const known = inDollars(costs);
  if (known.length === 0) return undefined;
  const sum = (of: (cost: ModelCost) => number | undefined) =>
    known.reduce((total, cost) => total + (of(cost) ?? 0), 0);
  return {
    total: sum((cost) => cost.prompt_tokens_total_cost),
    cacheRead: sum((cost) => cost.cache_read_tokens_total_cost),
    cacheWrite: sum((cost) => cost.cache_creation_tokens_total_cost),
  };
};

/** The tokens of a request's input, of all its models together. @param usage by model */
export const sumTokens = (usage: unknown): Pick<Tokens, 'prompt' | 'cacheRead' | 'cacheWrite'> => {
  const used = Object.values(isObject(usage) ? usage : {})
    .filter(isObject)
    .map((own) => readTokens(own));
  const sum = (of: (tokens: Tokens) => number) => used.reduce((total, tokens) => total + of(tokens), 0);
  return {
    prompt: sum(({ prompt }) => prompt),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    cacheWrite: sum(({ cacheWrite }) => cacheWrite),
  };
};

/**
 * Divides the input of a request to a model. The tokens of all parts add up to what the model counted; if it
 * counted nothing, they are estimated as well.
 *
 * @param inputs what the call took, in the shape of any provider
 * @param used the tokens that its usage tells; undefined without usage
 * @param cost what they cost, where prices are known
 * @returns undefined if nothing is known of its input
 */
export const divideContext = (
  inputs: unknown,
  used: Pick<Tokens, 'prompt' | 'cacheRead' | 'cacheWrite'> | undefined,
  cost?: InputCost,
): Context | undefined => {
  const pieces = piecesOf(inputs);
  const counted = used !== undefined && used.prompt > 0;
  if (pieces.length === 0 && !counted) return undefined;
  const known: readonly Piece[] = pieces.length > 0 ? pieces : [{ part: 'other', characters: 0, weight: 1 }];
  const weights = known.map(({ weight }) => weight);
  const prompt = counted ? used.prompt : Math.round(weights.reduce((sum, weight) => sum + weight, 0));
  const tokens = divide(weights, prompt);
  let at = 0;
  const shares = known.map(({ part, name, characters }, i): Share => {
    const from = at;
    at += tokens[i] ?? 0;
    return {
      part,
      ...(name !== undefined && { name }),
      characters,
      tokens: at - from,
      ...(counted && cost && { cost_usd: costBetween([from, at], used, cost) }),
    };
  });
  return {
    input_tokens: prompt,
    cache_read_tokens: counted ? used.cacheRead : 0,
    estimated: true,
    counted,
    parts: addUp(shares).sort((a, b) => b.tokens - a.tokens),
  };
};
