import { isJsonObject, type JsonObject, type JsonValue } from '../wire/index.ts';

const tokens = (usage: JsonObject, ...names: readonly string[]): number | undefined =>
  names.map((name) => usage[name]).find((value) => typeof value === 'number');

/**
 * What an answer says that it took, as a call's `summary.usage` has it: by the model that the
 * answer names, in tokens. The Responses API counts input and output, the others prompt and
 * completion. A stream says nothing of it unless its request asked, by `stream_options`: then there
 * is the request alone.
 *
 * @param answer the answer's JSON
 * @param asked the model that was asked for, where the answer names none
 */
export const usageOf = (answer: JsonValue, asked: string): JsonObject => {
  const given = isJsonObject(answer) ? answer : {};
  const model = typeof given.model === 'string' && given.model !== '' ? given.model : asked;
  if (!isJsonObject(given.usage)) return { [model]: { requests: 1 } };
  const { usage } = given;
  const prompt = tokens(usage, 'prompt_tokens', 'input_tokens') ?? 0;
  const completion = tokens(usage, 'completion_tokens', 'output_tokens') ?? 0;
  const total = tokens(usage, 'total_tokens') ?? prompt + completion;
  return {
    [model]: { requests: 1, prompt_tokens: prompt, completion_tokens: completion, total_tokens: total },
  };
};
