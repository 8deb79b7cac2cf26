import type { Convention } from './convention.ts';
import { genAiCounts } from './gen-ai.ts';

/** OpenTelemetry's instrumentation of botocore, and OpenLLMetry's of Bedrock for Python. */
const scopes: ReadonlySet<string> = new Set([
  'opentelemetry.instrumentation.botocore.bedrock-runtime',
  'opentelemetry.instrumentation.bedrock',
]);

/**
 * Amazon Bedrock, as instrumentations that hand its counts on have it: cached tokens are beside
 * those of the prompt, and a total leaves them out.
 * Source: Bedrock's `TokenUsage`, and `converse_usage_record` of
 * opentelemetry-instrumentation-bedrock.
 */
export const bedrock: Convention = {
  matches: ({ span }) => scopes.has(span.scope.name),
  usage: (span) => {
    const counts = genAiCounts(span);
    const cached = (counts.cacheRead ?? 0) + (counts.cacheWrite ?? 0);
    return cached === 0 ? counts : { ...counts, input: (counts.input ?? 0) + cached };
  },
};
