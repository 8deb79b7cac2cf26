import { countOf, first, get, isDict, structured } from '../plain.ts';
import type { Counts, Usage } from './convention.ts';

const among = (value: unknown, ...keys: readonly string[]): number | undefined => {
  for (const key of keys) {
    const count = countOf(get(value, key));
    if (count !== undefined) return count;
  }
  return undefined;
};

const promptDetails = ['prompt_tokens_details', 'input_tokens_details', 'input_token_details'] as const;
const answerDetails = ['completion_tokens_details', 'output_tokens_details', 'output_token_details'] as const;

/**
 * The counts of a usage object, by the names of OpenAI, Anthropic, Gemini, LangChain, the AI SDK or
 * Genkit; undefined when it counts nothing.
 */
export const countsOf = (usage: unknown, model: string | undefined): Counts | undefined => {
  const body = structured(usage);
  if (!isDict(body)) return undefined;
  const thoughts = among(body, 'thoughts_token_count', 'thoughtsTokenCount');
  const candidates = among(body, 'candidates_token_count', 'candidatesTokenCount');
  const input = among(
    body,
    ...['input_tokens', 'prompt_tokens', 'inputTokens', 'promptTokens'],
    ...['prompt_token_count', 'promptTokenCount', 'input'],
  );
  const output =
    among(body, 'output_tokens', 'completion_tokens', 'outputTokens', 'completionTokens', 'output') ??
    (candidates === undefined ? undefined : candidates + (thoughts ?? 0));
  if (input === undefined && output === undefined) return undefined;
  return {
    model,
    input,
    output,
    total: among(body, 'total_tokens', 'totalTokens', 'total_token_count', 'totalTokenCount', 'total'),
    cacheRead:
      among(first(body, ...promptDetails), 'cached_tokens', 'cache_read') ??
      among(
        body,
        ...['cache_read_input_tokens', 'cachedInputTokens', 'cached_content_token_count'],
        ...['cachedContentTokens', 'cachedContentTokenCount'],
      ),
    cacheWrite:
      among(body, 'cache_creation_input_tokens') ??
      among(first(body, ...promptDetails), 'cache_creation', 'cache_write_tokens'),
    reasoning: among(first(body, ...answerDetails), 'reasoning_tokens', 'reasoning') ?? thoughts,
  };
};

/** Names that a model has no other name for. */
const unnamed = 'unknown';

/**
 * Counts as `summary.usage` has them. Some libraries count cached tokens beside the prompt's; then
 * they are added. It shows when they are more than the prompt's, or when the total has them too.
 *
 * @returns undefined when nothing is counted
 */
export const usageOf = (
  counts: Counts,
  fallback: string | undefined,
): Readonly<Record<string, Usage>> | undefined => {
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = counts;
  if (input === undefined && output === undefined) return undefined;
  const cached = cacheRead + cacheWrite;
  const apart = (input ?? 0) + (output ?? 0) + cached;
  const prompt = input !== undefined && (cached > input || counts.total === apart) ? input + cached : input;
  const sum = (prompt ?? 0) + (output ?? 0);
  const usage: Usage = {
    requests: 1,
    ...(prompt !== undefined && { input_tokens: prompt }),
    ...(output !== undefined && { output_tokens: output }),
    total_tokens: Math.max(sum, counts.total ?? 0),
    ...(cacheRead > 0 && { cache_read_input_tokens: cacheRead }),
    ...(cacheWrite > 0 && { cache_creation_input_tokens: cacheWrite }),
    ...(cached > 0 && { input_tokens_details: { cached_tokens: cacheRead } }),
    ...(reasoning > 0 && { output_tokens_details: { reasoning_tokens: reasoning } }),
  };
  return Object.fromEntries([[counts.model ?? fallback ?? unnamed, usage]]);
};
