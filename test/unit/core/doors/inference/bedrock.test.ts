import { describe, expect, it } from 'vitest';
import { bedrockWays, type WayRule } from '../../../../../core/doors/inference/bedrock.ts';

const describeWays = (id: string, rule: WayRule = {}) => {
  const { ways, problem } = bedrockWays(id, rule);
  return problem ?? ways?.map(({ endpoint, api, prefix }) => `${endpoint} ${api}${prefix}`);
};

const messages = ['runtime messages/anthropic/v1', 'runtime converse'];

describe('the ways to a model of Bedrock', () => {
  it.each([
    ['amazon.nova-lite-v1:0', ['runtime converse']],
    ['eu.amazon.nova-pro-v1:0', ['runtime converse']],
    ['us.meta.llama3-3-70b-instruct-v1:0', ['runtime converse']],
    ['anthropic.claude-3-haiku-20240307-v1:0', messages],
    ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', messages],
    ['global.anthropic.claude-opus-5', messages],
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', messages],
    ['anthropic.claude-opus-4-6-v1', messages],
    ['anthropic.claude-v2:1', ['runtime converse']],
    ['anthropic.claude-opus-4-8', ['mantle messages/anthropic/v1']],
    ['openai.gpt-oss-20b-1:0', ['runtime chat/openai/v1', 'runtime converse']],
    ['openai.gpt-oss-120b', ['mantle chat/v1']],
    ['openai.gpt-5.5', ['mantle chat/openai/v1']],
    ['openai.gpt-5.6-sol', ['runtime chat/openai/v1']],
    ['openai.gpt-6-luna', ['runtime chat/openai/v1']],
    ['qwen.qwen3-32b-v1:0', ['runtime chat/openai/v1', 'runtime converse']],
    ['global.moonshotai.kimi-k3', ['runtime chat/openai/v1', 'runtime converse']],
    ['moonshot.kimi-k2-thinking', ['runtime converse']],
    ['deepseek.r1-v1:0', ['runtime converse']],
    ['deepseek.v3-v1:0', ['runtime chat/openai/v1', 'runtime converse']],
    ['somebody.new-model-v1:0', ['runtime converse']],
  ])('%s: %j', (id, expected) => {
    expect(describeWays(id)).toEqual(expected);
  });

  it.each([
    ['amazon.titan-embed-text-v2:0', 'embeddings'],
    ['amazon.nova-2-multimodal-embeddings-v1:0', 'embeddings'],
    ['us.cohere.embed-v4:0', 'embeddings'],
    ['cohere.rerank-v3-5:0', 'ranks'],
    ['amazon.nova-canvas-v1:0', 'images'],
    ['stability.sd3-5-large-v1:0', 'images'],
    ['luma.ray-v2:0', 'videos'],
    ['amazon.nova-2-sonic-v1:0', 'speaks'],
    ['amazon.titan-tg1-large', 'InvokeModel alone'],
  ])('there is none to %s, whatever its rule says', (id, reason) => {
    expect(describeWays(id)).toContain(reason);
    expect(describeWays(id, { api: 'converse' })).toContain(reason);
  });

  it('are those that a rule says', () => {
    const claude = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
    expect(describeWays(claude, { api: 'converse' })).toEqual(['runtime converse']);
    expect(describeWays(claude, { api: 'anthropic' })).toEqual(messages.slice(0, 1));
    // The tables may be older than the model.
    expect(describeWays('amazon.nova-9', { api: 'openai' })).toEqual(['runtime chat/openai/v1']);
    expect(describeWays('anthropic.claude-opus-4-8', { endpoint: 'runtime' })).toEqual(messages.slice(0, 1));
    expect(describeWays('qwen.qwen3-next', { endpoint: 'mantle' })).toEqual(['mantle chat/v1']);
    expect(describeWays('google.gemma-4-31b', { endpoint: 'mantle' })).toEqual(['mantle chat/v1']);
  });

  it('do not lead to what Mantle lacks', () => {
    expect(describeWays('google.gemma-4-31b', { endpoint: 'mantle', api: 'converse' })).toContain(
      'no Converse',
    );
    expect(describeWays('eu.anthropic.claude-opus-5', { endpoint: 'mantle' })).toContain(
      'no inference profiles: write anthropic.claude-opus-5',
    );
  });
});
