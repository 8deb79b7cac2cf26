import { isJsonObject, type JsonObject, type JsonValue, plainNumber } from '../../foundations/wire/index.ts';

const tokens = (usage: JsonObject, ...names: readonly string[]): number | undefined =>
  names.map((name) => plainNumber(usage[name])).find((value) => typeof value === 'number');

/**
 * The usage of an answer as a call's `summary.usage` holds it: tokens by the model that the answer
 * names. The Responses API counts input and output tokens, the others prompt and completion. A
 * stream reports none unless the request set `stream_options`; then only the request is counted.
 *
 * @param answer the answer's JSON
 * @param requested the requested model, for an answer that names none
 */
export const usageOf = (answer: JsonValue, requested: string): JsonObject => {
  const fields = isJsonObject(answer) ? answer : {};
  const model = typeof fields.model === 'string' && fields.model !== '' ? fields.model : requested;
  if (!isJsonObject(fields.usage)) return { [model]: { requests: 1 } };
  const { usage } = fields;
  const prompt = tokens(usage, 'prompt_tokens', 'input_tokens') ?? 0;
  const completion = tokens(usage, 'completion_tokens', 'output_tokens') ?? 0;
  const total = tokens(usage, 'total_tokens') ?? prompt + completion;
  return {
    [model]: { requests: 1, prompt_tokens: prompt, completion_tokens: completion, total_tokens: total },
  };
};
