import { describe, expect, it } from 'vitest';
import { parseConversation, sharedWith } from '../../../../api/shared/conversation.ts';

const text = (role: string, words: string) => ({ role, parts: [{ kind: 'text', text: words }] });
const weather = { kind: 'call', name: 'weather', id: 'c1', input: { city: 'Ulm' } };

describe('the conversation of a call', () => {
  it('in OpenAI’s chat', () => {
    const call = {
      inputs: {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'tool', tool_call_id: 'c1', content: '{"sunny":true}' },
        ],
      },
      output: {
        choices: [
          {
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'c1', function: { name: 'weather', arguments: '{"city":"Ulm"}' } }],
            },
          },
        ],
      },
    };
    expect(parseConversation(call)).toMatchObject({
      sent: [
        text('user', 'Hi'),
        { role: 'tool', parts: [{ kind: 'result', id: 'c1', output: { sunny: true } }] },
      ],
      received: [{ role: 'assistant', parts: [weather] }],
    });
  });

  it('in OpenAI’s responses', () => {
    const call = {
      inputs: { model: 'm', instructions: 'Be brief', input: 'Hi' },
      output: {
        output: [
          { type: 'reasoning', text: 'Hm' },
          { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Ulm"}' },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Sun' }] },
        ],
      },
    };
    expect(parseConversation(call)).toMatchObject({
      sent: [text('system', 'Be brief'), text('user', 'Hi')],
      received: [
        { role: 'assistant', parts: [{ kind: 'thinking', text: 'Hm' }] },
        { role: 'assistant', parts: [weather] },
        text('assistant', 'Sun'),
      ],
    });
  });

  it('in LangChain’s, whichever way they are dumped, with an answer after the user’s last words', () => {
    const message = { type: 'human', data: { content: 'Hi', type: 'human' } };
    const asking = {
      type: 'ai',
      data: { content: '', tool_calls: [{ name: 'weather', args: { city: 'Ulm' }, id: 'c1' }] },
    };
    const call = {
      inputs: {
        messages: [{ id: ['langchain', 'SystemMessage'], kwargs: { content: 'Be brief' } }, message],
      },
      output: { messages: [message, asking, { type: 'tool', content: 'Sun', tool_call_id: 'c1' }] },
    };
    const { sent, received } = parseConversation(call) ?? {};
    expect(sent).toEqual([text('system', 'Be brief'), text('user', 'Hi')]);
    expect(received).toMatchObject([
      { role: 'assistant', parts: [weather] },
      { role: 'tool', parts: [{ kind: 'result', name: 'weather', output: 'Sun' }] },
    ]);
    const node = { ...call, output: [{ graph: null, update: { messages: [asking] } }] };
    expect(parseConversation(node)?.received).toMatchObject([{ role: 'assistant', parts: [weather] }]);
  });

  it('in Anthropic’s messages', () => {
    const call = {
      inputs: {
        system: 'Be brief',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
              { type: 'tool_result', tool_use_id: 'c1', content: 'sun' },
            ],
          },
        ],
      },
      output: { content: [{ type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Ulm' } }] },
    };
    expect(parseConversation(call)).toMatchObject({
      sent: [
        text('system', 'Be brief'),
        {
          role: 'user',
          parts: [
            { kind: 'image', url: 'data:image/png;base64,AAAA' },
            { kind: 'result', id: 'c1', output: 'sun' },
          ],
        },
      ],
      received: [{ role: 'assistant', parts: [weather] }],
    });
  });

  it('in Bedrock’s Converse', () => {
    const call = {
      inputs: { system: [{ text: 'Be brief' }], messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
      output: {
        output: {
          message: {
            role: 'assistant',
            content: [{ toolUse: { toolUseId: 'c1', name: 'weather', input: { city: 'Ulm' } } }],
          },
        },
      },
    };
    expect(parseConversation(call)).toMatchObject({
      sent: [text('system', 'Be brief'), text('user', 'Hi')],
      received: [{ role: 'assistant', parts: [weather] }],
    });
  });

  it('in OpenTelemetry’s parts', () => {
    const call = {
      inputs: { messages: [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }] },
      output: {
        messages: [
          {
            role: 'assistant',
            parts: [{ type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Ulm' } }],
          },
        ],
      },
    };
    expect(parseConversation(call)).toMatchObject({
      sent: [text('user', 'Hi')],
      received: [{ role: 'assistant', parts: [weather] }],
    });
  });

  it('is none where nothing looks like messages', () => {
    expect(parseConversation({ inputs: { question: 'Why?' }, output: 'So' })).toBeUndefined();
    expect(parseConversation({ inputs: { messages: ['a', 1] }, output: null })).toBeUndefined();
    expect(parseConversation({ inputs: { input: 'a text to embed' }, output: [] })).toBeUndefined();
  });

  it('keeps what it does not know as data', () => {
    const odd = { role: 'user', content: [{ type: 'hologram', cubes: 3 }] };
    expect(parseConversation({ inputs: { messages: [odd] }, output: null })?.sent).toEqual([
      { role: 'user', parts: [{ kind: 'other', value: { type: 'hologram', cubes: 3 } }] },
    ]);
  });
});

describe('history', () => {
  it('is what an earlier call had sent, up to the first difference', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }));
    expect(sharedWith([a, b, c], [{ ...a }, { ...b }])).toBe(2);
    expect(sharedWith([a, b], [b, a])).toBe(0);
    expect(sharedWith([a], [a, b])).toBe(1);
  });
});

describe('the results of tools', () => {
  const result = {
    type: 'tool_result',
    tool_use_id: 'c1',
    content: [{ type: 'text', text: '{"sunny":true}' }],
  };
  const call = {
    inputs: {
      messages: [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Ulm' } }],
        },
        { role: 'user', content: [result] },
      ],
    },
    output: null,
  };

  it('have the name of their tool, and are no words of the user', () => {
    const { sent = [] } = parseConversation(call) ?? {};
    expect(sent[1]).toEqual({
      role: 'tool',
      parts: [{ kind: 'result', id: 'c1', name: 'weather', output: { sunny: true } }],
    });
  });

  it('stay texts if they are no objects or lists', () => {
    const messages = [{ role: 'tool', tool_call_id: 'c1', content: '0017' }];
    expect(parseConversation({ inputs: { messages }, output: null })?.sent[0]?.parts).toEqual([
      { kind: 'result', id: 'c1', output: '0017' },
    ]);
  });
});

/** The first message of an answer, and of the request that carries it on. */
const readFirst = (message: object) => {
  const { sent, received } = parseConversation({ inputs: { messages: [message] }, output: [message] }) ?? {};
  return { sent: sent?.[0], received: received?.[0] };
};

describe('an answer without content', () => {
  const readParts = (fields: object) =>
    readFirst({ role: 'assistant', content: null, ...fields }).received?.parts;

  it('has its refusal', () => {
    expect(readParts({ refusal: 'I cannot help.' })).toEqual([{ kind: 'text', text: 'I cannot help.' }]);
  });

  it('has the call of a function', () => {
    expect(readParts({ function_call: { name: 'weather', arguments: '{"city":"Ulm"}' } })).toEqual([
      { ...weather, id: undefined },
    ]);
  });

  it('has what it carries in fields that nobody knows', () => {
    const song = { id: 'a1', words: 'Sun' };
    expect(readParts({ song })).toEqual([
      { kind: 'other', value: { role: 'assistant', content: null, song } },
    ]);
  });

  it('is empty if all of its fields are', () => {
    expect(readParts({ refusal: null, annotations: [], tool_calls: [] })).toEqual([]);
    expect(readParts({ type: 'message', id: 'msg_1', status: 'completed', content: [] })).toEqual([]);
  });
});

describe('thinking', () => {
  it.each([
    ['OpenAI’s summaries', { type: 'reasoning', summary: [{ text: 'Hm' }, { text: 'Ah' }] }, 'Hm\n\nAh'],
    ['open models', { type: 'reasoning', summary: [], content: [{ text: 'Hm' }] }, 'Hm'],
    ['encrypted items', { type: 'reasoning', summary: [], encrypted_content: 'gAAA' }, ''],
  ])('of %s is the assistant’s, in requests and answers', (_, item, text) => {
    const message = { role: 'assistant', parts: [{ kind: 'thinking', text }] };
    expect(readFirst(item)).toEqual({ sent: message, received: message });
  });

  it.each([
    ['reasoning_content', { content: 'Sun', reasoning_content: 'Hm' }],
    ['reasoning', { content: 'Sun', reasoning: 'Hm' }],
    ['Bedrock', { content: [{ reasoningContent: { reasoningText: { text: 'Hm' } } }, { text: 'Sun' }] }],
  ])('in the shape of %s comes before the answer', (_, fields) => {
    expect(readFirst({ role: 'assistant', ...fields }).received?.parts).toEqual([
      { kind: 'thinking', text: 'Hm' },
      { kind: 'text', text: 'Sun' },
    ]);
  });
});

describe('OpenInference’s images', () => {
  it('are shown', () => {
    const url = 'https://example.com/a.png';
    const readPart = (part: object) => readFirst({ role: 'user', content: [part] }).sent?.parts;
    expect(readPart({ type: 'image', image: { image: { url } } })).toEqual([{ kind: 'image', url }]);
    expect(readPart({ type: 'image', image: { url } })).toEqual([{ kind: 'image', url }]);
  });
});

describe('OpenTelemetry’s images', () => {
  const readPart = (part: object) => readFirst({ role: 'user', parts: [part] }).sent?.parts;

  it('are those of the data, or named by their address', () => {
    expect(readPart({ type: 'blob', modality: 'image', mime_type: 'image/gif', content: 'AAAA' })).toEqual([
      { kind: 'image', url: 'data:image/gif;base64,AAAA' },
    ]);
    expect(readPart({ type: 'uri', modality: 'image', uri: 'https://example.com/a.png' })).toEqual([
      { kind: 'image', url: 'https://example.com/a.png' },
    ]);
  });

  it('are no sounds, which are files', () => {
    const value = { type: 'blob', modality: 'audio', mime_type: 'audio/wav', content: 'AAAA' };
    const file = { type: 'audio/wav', source: { in: 'call', base64: 'AAAA' } };
    expect(readPart(value)).toEqual([{ kind: 'file', file }]);
  });
});

describe('OpenAI’s own tools', () => {
  it('are called by the assistant, with results of their name', () => {
    const input = [
      { type: 'custom_tool_call', call_id: 'c1', name: 'shell', input: 'ls' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'a.txt' },
      { type: 'web_search_call', id: 'w1' },
    ];
    expect(parseConversation({ inputs: { input }, output: null })?.sent).toEqual([
      { role: 'assistant', parts: [{ kind: 'call', name: 'shell', id: 'c1', input: 'ls' }] },
      { role: 'tool', parts: [{ kind: 'result', id: 'c1', name: 'shell', output: 'a.txt' }] },
      { role: 'assistant', parts: [{ kind: 'other', value: input[2] }] },
    ]);
  });
});
