import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

const generation = { 'langfuse.observation.type': 'generation', 'langfuse.observation.model.name': 'm' };
const usageOf = (details: object) =>
  translate(
    spanOf({ attributes: { ...generation, 'langfuse.observation.usage_details': JSON.stringify(details) } }),
  ).usage?.m;

describe('Langfuse', () => {
  it('adds kinds of tokens that are counted apart', () => {
    expect(
      usageOf({ input: 14, input_cached_tokens: 16, output: 5, output_reasoning_tokens: 7, total: 42 }),
    ).toMatchObject({ input_tokens: 30, output_tokens: 12, total_tokens: 42, cache_read_input_tokens: 16 });
  });

  it('adds no kinds that the total shows to be details', () => {
    expect(usageOf({ input: 30, input_cached_tokens: 16, output: 12, total: 42 })).toMatchObject({
      input_tokens: 30,
      output_tokens: 12,
    });
  });

  it('reads counts by the names of OpenAI', () => {
    expect(usageOf({ prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 })).toMatchObject({
      input_tokens: 30,
      output_tokens: 12,
      total_tokens: 42,
    });
  });

  it('takes a span with a model for a generation', () => {
    expect(
      translate(spanOf({ attributes: { ...generation, 'langfuse.observation.type': 'span' } })).kind,
    ).toBe('model');
  });

  it('has an error where its level says so, and only there', () => {
    const said = 'langfuse.observation.status_message';
    const level = 'langfuse.observation.level';
    expect(translate(spanOf({ attributes: { [level]: 'ERROR', [said]: 'no' } })).exception).toBe('no');
    expect(translate(spanOf({ attributes: { [level]: 'WARNING', [said]: 'no' } })).exception).toBeUndefined();
  });
});
