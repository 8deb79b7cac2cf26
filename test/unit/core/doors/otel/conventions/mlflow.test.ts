import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('MLflow', () => {
  it('reads values that are all JSON text', () => {
    const { kind, inputs, output, threadId, userId } = translate(
      spanOf({
        attributes: {
          'mlflow.spanType': '"LLM"',
          'mlflow.spanInputs': '{"messages":[{"role":"user","content":"hi"}]}',
          'mlflow.spanOutputs': '"hello"',
          'mlflow.llm.model': '"m"',
          'mlflow.trace.session': '"s"',
          'mlflow.trace.user': '"u"',
        },
      }),
    );
    expect([kind, threadId, userId]).toEqual(['model', 's', 'u']);
    expect(inputs).toEqual({ messages: [{ role: 'user', content: 'hi' }], model: 'm' });
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello' }] });
  });
});
