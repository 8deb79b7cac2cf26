import { describe, expect, it } from 'vitest';
import { emptyDraft, toDraft, toRequest } from '../../../../../web/views/playground/draft.ts';

const toBody = (inputs: Record<string, unknown>) => {
  const draft = toDraft({ inputs, output: null });
  if (!draft) throw new Error('no draft');
  const request = toRequest(draft);
  if ('problem' in request) throw new Error(request.problem);
  return request.body;
};

const stream = { stream: true, stream_options: { include_usage: true } };

describe('the request of the playground', () => {
  it('is that of a recorded chat, as it was', () => {
    const tool = { type: 'function', function: { name: 'find', parameters: { type: 'object' } } };
    const call = { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"order":"W1"}' } };
    const inputs = {
      model: 'gpt-4o-mini',
      temperature: 0.2,
      tools: [tool],
      tool_choice: 'auto',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Where is W1?' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: '{"status":"sent"}' },
      ],
    };
    expect(toBody(inputs)).toEqual({ ...inputs, ...stream });
  });

  it('leaves out what was only thought', () => {
    const input = [
      { role: 'user', content: 'Hi' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
    ];
    expect(toBody({ model: 'm', input }).messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ]);
  });

  it('puts Anthropic’s system prompt, tools, images and results into OpenAI’s shape', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } };
    const inputs = {
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      stop_sequences: ['END'],
      metadata: { user_id: 'a' },
      tool_choice: { type: 'auto' },
      system: 'Be brief.',
      tools: [{ name: 'find', description: 'Finds', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: [image, { type: 'text', text: 'What is it?' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'find', input: { a: 1 } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'A chain' }] },
      ],
    };
    expect(toBody(inputs)).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      stop: ['END'],
      tools: [
        {
          type: 'function',
          function: { name: 'find', description: 'Finds', parameters: { type: 'object' } },
        },
      ],
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 't1', type: 'function', function: { name: 'find', arguments: '{"a":1}' } }],
        },
        { role: 'tool', content: 'A chain', tool_call_id: 't1' },
      ],
      ...stream,
    });
  });

  it('takes Bedrock’s configuration along', () => {
    const inputs = {
      modelId: 'amazon.nova-lite-v1:0',
      inferenceConfig: { maxTokens: 50, topP: 0.9 },
      toolConfig: { tools: [{ toolSpec: { name: 'find', inputSchema: { json: { type: 'object' } } } }] },
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
    };
    expect(toBody(inputs)).toMatchObject({
      model: 'amazon.nova-lite-v1:0',
      max_tokens: 50,
      top_p: 0.9,
      tools: [{ function: { name: 'find', parameters: { type: 'object' } } }],
      messages: [{ role: 'user', content: 'Hi' }],
    });
  });

  it('is none for a call without a conversation', () => {
    expect(toDraft({ inputs: { city: 'Ulm' }, output: 1 })).toBeUndefined();
  });

  it.each([
    [{ model: ' ' }, 'Name a model.'],
    [{ model: 'm', messages: [] }, 'Write at least one message.'],
    [{ model: 'm', parameters: '[1]' }, 'The parameters are not a JSON object.'],
    [{ model: 'm', parameters: '{"a":' }, 'The parameters are not a JSON object.'],
  ])('says what is wrong with a draft: %j', (change, problem) => {
    expect(toRequest({ ...emptyDraft(), ...change })).toEqual({ problem });
  });

  it('says in which message the fields are wrong', () => {
    const { messages } = emptyDraft();
    const broken = messages.map((message) => ({ ...message, extra: '{' }));
    expect(toRequest({ model: 'm', messages: broken, parameters: '' })).toEqual({
      problem: 'The other fields of message 1 are not a JSON object.',
    });
  });
});
