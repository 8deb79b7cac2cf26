/*
 * What a model used, by all the names under which providers and their SDKs report it. The service and
 * the page read usage here. Nothing is imported, since browsers load this as it is.
 */

/** What a usage counts. What it does not say is undefined. */
export interface UsageCounts {
  /** All tokens of the prompt, those read from and written to the provider's cache included. */
  readonly input: number | undefined;
  /** All tokens of the answer, those of its reasoning included. */
  readonly output: number | undefined;
  readonly total: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
  readonly reasoning: number | undefined;
  readonly requests: number | undefined;
}

/** The tokens that a call used of one model. */
export interface Tokens {
  /** All tokens of the prompts, those read from and written to the provider's cache included. */
  readonly prompt: number;
  /** Those of the prompt that were read from the cache. */
  readonly cacheRead: number;
  /** Those of the prompt that were written to the cache; none of them was read from it. */
  readonly cacheWrite: number;
  readonly completion: number;
  /** Those of the answer that were its reasoning. */
  readonly reasoning: number;
  readonly total: number;
  readonly requests: number;
}

/** What one name stands for. Cached tokens that are `beside` are not among those of the prompt. */
type Role =
  | 'prompt'
  | 'input'
  | 'output'
  | 'candidates'
  | 'thoughts'
  | 'thoughtsBeside'
  | 'total'
  | 'requests'
  | 'reasoning'
  | 'cacheRead'
  | 'cacheWrite'
  | 'readBeside'
  | 'writtenBeside'
  | 'detailRead'
  | 'detailWritten';

const rolesByName = <R extends string>(
  names: Readonly<Record<R, readonly string[]>>,
): ReadonlyMap<string, R> =>
  new Map(
    (Object.entries(names) as [R, readonly string[]][]).flatMap(([role, all]) =>
      all.map((name) => [name, role] as const),
    ),
  );

/**
 * The names of OpenAI, Anthropic, Bedrock, Gemini, DeepSeek, LangChain, the AI SDK, Pydantic AI,
 * Genkit, Weave and the Claude Agent SDK.
 */
const roles = rolesByName<Exclude<Role, 'detailRead' | 'detailWritten'>>({
  prompt: ['prompt_tokens', 'promptTokens', 'prompt_token_count', 'promptTokenCount'],
  input: ['input_tokens', 'inputTokens', 'input'],
  output: ['output_tokens', 'completion_tokens', 'outputTokens', 'completionTokens', 'output'],
  candidates: ['candidates_token_count', 'candidatesTokenCount'],
  thoughts: ['thoughts_token_count', 'thoughtsTokenCount'],
  // Weave's, of Gemini's answers: `completion_tokens` are the candidates there.
  thoughtsBeside: ['thoughts_tokens'],
  total: ['total_tokens', 'totalTokens', 'total_token_count', 'totalTokenCount', 'total'],
  requests: ['requests'],
  reasoning: ['reasoning_tokens', 'reasoningTokens'],
  cacheRead: [
    'cachedInputTokens',
    'cache_read_tokens',
    'cached_content_token_count',
    'cachedContentTokens',
    'cachedContentTokenCount',
    'prompt_cache_hit_tokens',
    'cached_tokens',
  ],
  cacheWrite: ['cache_write_tokens', 'cache_write_input_tokens'],
  readBeside: ['cache_read_input_tokens', 'cacheReadInputTokens'],
  writtenBeside: ['cache_creation_input_tokens', 'cacheCreationInputTokens', 'cacheWriteInputTokens'],
});

/** What details of the prompt count: it is always among the prompt's tokens. */
const promptRoles = rolesByName<'detailRead' | 'detailWritten'>({
  detailRead: ['cached_tokens', 'cache_read', 'cacheReadTokens', 'cachedTokens'],
  detailWritten: ['cache_creation', 'cache_write_tokens', 'cache_creation_tokens', 'cacheWriteTokens'],
});

const answerRoles = rolesByName<'reasoning'>({
  reasoning: ['reasoning_tokens', 'reasoning', 'reasoningTokens'],
});

const details: readonly (readonly [name: string, byName: ReadonlyMap<string, Role>])[] = [
  ['prompt_tokens_details', promptRoles],
  ['input_tokens_details', promptRoles],
  ['input_token_details', promptRoles],
  ['inputTokenDetails', promptRoles],
  ['inputTokensDetails', promptRoles],
  ['completion_tokens_details', answerRoles],
  ['output_tokens_details', answerRoles],
  ['output_token_details', answerRoles],
  ['outputTokenDetails', answerRoles],
  ['outputTokensDetails', answerRoles],
];

/**
 * A count as a client reports it; undefined for anything but a number from 0 to 2^53 − 1. The service
 * keeps some numbers with their text, as objects with that value.
 */
const reportedCount = (value: unknown): number | undefined => {
  const isKept = value instanceof Object && typeof value.valueOf === 'function';
  const number: unknown = isKept ? value.valueOf() : value;
  // JSON can read -0, but not write it.
  return typeof number === 'number' && number >= 0 && number <= Number.MAX_SAFE_INTEGER
    ? Math.abs(number)
    : undefined;
};

const largest = (...counts: readonly (number | undefined)[]): number | undefined => {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
};

/**
 * Reads what a provider, or an SDK, says that a request used. Of two names for the same, the larger
 * counts.
 *
 * Anthropic and Bedrock's Converse count cached tokens beside those of the prompt, and then they are
 * added. Others that use Anthropic's names count them among the prompt's: they say `prompt_tokens`, give
 * them as details, or have a total without them.
 *
 * @param usage the object with the counts, whatever a client has put there
 * @param readCount reads one count; undefined for what is none
 */
export const usageCounts = (
  usage: object,
  readCount: (value: unknown) => number | undefined = reportedCount,
): UsageCounts => {
  const counts: { [R in Role]?: number } = {};
  const read = (fields: object, byName: ReadonlyMap<string, Role>): void => {
    for (const [name, value] of Object.entries(fields)) {
      const role = byName.get(name);
      const count = role && readCount(value);
      if (role && count !== undefined) counts[role] = Math.max(counts[role] ?? 0, count);
    }
  };
  read(usage, roles);
  for (const [name, byName] of details) {
    const value: unknown = Object.hasOwn(usage, name) ? usage[name as keyof typeof usage] : null;
    if (typeof value === 'object' && value !== null) read(value, byName);
  }
  const { candidates, thoughts, thoughtsBeside, total } = counts;
  const input = largest(counts.prompt, counts.input);
  const output =
    counts.output === undefined
      ? candidates && candidates + (thoughts ?? 0)
      : counts.output + (thoughtsBeside ?? 0);
  const beside = (counts.readBeside ?? 0) + (counts.writtenBeside ?? 0);
  const isBeside =
    beside > 0 &&
    !counts.prompt &&
    counts.detailRead === undefined &&
    counts.detailWritten === undefined &&
    (isConverse(usage) || beside > (input ?? 0) || total !== (input ?? 0) + (output ?? 0));
  return {
    input: isBeside ? (input ?? 0) + beside : input,
    output,
    total,
    cacheRead: largest(counts.detailRead, counts.cacheRead, counts.readBeside),
    cacheWrite: largest(counts.detailWritten, counts.cacheWrite, counts.writtenBeside),
    reasoning: counts.reasoning ?? thoughts ?? thoughtsBeside,
    requests: counts.requests,
  };
};

/** Whether a usage is Bedrock's: its total does not tell where cached tokens are. */
const isConverse = (usage: object): boolean =>
  Object.hasOwn(usage, 'cacheReadInputTokens') || Object.hasOwn(usage, 'cacheWriteInputTokens');

/**
 * Reads one model's entry of `summary.usage`: what a call used of the model. What is no count (text,
 * negative, missing, beyond 2^53 − 1) is 0.
 *
 * @returns `total` as the usage has it, but no less than prompt and completion together: some totals leave
 * cached tokens out. `requests` are 1 if the usage has none
 */
export const readTokens = (usage: object): Tokens => {
  const {
    input: prompt = 0,
    output: completion = 0,
    total = 0,
    cacheRead = 0,
    ...counts
  } = usageCounts(usage);
  const read = Math.min(cacheRead, prompt);
  return {
    prompt,
    cacheRead: read,
    cacheWrite: Math.min(counts.cacheWrite ?? 0, prompt - read),
    completion,
    reasoning: Math.min(counts.reasoning ?? 0, completion),
    total: Math.max(total, prompt + completion),
    requests: counts.requests ?? 1,
  };
};
