import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

const chat = { 'gen_ai.operation.name': 'chat' };

describe('OpenTelemetry GenAI span events', () => {
  it('reads a body that is JSON in one attribute, as the Azure SDKs write it', () => {
    const { inputs, output } = translate(
      spanOf({
        attributes: chat,
        events: [
          ['gen_ai.user.message', { 'gen_ai.event.content': '{"role":"user","content":"hi"}' }],
          [
            'gen_ai.choice',
            { 'gen_ai.event.content': '{"message":{"content":"hello"},"finish_reason":"stop","index":0}' },
          ],
        ],
      }),
    );
    expect(inputs).toEqual({ messages: [{ role: 'user', content: 'hi' }] });
    expect(output).toEqual({
      messages: [{ role: 'assistant', content: 'hello', finish_reason: 'stop' }],
    });
  });

  it('reads the events of prompt and completion that came before messages', () => {
    const { inputs, output, usedEvents } = translate(
      spanOf({
        attributes: chat,
        events: [
          ['gen_ai.content.prompt', { 'gen_ai.prompt': '[{"role":"user","content":"hi"}]' }],
          ['something', {}],
          ['gen_ai.content.completion', { 'gen_ai.completion': 'hello' }],
        ],
      }),
    );
    expect(inputs.messages).toEqual([{ role: 'user', content: 'hi' }]);
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello' }] });
    expect([...usedEvents].sort()).toEqual([0, 2]);
  });

  it('reads the event that has all details of a request', () => {
    const text = (role: string, content: string) =>
      JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
    const details = 'gen_ai.client.inference.operation.details';
    const { inputs, output } = translate(
      spanOf({
        attributes: chat,
        events: [
          [details, { 'gen_ai.input.messages': text('user', 'hi') }],
          [details, { 'gen_ai.output.messages': text('assistant', 'hello') }],
        ],
      }),
    );
    expect(inputs.messages).toEqual([{ role: 'user', content: 'hi' }]);
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello' }] });
  });

  it('reads arguments and result of a tool from details', () => {
    const details = 'gen_ai.client.inference.operation.details';
    const call = { type: 'tool_call', id: 'c', name: 'f', arguments: { city: 'Paris' } };
    const response = { type: 'tool_call_response', id: 'c', response: [{ text: 'sunny' }] };
    const { inputs, output } = translate(
      spanOf({
        attributes: { 'gen_ai.operation.name': 'execute_tool' },
        events: [
          [details, { 'gen_ai.input.messages': JSON.stringify([{ role: 'tool', parts: [call] }]) }],
          [details, { 'gen_ai.output.messages': JSON.stringify([{ role: 'tool', parts: [response] }]) }],
        ],
      }),
    );
    expect([inputs, output]).toEqual([{ city: 'Paris' }, 'sunny']);
  });
});
