import { readTokens } from '../../../api/shared/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../foundations/wire/index.ts';

/** A usage whose cached tokens are said to be among `input_tokens`, as OpenAI says it. */
const withDetails = (usage: JsonObject, cacheRead: number): JsonObject => ({
  ...usage,
  input_tokens_details: { cached_tokens: cacheRead },
});

/**
 * A summary whose usage cannot be misread. Newer Python SDKs add Anthropic's cached tokens to
 * `input_tokens`, under Anthropic's names, which count them apart. The output has Anthropic's own counts:
 * where they show that the cached tokens are in already, the usage says so.
 *
 * @param summary that of an end
 * @param output the same end's
 */
export const withCachedTokens = (summary: JsonObject, output: JsonValue): JsonObject => {
  const own = isJsonObject(output) ? output.usage : undefined;
  const { usage } = summary;
  if (own === undefined || usage === undefined || !isJsonObject(own) || !isJsonObject(usage)) return summary;
  const { prompt, cacheRead, cacheWrite } = readTokens(own);
  const isWhole = (used: JsonValue): used is JsonObject =>
    isJsonObject(used) &&
    Number(used.input_tokens) === prompt &&
    Number(own.input_tokens) === prompt - cacheRead - cacheWrite;
  if (cacheRead + cacheWrite === 0 || !Object.values(usage).some(isWhole)) return summary;
  return {
    ...summary,
    usage: Object.fromEntries(
      Object.entries(usage).map(([model, used]) => [
        model,
        isWhole(used) ? withDetails(used, cacheRead) : used,
      ]),
    ),
  };
};
