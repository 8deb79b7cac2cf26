import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('Mastra', () => {
  it('takes a generation for the request where there are no inferences', () => {
    const attributes = {
      'mastra.span.type': 'model_generation',
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 3,
    };
    const { kind, usage } = translate(spanOf({ attributes }));
    expect([kind, usage?.m?.input_tokens]).toEqual(['model', 3]);
  });

  it.each([
    ['mcp_tool_call', 'tool'],
    ['workflow_run', 'other'],
    ['model_chunk', 'other'],
  ])('takes %s for %s', (type, kind) => {
    expect(translate(spanOf({ attributes: { 'mastra.span.type': type } })).kind).toBe(kind);
  });
});
