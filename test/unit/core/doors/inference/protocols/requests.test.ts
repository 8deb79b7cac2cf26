import { describe, expect, it } from 'vitest';
import {
  type Api,
  type ClientApi,
  translate,
} from '../../../../../../core/doors/inference/protocols/index.ts';
import { type JsonObject, parseJson, ServiceError } from '../../../../../../foundations/wire/index.ts';

const claude = 'claude-sonnet-4-5-20250929';
const claudeOnBedrock = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const newClaude = 'claude-opus-5';
const nova = 'eu.amazon.nova-2-lite-v1:0';

const translated = (
  from: ClientApi,
  to: Api,
  body: JsonObject,
  model = claude,
  betas: readonly string[] = [],
): JsonObject => translate(from, to, { model: 'asked', ...body }, model, { betas })?.body ?? {};

/** The places and messages of what is refused. */
const refused = (from: ClientApi, to: Api, body: JsonObject, model = claude): Record<string, string> => {
  try {
    translated(from, to, body, model);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.status).toBe(422);
    return Object.fromEntries(error.detail.map(({ loc, msg }) => [loc.join('.'), msg]));
  }
  return {};
};

const hello = [{ role: 'user', content: 'Hello' }];
const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'of a town',
    parameters: { type: 'object', properties: { town: { type: 'string' } } },
  },
};
const weatherBlock = {
  name: 'weather',
  description: 'of a town',
  input_schema: { type: 'object', properties: { town: { type: 'string' } } },
};
const call = (id: string, town: string) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: JSON.stringify({ town }) },
});
const png = 'iVBORw0KGgo=';

describe('a request of Chat Completions', () => {
  it('is passed on where the upstream speaks the same', () => {
    expect(translate('chat', 'chat', { messages: hello }, 'm')).toBeUndefined();
    expect(translate('messages', 'messages', { messages: hello }, 'm')).toBeUndefined();
  });

  it('becomes one of Messages, with the upstream’s name of the model', () => {
    const body = {
      messages: [
        { role: 'developer', content: 'Be short.' },
        { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
        ...hello,
        { role: 'assistant', content: '', tool_calls: [call('a', 'Rome'), call('b', 'Oslo')] },
        { role: 'tool', tool_call_id: 'a', content: 'sun' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'snow' }] },
        { role: 'user', content: 'And now?' },
      ],
      tools: [weather],
      tool_choice: 'required',
      parallel_tool_calls: false,
      max_completion_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stop: 'END',
      user: 'ada',
      stream: true,
      stream_options: { include_usage: true },
      n: 1,
      presence_penalty: 0,
      logprobs: false,
      store: false,
      metadata: { label: 'x' },
    };
    expect(translated('chat', 'messages', body)).toEqual({
      model: claude,
      max_tokens: 100,
      system: [
        { type: 'text', text: 'Be short.' },
        { type: 'text', text: 'Be kind.' },
      ],
      messages: [
        { role: 'user', content: 'Hello' },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'weather', input: { town: 'Rome' } },
            { type: 'tool_use', id: 'b', name: 'weather', input: { town: 'Oslo' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'sun' },
            { type: 'tool_result', tool_use_id: 'b', content: 'snow' },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
      tools: [weatherBlock],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['END'],
      metadata: { user_id: 'ada' },
      stream: true,
    });
  });

  it('becomes one of Converse, without model and streaming, which are in the path', () => {
    const body = {
      messages: [
        { role: 'system', content: 'Be short.' },
        ...hello,
        { role: 'assistant', content: null, tool_calls: [call('a', 'Rome')] },
        { role: 'tool', tool_call_id: 'a', content: 'sun' },
      ],
      tools: [weather],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      max_tokens: 100,
      temperature: 0.5,
      stop: ['END', 'STOP'],
      stream: true,
    };
    expect(translated('chat', 'converse', body, nova)).toEqual({
      system: [{ text: 'Be short.' }],
      messages: [
        { role: 'user', content: [{ text: 'Hello' }] },
        {
          role: 'assistant',
          content: [{ toolUse: { toolUseId: 'a', name: 'weather', input: { town: 'Rome' } } }],
        },
        { role: 'user', content: [{ toolResult: { toolUseId: 'a', content: [{ text: 'sun' }] } }] },
      ],
      inferenceConfig: { maxTokens: 100, temperature: 0.5, stopSequences: ['END', 'STOP'] },
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'weather',
              description: 'of a town',
              inputSchema: { json: weather.function.parameters },
            },
          },
        ],
        toolChoice: { tool: { name: 'weather' } },
      },
    });
  });

  it('keeps numbers as they were written, in fields and in arguments of tools', () => {
    const body = parseJson(
      '{"temperature": 0.50, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\\"n\\": 12345678901234567890, \\"x\\": 1.0}"}}]}, {"role": "tool", "tool_call_id": "a", "content": "y"}]}',
    ) as JsonObject;
    for (const to of ['messages', 'converse'] as const) {
      const text = JSON.stringify(translated('chat', to, body, claudeOnBedrock));
      expect(text).toContain('"temperature":0.50');
      expect(text).toContain('{"n":12345678901234567890,"x":1.0}');
    }
  });

  it('has its images and files in each API’s way', () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'high' } },
      {
        type: 'file',
        file: { filename: 'the file?.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
      },
      { type: 'file', file: { filename: 'the file?.pdf', file_data: 'data:text/plain;base64,aGk=' } },
    ];
    expect(translated('chat', 'messages', { messages: [{ role: 'user', content }] }).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
            title: 'the file?.pdf',
          },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'hi' },
            title: 'the file?.pdf',
          },
        ],
      },
    ]);
    expect(translated('chat', 'converse', { messages: [{ role: 'user', content }] }, nova).messages).toEqual([
      {
        role: 'user',
        content: [
          { text: 'What is this?' },
          { image: { format: 'png', source: { bytes: png } } },
          { document: { format: 'pdf', name: 'the file-', source: { bytes: 'JVBERi0=' } } },
          { document: { format: 'txt', name: 'the file--2', source: { text: 'hi' } } },
        ],
      },
    ]);
  });

  it('has images by URL in Messages, and not in Converse, which takes bytes alone', () => {
    const messages = [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
    ];
    expect(translated('chat', 'messages', { messages }).messages).toEqual([
      {
        role: 'user',
        content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }],
      },
    ]);
    expect(refused('chat', 'converse', { messages }, nova)).toEqual({
      'body.messages.0.content.0': expect.stringContaining('send the image itself, as a data: URL or base64'),
    });
  });

  it('has its audio in Converse, and not in Messages', () => {
    const part = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
    const messages = [{ role: 'user', content: [part] }];
    expect(translated('chat', 'converse', { messages }, nova).messages).toEqual([
      { role: 'user', content: [{ audio: { format: 'wav', source: { bytes: 'AAAA' } } }] },
    ]);
    expect(Object.keys(refused('chat', 'messages', { messages }))).toEqual(['body.messages.0.content.0']);
  });

  it('asks for JSON by its schema', () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, additionalProperties: false };
    const response_format = {
      type: 'json_schema',
      json_schema: { name: 'verdict', description: 'a verdict', strict: true, schema },
    };
    expect(translated('chat', 'messages', { messages: hello, response_format }).output_config).toEqual({
      format: { type: 'json_schema', schema: { description: 'a verdict', ...schema } },
    });
    expect(translated('chat', 'converse', { messages: hello, response_format }, nova).outputConfig).toEqual({
      textFormat: {
        type: 'json_schema',
        structure: {
          jsonSchema: { name: 'verdict', description: 'a verdict', schema: JSON.stringify(schema) },
        },
      },
    });
    expect(
      refused('chat', 'messages', { messages: hello, response_format: { type: 'json_object' } }),
    ).toEqual({
      'body.response_format.type': expect.stringContaining('give the schema of the answer'),
    });
  });

  it.each([
    [
      claude,
      'high',
      { max_completion_tokens: 10_000 },
      { thinking: { type: 'enabled', budget_tokens: 8000 } },
    ],
    [claude, 'low', { max_completion_tokens: 2000 }, { thinking: { type: 'enabled', budget_tokens: 1024 } }],
    [claude, 'none', {}, { thinking: { type: 'disabled' } }],
    [newClaude, 'high', {}, { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    [newClaude, 'minimal', {}, { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
    ['kimi-k3', 'high', {}, { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
  ])('has %s reason by its effort %s', (model, reasoning_effort, more, expected) => {
    const body = translated('chat', 'messages', { messages: hello, reasoning_effort, ...more }, model);
    expect(body).toMatchObject(expected);
  });

  it.each([
    [
      nova,
      { additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } } },
    ],
    ['openai.gpt-oss-120b-1:0', { additionalModelRequestFields: { reasoning_effort: 'high' } }],
    ['us.openai.gpt-6', { additionalModelRequestFields: { reasoning: { effort: 'high' } } }],
    [
      'eu.anthropic.claude-opus-5',
      {
        additionalModelRequestFields: { thinking: { type: 'adaptive' } },
        outputConfig: { effort: 'high' },
      },
    ],
    [
      claudeOnBedrock,
      {
        inferenceConfig: { maxTokens: 32_000 },
        additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 25_600 } },
      },
    ],
    ['deepseek.v4', { outputConfig: { effort: 'high' } }],
  ])('has %s reason by Converse', (model, expected) => {
    const body = translated('chat', 'converse', { messages: hello, reasoning_effort: 'high' }, model);
    expect(body).toEqual({ messages: [{ role: 'user', content: [{ text: 'Hello' }] }], ...expected });
  });

  it('gives thinking back with its signature, and not without', () => {
    const messages = [
      ...hello,
      {
        role: 'assistant',
        content: 'Hi',
        reasoning_content: 'Hm.',
        thinking_blocks: [
          { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
          { type: 'redacted_thinking', data: 'xx' },
        ],
      },
      { role: 'user', content: 'more' },
      { role: 'assistant', content: 'Yes', reasoning_content: 'Hm.' },
      { role: 'user', content: 'more' },
    ];
    const blocks = translated('chat', 'messages', { messages }).messages as JsonObject[];
    expect(blocks[1]?.content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'redacted_thinking', data: 'xx' },
      { type: 'text', text: 'Hi' },
    ]);
    expect(blocks[3]?.content).toBe('Yes');
    const converse = translated('chat', 'converse', { messages }, claudeOnBedrock).messages as JsonObject[];
    expect(converse[1]?.content).toEqual([
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
      { reasoningContent: { redactedContent: 'xx' } },
      { text: 'Hi' },
    ]);
  });

  it('names the tools of earlier calls where it gives none, and has none called', () => {
    const messages = [
      ...hello,
      { role: 'assistant', tool_calls: [call('a', 'Rome')] },
      { role: 'tool', tool_call_id: 'a', content: 'sun' },
    ];
    expect(translated('chat', 'messages', { messages })).toMatchObject({
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      tool_choice: { type: 'none' },
    });
    expect(translated('chat', 'converse', { messages }, claudeOnBedrock)).toMatchObject({
      toolConfig: { tools: [{ toolSpec: { name: 'weather', inputSchema: { json: { type: 'object' } } } }] },
      additionalModelRequestFields: { tool_choice: { type: 'none' } },
    });
    expect(refused('chat', 'converse', { messages }, nova)).toEqual({
      'body.tools': expect.stringContaining('earlier calls need their tools'),
    });
  });

  it('offers only the tools that it allows', () => {
    const other = { type: 'function', function: { name: 'other' } };
    const tool_choice = {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'weather' } }] },
    };
    const body = translated('chat', 'messages', { messages: hello, tools: [weather, other], tool_choice });
    expect(body).toMatchObject({ tools: [weatherBlock], tool_choice: { type: 'any' } });
    expect(body.tools).toHaveLength(1);
  });

  it('leaves out what all Claude models take anyway: newer ones refuse to be told', () => {
    const body = { messages: hello, temperature: 1, top_p: 1 };
    expect(Object.keys(translated('chat', 'messages', body)).sort()).toEqual([
      'max_tokens',
      'messages',
      'model',
    ]);
    expect(translated('chat', 'converse', body, nova).inferenceConfig).toEqual({ temperature: 1, topP: 1 });
  });

  it('tells Messages how long an answer may be, which it must be told', () => {
    expect(translated('chat', 'messages', { messages: hello }, claude).max_tokens).toBe(32_000);
    expect(translated('chat', 'messages', { messages: hello }, 'claude-3-haiku-20240307').max_tokens).toBe(
      4096,
    );
    expect(translated('chat', 'messages', { messages: hello }, 'other').max_tokens).toBe(4096);
  });

  it('is cached where the model has a cache', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const body = {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Long.', cache_control }] },
        {
          role: 'user',
          content: [{ type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }],
        },
      ],
    };
    expect(translated('chat', 'messages', body)).toMatchObject({
      system: [{ type: 'text', text: 'Long.', cache_control }],
      messages: [{ content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
    });
    expect(translated('chat', 'converse', body, claudeOnBedrock)).toMatchObject({
      system: [{ text: 'Long.' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      messages: [{ content: [{ text: 'Hi' }, { cachePoint: { type: 'default' } }] }],
    });
    expect(translated('chat', 'converse', body, nova).system).toEqual([
      { text: 'Long.' },
      { cachePoint: { type: 'default' } },
    ]);
    expect(translated('chat', 'converse', body, 'meta.llama4').system).toEqual([{ text: 'Long.' }]);
  });

  it.each([
    ['n', 2],
    ['logprobs', true],
    ['top_logprobs', 3],
    ['seed', 7],
    ['frequency_penalty', 0.5],
    ['presence_penalty', -1],
    ['logit_bias', { 50256: -100 }],
    ['modalities', ['text', 'audio']],
    ['audio', { voice: 'alloy', format: 'wav' }],
    ['web_search_options', {}],
    ['verbosity', 'low'],
    ['service_tier', 'scale'],
    ['functions', [{ name: 'f' }]],
    ['function_call', 'auto'],
    ['guided_json', {}],
    ['__proto__', 1],
  ])('is refused by name for %s', (name, value) => {
    const body = Object.fromEntries([
      ['messages', hello],
      [name, value],
    ]) as JsonObject;
    for (const [to, model] of [
      ['messages', claude],
      ['converse', nova],
    ] as const) {
      const found = refused('chat', to, body, model);
      expect(Object.keys(found)).toEqual([`body.${name}`]);
      expect(Object.values(found)[0]).toContain(
        to === 'messages'
          ? "cannot be said in Anthropic's Messages API"
          : "cannot be said in Bedrock's Converse API",
      );
    }
  });

  it('is refused with every place at once, as deep as it is', () => {
    const messages = [
      { role: 'user', name: 'ada', content: [{ type: 'video', video: {} }] },
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '[1' } }],
      },
      { role: 'assistant', audio: { id: 'x' } },
      { role: 'function', name: 'f', content: 'x' },
      { role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] },
    ];
    const tools = [{ type: 'custom', custom: { name: 'x' } }];
    expect(Object.keys(refused('chat', 'messages', { messages, tools, temperature: 1.5 }))).toEqual([
      'body.messages.0.content.0.type',
      'body.messages.0.content.0.video',
      'body.messages.0.name',
      'body.messages.1.tool_calls.0.function.arguments',
      'body.messages.2.audio',
      'body.messages.3.role',
      'body.messages.4.content.0.file.file_id',
      'body.messages.4.content.0.file.file_data',
      'body.tools.0.type',
      'body.temperature',
    ]);
  });
});

describe('a request of Messages', () => {
  it('becomes one of Chat Completions', () => {
    const body = {
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be short.', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'signed by Claude', signature: 'sig' },
            { type: 'thinking', thinking: 'Hm.', signature: '' },
            { type: 'text', text: 'Let me see.' },
            { type: 'tool_use', id: 'a', name: 'weather', input: { town: 'Rome' } },
            { type: 'tool_use', id: 'b', name: 'weather', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'sun' }] },
            { type: 'tool_result', tool_use_id: 'b', content: 'no town', is_error: true },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
      tools: [{ ...weatherBlock, cache_control: { type: 'ephemeral' } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      temperature: 0.5,
      stop_sequences: ['END'],
      thinking: { type: 'enabled', budget_tokens: 8000 },
      metadata: { user_id: 'ada' },
      stream: true,
    };
    expect(translated('messages', 'chat', body, 'gpt-6')).toEqual({
      model: 'gpt-6',
      messages: [
        { role: 'system', content: 'Be short.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
            {
              type: 'file',
              file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
            },
          ],
        },
        {
          role: 'assistant',
          content: 'Let me see.',
          reasoning_content: 'Hm.',
          tool_calls: [
            call('a', 'Rome'),
            { id: 'b', type: 'function', function: { name: 'weather', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'sun' },
        { role: 'tool', tool_call_id: 'b', content: 'Error: no town' },
        { role: 'user', content: 'And?' },
      ],
      max_completion_tokens: 100,
      temperature: 0.5,
      stop: ['END'],
      tools: [weather],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning_effort: 'medium',
      user: 'ada',
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('becomes one of Converse that says to Claude what it said', () => {
    const body = {
      max_tokens: 4000,
      system: 'Be short.',
      cache_control: { type: 'ephemeral' },
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'A text.' },
              title: 'A title',
              context: 'old',
              citations: { enabled: true },
              cache_control: { type: 'ephemeral', ttl: '1h' },
            },
            { type: 'text', text: 'Sum up.' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
            { type: 'tool_use', id: 'a', name: 'weather', input: { town: 'Rome' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              is_error: true,
              content: [
                { type: 'text', text: 'seen:' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
              ],
            },
          ],
        },
      ],
      tools: [{ ...weatherBlock, strict: true, cache_control: { type: 'ephemeral' } }],
      tool_choice: { type: 'any' },
      top_k: 5,
      stop_sequences: ['END'],
      thinking: { type: 'enabled', budget_tokens: 2000 },
      output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
      metadata: { user_id: 'ada' },
      service_tier: 'auto',
      stream: true,
    };
    const betas = ['context-1m-2025-08-07', 'claude-code-20250219'];
    expect(translated('messages', 'converse', body, claudeOnBedrock, betas)).toEqual({
      system: [{ text: 'Be short.' }],
      messages: [
        {
          role: 'user',
          content: [
            {
              document: {
                format: 'txt',
                name: 'A title',
                context: 'old',
                citations: { enabled: true },
                source: { text: 'A text.' },
              },
            },
            { cachePoint: { type: 'default', ttl: '1h' } },
            { text: 'Sum up.' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
            { toolUse: { toolUseId: 'a', name: 'weather', input: { town: 'Rome' } } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              toolResult: {
                toolUseId: 'a',
                content: [{ text: 'seen:' }, { image: { format: 'png', source: { bytes: png } } }],
                status: 'error',
              },
            },
            { cachePoint: { type: 'default' } },
          ],
        },
      ],
      inferenceConfig: { maxTokens: 4000, stopSequences: ['END'] },
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'weather',
              description: 'of a town',
              inputSchema: { json: weatherBlock.input_schema },
              strict: true,
            },
          },
          { cachePoint: { type: 'default' } },
        ],
        toolChoice: { any: {} },
      },
      additionalModelRequestFields: {
        thinking: { type: 'enabled', budget_tokens: 2000 },
        top_k: 5,
        anthropic_beta: ['context-1m-2025-08-07'],
      },
      additionalModelResponseFieldPaths: ['/stop_sequence', '/delta/stop_sequence'],
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { name: 'answer', schema: '{"type":"object"}' } },
        },
        effort: 'high',
      },
    });
  });

  it('says in Chat Completions what a model may not do', () => {
    const body = (choice: JsonObject) => ({ messages: hello, tools: [weatherBlock], tool_choice: choice });
    const translateChoice = (choice: JsonObject) => translated('messages', 'chat', body(choice)).tool_choice;
    expect(translateChoice({ type: 'none' })).toBe('none');
    expect(translateChoice({ type: 'any' })).toBe('required');
    expect(translateChoice({ type: 'tool', name: 'weather' })).toEqual({
      type: 'function',
      function: { name: 'weather' },
    });
  });

  it('passes what Claude Code adds that says nothing to another model', () => {
    const body = {
      messages: hello,
      max_tokens: 10,
      temperature: 1,
      thinking: { type: 'adaptive' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      metadata: { user_id: 'u'.repeat(200) },
    };
    expect(translated('messages', 'chat', body, 'gpt-6')).toEqual({
      model: 'gpt-6',
      messages: hello,
      max_completion_tokens: 10,
      temperature: 1,
    });
  });

  it('has the effort of its last message that sets one', () => {
    const messages = [
      ...hello,
      { role: 'system', content: 'Try harder.', output_config: { effort: 'high' } },
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: 'more' },
      { role: 'system', output_config: { effort: 'low' } },
    ];
    const body = { messages, output_config: { effort: 'max' }, thinking: { type: 'adaptive' } };
    const chat = translated('messages', 'chat', body, 'gpt-6');
    expect(chat.reasoning_effort).toBe('low');
    expect((chat.messages as JsonObject[]).map(({ role }) => role)).toEqual([
      'user',
      'system',
      'assistant',
      'user',
    ]);
    expect(translated('messages', 'converse', body, newClaude).outputConfig).toEqual({ effort: 'low' });
  });

  it('leaves out what its model would not be shown', () => {
    const note = (content: string) => ({ role: 'system', content, clear_at: 'next_user_message' });
    const messages = [
      ...hello,
      note('old'),
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: 'more' },
      note('new'),
    ];
    const texts = JSON.stringify(translated('messages', 'chat', { messages }).messages);
    expect(texts).toContain('new');
    expect(texts).not.toContain('old');
  });

  it('offers deferred tools once the conversation has found or added them', () => {
    const deferred = (name: string) => ({ name, input_schema: { type: 'object' }, defer_loading: true });
    const reference = (name: string) => ({ type: 'tool_reference', name });
    const messages = [
      ...hello,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'search', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [{ type: 'tool_reference', tool_name: 'found' }],
          },
        ],
      },
      {
        role: 'system',
        content: [
          { type: 'tool_addition', tool: reference('added') },
          { type: 'tool_addition', tool: reference('gone') },
          { type: 'tool_removal', tool: reference('gone') },
          { type: 'tool_removal', tool: reference('weather') },
        ],
      },
    ];
    const tools = [
      { name: 'search', input_schema: { type: 'object' } },
      weatherBlock,
      ...['found', 'added', 'gone', 'waiting'].map(deferred),
    ];
    const body = translated('messages', 'chat', { messages, tools }, 'gpt-6');
    expect((body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual([
      'search',
      'found',
      'added',
    ]);
    expect((body.messages as JsonObject[]).at(-1)).toEqual({
      role: 'tool',
      tool_call_id: 'a',
      content: 'found',
    });
  });

  it.each([
    ['top_k', 5],
    ['mcp_servers', [{ type: 'url' }]],
    ['container', 'c'],
    ['inference_geo', 'us'],
    ['speed', 'fast'],
    ['fallbacks', 'default'],
  ])('is refused in Chat Completions for %s', (name, value) => {
    expect(Object.keys(refused('messages', 'chat', { messages: hello, [name]: value }))).toEqual([
      `body.${name}`,
    ]);
  });

  it('is refused where Chat Completions has no word for it', () => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'x' }] },
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
          { type: 'image', source: { type: 'file', file_id: 'f' } },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'x' },
            citations: { enabled: true },
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }],
          },
        ],
      },
      { role: 'assistant', content: 'The answer is' },
    ];
    const tools = [
      { type: 'web_search_20250305', name: 'web_search' },
      { ...weatherBlock, input_examples: [{}] },
    ];
    expect(Object.keys(refused('messages', 'chat', { messages, tools })).toSorted()).toEqual([
      'body.messages.0.content.0',
      'body.messages.0.content.1',
      'body.messages.0.content.2.source.type',
      'body.messages.0.content.3.citations',
      'body.messages.1.content.0.type',
      'body.messages.2.content.0.content.0',
      'body.messages.3',
      'body.tools.0.type',
      'body.tools.1.input_examples',
    ]);
  });

  it('is refused in Converse for what only Claude takes', () => {
    const body = {
      messages: hello,
      tools: [weatherBlock],
      top_k: 5,
      thinking: { type: 'enabled', budget_tokens: 2000 },
    };
    const choice = { tool_choice: { type: 'auto', disable_parallel_tool_use: true } };
    expect(refused('messages', 'converse', { ...body, ...choice }, claudeOnBedrock)).toEqual({});
    expect(Object.keys(refused('messages', 'converse', { ...body, ...choice }, 'meta.llama4'))).toEqual([
      'body.tool_choice.disable_parallel_tool_use',
      'body.top_k',
    ]);
  });

  it('is told what is wrong in any API', () => {
    const messages = ['x', { content: 'y' }, { role: 'user', content: [{ type: 'text' }] }];
    expect(refused('messages', 'chat', { messages, max_tokens: 'many', stream: true })).toEqual({
      'body.messages.0': 'should be an object',
      'body.messages.1.role': 'is required',
      'body.messages.2.content.0.text': 'is required',
      'body.max_tokens': 'should be a number',
    });
  });
});
