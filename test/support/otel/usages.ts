/**
 * One request, as each provider and SDK says it: 1,000 tokens of a prompt, 5,000 more from the cache
 * and 600 written to it, and an answer of 200 tokens, of which 150 are reasoning. Where writing to the cache
 * is not counted, the 600 are as others.
 */
export const usages: readonly (readonly [name: string, usage: object, written: number])[] = [
  [
    'OpenAI’s chat',
    {
      prompt_tokens: 6600,
      completion_tokens: 200,
      total_tokens: 6800,
      prompt_tokens_details: { cached_tokens: 5000, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 150, accepted_prediction_tokens: 0 },
    },
    0,
  ],
  [
    'OpenAI’s responses',
    {
      input_tokens: 6600,
      output_tokens: 200,
      total_tokens: 6800,
      input_tokens_details: { cached_tokens: 5000 },
      output_tokens_details: { reasoning_tokens: 150 },
    },
    0,
  ],
  [
    'Anthropic',
    {
      input_tokens: 1000,
      output_tokens: 200,
      cache_read_input_tokens: 5000,
      cache_creation_input_tokens: 600,
      cache_creation: { ephemeral_5m_input_tokens: 600, ephemeral_1h_input_tokens: 0 },
      service_tier: 'standard',
    },
    600,
  ],
  [
    'Anthropic, with a total that somebody summed up of all',
    {
      input_tokens: 1000,
      output_tokens: 200,
      total_tokens: 6800,
      cache_read_input_tokens: 5000,
      cache_creation_input_tokens: 600,
    },
    600,
  ],
  [
    'Anthropic, with a total that somebody summed up of two',
    {
      input_tokens: 1000,
      output_tokens: 200,
      total_tokens: 1200,
      cache_read_input_tokens: 5000,
      cache_creation_input_tokens: 600,
    },
    600,
  ],
  [
    'the Claude Agent SDK',
    { inputTokens: 1000, outputTokens: 200, cacheReadInputTokens: 5000, cacheCreationInputTokens: 600 },
    600,
  ],
  [
    'Bedrock’s Converse',
    {
      inputTokens: 1000,
      outputTokens: 200,
      totalTokens: 1200,
      cacheReadInputTokens: 5000,
      cacheWriteInputTokens: 600,
    },
    600,
  ],
  [
    'Bedrock’s Converse, with all in its total',
    {
      inputTokens: 1000,
      outputTokens: 200,
      totalTokens: 6800,
      cacheReadInputTokens: 5000,
      cacheWriteInputTokens: 600,
    },
    600,
  ],
  [
    'Weave, of Bedrock',
    {
      requests: 1,
      prompt_tokens: 6600,
      completion_tokens: 200,
      total_tokens: 1200,
      cache_read_input_tokens: 5000,
      cache_creation_input_tokens: 600,
    },
    600,
  ],
  [
    'Weave, of Gemini',
    {
      requests: 1,
      prompt_tokens: 6600,
      completion_tokens: 50,
      thoughts_tokens: 150,
      total_tokens: 6800,
      cache_read_input_tokens: 5000,
    },
    0,
  ],
  [
    'Gemini',
    {
      promptTokenCount: 6600,
      candidatesTokenCount: 50,
      thoughtsTokenCount: 150,
      totalTokenCount: 6800,
      cachedContentTokenCount: 5000,
    },
    0,
  ],
  [
    'our endpoints of OpenTelemetry',
    {
      requests: 1,
      input_tokens: 6600,
      output_tokens: 200,
      total_tokens: 6800,
      cache_read_input_tokens: 5000,
      cache_creation_input_tokens: 600,
      input_tokens_details: { cached_tokens: 5000 },
      output_tokens_details: { reasoning_tokens: 150 },
    },
    600,
  ],
  [
    'our inference endpoint, of Anthropic',
    {
      requests: 1,
      prompt_tokens: 6600,
      completion_tokens: 200,
      total_tokens: 6800,
      prompt_tokens_details: { cached_tokens: 5000 },
      cache_creation_input_tokens: 600,
    },
    600,
  ],
  [
    'LangChain',
    {
      input_tokens: 6600,
      output_tokens: 200,
      total_tokens: 6800,
      input_token_details: { cache_read: 5000, cache_creation: 600 },
      output_token_details: { reasoning: 150 },
    },
    600,
  ],
  [
    'the AI SDK',
    {
      inputTokens: 6600,
      inputTokenDetails: { noCacheTokens: 1000, cacheReadTokens: 5000, cacheWriteTokens: 600 },
      outputTokens: 200,
      outputTokenDetails: { textTokens: 50, reasoningTokens: 150 },
      totalTokens: 6800,
      reasoningTokens: 150,
      cachedInputTokens: 5000,
    },
    600,
  ],
];
