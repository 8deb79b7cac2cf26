import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

const scope = 'gcp.vertex.agent';

describe('the Agent Development Kit', () => {
  it('counts thoughts as part of the answer', () => {
    const usage_metadata = {
      prompt_token_count: 5,
      candidates_token_count: 2,
      thoughts_token_count: 3,
      total_token_count: 10,
    };
    const { usage } = translate(
      spanOf({
        scope,
        name: 'call_llm',
        attributes: {
          'gcp.vertex.agent.llm_response': JSON.stringify({ model_version: 'm', usage_metadata }),
        },
      }),
    );
    expect(usage).toEqual({
      m: {
        requests: 1,
        input_tokens: 5,
        output_tokens: 5,
        total_tokens: 10,
        output_tokens_details: { reasoning_tokens: 3 },
      },
    });
  });

  it.each([
    ['the request by the second schema', 'gen_ai.provider.name', 'model', 5],
    ['a repeat of `call_llm` by the first', 'gen_ai.system', 'other', undefined],
  ])('takes `generate_content` for %s', (_, provider, kind, tokens) => {
    const attributes = {
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.request.model': 'm',
      [provider]: 'gemini',
      'gen_ai.usage.input_tokens': 5,
    };
    const read = translate(spanOf({ scope, name: 'generate_content m', attributes }));
    expect([read.kind, read.usage?.m?.input_tokens]).toEqual([kind, tokens]);
  });

  it('says nothing of a tool that was not told of', () => {
    const attributes = {
      'gcp.vertex.agent.tool_call_args': 'N/A',
      'gcp.vertex.agent.tool_response': '{"result":"<not specified>"}',
    };
    const { kind, inputs, output } = translate(spanOf({ scope, name: 'execute_tool x', attributes }));
    expect([kind, inputs, output]).toEqual(['tool', {}, null]);
  });

  it('knows agents by the names of earlier versions', () => {
    expect(translate(spanOf({ scope, name: 'agent_run [helper]' })).kind).toBe('agent');
  });
});
