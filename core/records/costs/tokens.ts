import { isJsonObject, type JsonObject, plainNumber } from '../../foundations/wire/index.ts';

/** The tokens that a call used of one model. */
export interface Tokens {
  /** All tokens of the prompts, those read from and written to the provider's cache included. */
  readonly prompt: number;
  /** Those of the prompt that were read from the cache. */
  readonly cacheRead: number;
  /** Those of the prompt that were written to the cache; none of them was read from it. */
  readonly cacheWrite: number;
  readonly completion: number;
  readonly total: number;
  readonly requests: number;
}

/** A count as a client reports it; undefined for anything but a number from 0 to 2^53 − 1. */
const countOf = (record: JsonObject, name: string): number | undefined => {
  const value = Object.hasOwn(record, name) ? plainNumber(record[name]) : undefined;
  // JSON can read -0, but not write it.
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
    ? Math.abs(value)
    : undefined;
};

/** The first count among details of the prompt, by either naming. */
const cachedTokens = (usage: JsonObject): number | undefined => {
  for (const name of ['prompt_tokens_details', 'input_tokens_details']) {
    const details = Object.hasOwn(usage, name) ? usage[name] : undefined;
    const cached = isJsonObject(details ?? null)
      ? countOf(details as JsonObject, 'cached_tokens')
      : undefined;
    if (cached !== undefined) return cached;
  }
  return undefined;
};

/**
 * The tokens of the prompt. Cached tokens that are details of the prompt, or are counted beside
 * `prompt_tokens`, are part of it. Anthropic says `input_tokens` and counts them apart.
 */
const promptTokens = (usage: JsonObject): Pick<Tokens, 'prompt' | 'cacheRead' | 'cacheWrite'> => {
  const named = countOf(usage, 'prompt_tokens') ?? 0;
  const base = Math.max(named, countOf(usage, 'input_tokens') ?? 0);
  const detail = cachedTokens(usage);
  const read = detail ?? countOf(usage, 'cache_read_input_tokens') ?? 0;
  const written = countOf(usage, 'cache_creation_input_tokens') ?? 0;
  const prompt = named === 0 && detail === undefined ? base + read + written : base;
  const cacheRead = Math.min(read, prompt);
  return { prompt, cacheRead, cacheWrite: Math.min(written, prompt - cacheRead) };
};

/**
 * Reads one model's entry of `summary.usage`, by OpenAI's names or Anthropic's. What is no count
 * (text, negative, missing, beyond 2^53 − 1) is 0. Of two names for the same, the larger counts.
 *
 * @returns `total` and `requests` as the usage has them, else prompt and completion together, and 1
 */
export const tokensOf = (usage: JsonObject): Tokens => {
  const prompt = promptTokens(usage);
  const completion = Math.max(countOf(usage, 'completion_tokens') ?? 0, countOf(usage, 'output_tokens') ?? 0);
  return {
    ...prompt,
    completion,
    total: countOf(usage, 'total_tokens') ?? prompt.prompt + completion,
    requests: countOf(usage, 'requests') ?? 1,
  };
};
