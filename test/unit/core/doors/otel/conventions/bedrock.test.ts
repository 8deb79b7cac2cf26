import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

const usageOf = (scope: string, usage: Readonly<Record<string, number>>) =>
  translate(
    spanOf({
      scope,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'm',
        ...Object.fromEntries(Object.entries(usage).map(([name, count]) => [`gen_ai.usage.${name}`, count])),
      },
    }),
  ).usage?.m;

const botocore = 'opentelemetry.instrumentation.botocore.bedrock-runtime';

describe('Amazon Bedrock', () => {
  it.each([botocore, 'opentelemetry.instrumentation.bedrock'])('adds cached tokens of %s', (scope) => {
    const usage = usageOf(scope, {
      input_tokens: 200,
      output_tokens: 12,
      total_tokens: 212,
      'cache_read.input_tokens': 100,
    });
    expect(usage).toEqual({
      requests: 1,
      input_tokens: 300,
      output_tokens: 12,
      total_tokens: 312,
      cache_read_input_tokens: 100,
      input_tokens_details: { cached_tokens: 100 },
    });
  });

  it('counts a prompt that was cached as a whole', () => {
    expect(usageOf(botocore, { output_tokens: 12, 'cache_read.input_tokens': 100 })?.input_tokens).toBe(100);
  });

  it('leaves the tokens of other instrumentations as they are', () => {
    const usage = usageOf('x', { input_tokens: 200, output_tokens: 12, 'cache_read.input_tokens': 100 });
    expect(usage?.input_tokens).toBe(200);
  });

  it('adds cached tokens wherever the total does', () => {
    const counts = { input_tokens: 200, output_tokens: 12, 'cache_read.input_tokens': 100 };
    expect(usageOf('x', { ...counts, total_tokens: 312 })?.input_tokens).toBe(300);
    expect(usageOf('x', { ...counts, total_tokens: 212 })?.input_tokens).toBe(200);
  });
});
