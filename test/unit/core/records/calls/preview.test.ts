import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toPreview } from '../../../../../core/records/calls/preview.ts';
import { type JsonObject, type JsonValue, parseJson } from '../../../../../foundations/wire/index.ts';

const previewInput = (inputs: JsonObject, attributes: JsonObject = {}): string | null =>
  toPreview({ attributes, inputs, output: null, exception: null }).input;

const previewOutput = (
  output: JsonValue,
  attributes: JsonObject = {},
  exception: string | null = null,
): string | null => toPreview({ attributes, inputs: {}, output, exception }).output;

const tool = { kind: 'tool' };

describe('the input of a preview', () => {
  it.each<[string, JsonObject, string | null]>([
    ['nothing of a request that names its model alone', { model: 'gpt-5' }, null],
    [
      'the last message of the user',
      {
        model: 'gpt-4o',
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello' },
          { role: 'user', content: 'Where is\n my order?' },
          { role: 'assistant', content: 'A prefill' },
        ],
      },
      'Where is my order?',
    ],
    [
      "a tool's result that came last",
      {
        messages: [
          { role: 'user', content: 'Weather?' },
          { role: 'assistant', content: null, tool_calls: [{ function: { name: 'weather' } }] },
          { role: 'tool', content: '12 °C' },
        ],
      },
      '12 °C',
    ],
    [
      'the texts of parts, without images',
      {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Look' }, { type: 'image_url' }, 'here'] },
        ],
      },
      'Look here',
    ],
    [
      "a tool's result as Anthropic has it",
      {
        messages: [
          { role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', text: 'ok' }] }] },
        ],
      },
      'ok',
    ],
    [
      'the input of the Responses API',
      { model: 'gpt-5', input: [{ role: 'user', content: [{ type: 'input_text', text: 'Go' }] }] },
      'Go',
    ],
    [
      'the result of a function of the Responses API',
      {
        input: [
          { role: 'user', content: 'Go' },
          { type: 'function_call_output', output: '{"a":1}' },
        ],
      },
      '{"a":1}',
    ],
    ['a text for the Responses API', { model: 'gpt-5', input: 'Go' }, 'Go'],
    [
      'the contents of Gemini',
      { model: 'gemini', contents: [{ role: 'user', parts: [{ text: 'Go' }] }] },
      'Go',
    ],
    [
      'the result of a function of Gemini',
      { contents: [{ parts: [{ functionResponse: { name: 'f', response: { ok: true } } }] }] },
      '{"ok":true}',
    ],
    ['contents that are text', { model: 'gemini', contents: 'Go', config: {} }, 'Go'],
    [
      "LangChain's messages beside their types",
      { messages: [{ type: 'human', data: { content: 'Go', type: 'human' } }] },
      'Go',
    ],
    ['the texts that a function of Python took', { args: ['Where?', 'chat-5'], kwargs: {} }, 'Where? chat-5'],
    [
      "LangChain's messages",
      { messages: [[{ lc: 1, id: ['langchain', 'HumanMessage'], kwargs: { content: 'Go' } }]] },
      'Go',
    ],
    ['messages of an agent', { input: { messages: [{ type: 'human', content: 'Go' }] } }, 'Go'],
    ['instructions, if there is nothing else', { messages: [{ role: 'system', content: 'Tick' }] }, 'Tick'],
    ['the only text', { self: 'svc:///a/b/object/o:v1', topic: 'ships', k: 5, empty: ' ' }, 'ships'],
    ['the field of a usual name', { model: 'm', note: 'x', other: 'z', question: 'y' }, 'y'],
    ['a usual name that is no text', { task: { a: [1] }, limit: 3 }, '{"a":[1]}'],
    [
      'all of it',
      { a: 'one', b: 'two', c: [null, true, { d: 1.5 }] },
      '{"a":"one","b":"two","c":[null,true,{"d":1.5}]}',
    ],
    [
      "the texts of an event of LlamaIndex's",
      {
        ctx: '<workflows.context.context.Context object at 0x7f3c1b02e350>',
        ev: "AgentInput(input=[ChatMessage(role=<MessageRole.USER: 'user'>, blocks=[TextBlock(block_type='text', text='It\\'s\\nhere')])])",
      },
      "It's here",
    ],
    ['nothing of an event that has nothing', { ev: 'AgentWorkflowStartEvent()' }, null],
    ['nothing', {}, null],
    ['nothing but white space', { question: '\n\t \u0000' }, '{"question":"\\n\\t \\u0000"}'],
  ])('is %s', (_, inputs, expected) => {
    expect(previewInput(inputs)).toBe(expected);
  });

  it.each<[JsonObject, string | null]>([
    [{ city: 'Paris' }, '{"city":"Paris"}'],
    [{ input: 'grep x' }, 'grep x'],
    [{ arguments: { city: 'Paris' } }, '{"city":"Paris"}'],
    [{ messages: [{ role: 'user', content: 'a' }] }, '{"messages":[{"role":"user","content":"a"}]}'],
    [{}, null],
  ])('is the arguments of a tool: %j', (inputs, expected) => {
    expect(previewInput(inputs, tool)).toBe(expected);
  });
});

describe('the output of a preview', () => {
  const call = { type: 'function', function: { name: 'find', arguments: '{"id": 7}' } };
  it.each<[string, JsonValue, string | null]>([
    [
      "the state that LangGraph's agent ends with",
      {
        messages: [
          { type: 'human', data: { content: 'Where?' } },
          { type: 'ai', data: { content: 'Here.' } },
        ],
      },
      'Here.',
    ],
    [
      "what LangGraph's node changes in the state",
      [{ graph: null, update: { messages: [{ type: 'ai', data: { content: 'Here.' } }] } }],
      'Here.',
    ],
    ['a text', '  On its\r\nway. ', 'On its way.'],
    ["the answer of OpenAI's chat", { choices: [{ message: { role: 'assistant', content: 'Hi' } }] }, 'Hi'],
    ['the text of a completion', { choices: [{ index: 0, text: 'Hi' }] }, 'Hi'],
    [
      'the tools that it asks for',
      { choices: [{ message: { content: null, tool_calls: [call, call] } }] },
      'find({"id": 7}), find({"id": 7})',
    ],
    ['a refusal', { choices: [{ message: { role: 'assistant', content: null, refusal: 'No.' } }] }, 'No.'],
    [
      "Anthropic's text, and no thought",
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'Hi' },
        ],
      },
      'Hi',
    ],
    [
      "Anthropic's tool",
      { role: 'assistant', content: [{ type: 'tool_use', name: 'find', input: { id: 7 } }] },
      'find({"id":7})',
    ],
    [
      "a Response's text",
      {
        id: 'r',
        status: 'completed',
        output: [
          { type: 'reasoning', summary: [] },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
          { type: 'function_call', name: 'f', arguments: '{}' },
        ],
      },
      'Hi',
    ],
    ["a Response's tool", { output: [{ type: 'function_call', name: 'f', arguments: '{}' }] }, 'f({})'],
    [
      "Gemini's text",
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'hm', thought: true }, { text: 'Hi' }] } }],
      },
      'Hi',
    ],
    [
      "Gemini's tool",
      { candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: { a: 1 } } }] } }] },
      'f({"a":1})',
    ],
    [
      'the last turn of messages',
      {
        messages: [
          { role: 'assistant', content: 'old' },
          { role: 'user', content: 'ask' },
          { role: 'assistant', content: null, tool_calls: [call] },
        ],
      },
      'find({"id": 7})',
    ],
    ['a message', { message: { role: 'assistant', content: 'Hi' }, done: true }, 'Hi'],
    ['the only text', { text: 'Hi', n: 1 }, 'Hi'],
    ['the field of a usual name', { id: 'x', answer: 'Hi' }, 'Hi'],
    ['compact JSON', [1, { a: 'b' }], '[1,{"a":"b"}]'],
    [
      "LlamaIndex's answer, though it is cut",
      `StopEvent(result=AgentOutput(blocks=[TextBlock(block_type='text', text="It's sunny in...`,
      "It's sunny in...",
    ],
    ['a number', 0, '0'],
    ['false', false, 'false'],
    ['an empty list', [], '[]'],
    ['nothing', null, null],
    ['nothing of an empty text', '', null],
    ['nothing of an empty object', {}, null],
  ])('is %s', (_, output, expected) => {
    expect(previewOutput(output)).toBe(expected);
  });

  it.each<[JsonValue, string | null]>([
    ['2 hits', '2 hits'],
    [{ answer: 'x' }, '{"answer":"x"}'],
    [
      [
        { type: 'text', text: '2' },
        { type: 'text', text: 'hits' },
      ],
      '2 hits',
    ],
    [{ content: [{ type: 'text', text: '2 hits' }] }, '2 hits'],
    [{ role: 'tool', content: '2 hits' }, '2 hits'],
    [null, null],
  ])('is the result of a tool: %j', (output, expected) => {
    expect(previewOutput(output, tool)).toBe(expected);
  });

  it('is the first line of the exception of a failed call', () => {
    expect(previewOutput('half', {}, '\n  ValueError: no\n  at line 1')).toBe('ValueError: no');
    expect(previewOutput('half', tool, 'ValueError: no\rmore')).toBe('ValueError: no');
  });

  it('keeps numbers as they were written', () => {
    const output = parseJson('{"a": 12345678901234567890, "b": 1.0}') as JsonValue;
    expect(previewOutput(output)).toBe('{"a":12345678901234567890,"b":1.0}');
  });
});

describe('a line', () => {
  it('is cut at a character, of 160 units and 240 bytes', () => {
    expect(previewOutput('a'.repeat(160))).toBe('a'.repeat(160));
    expect(previewOutput('a'.repeat(161))).toBe(`${'a'.repeat(159)}…`);
    expect(previewOutput('é'.repeat(120))).toBe('é'.repeat(120));
    expect(previewOutput('é'.repeat(121))).toBe(`${'é'.repeat(118)}…`);
    expect(previewOutput('😀'.repeat(61))).toBe(`${'😀'.repeat(59)}…`);
    expect(previewOutput(`${'a'.repeat(155)}👩‍👩‍👧‍👦${'b'.repeat(9)}`)).toBe(`${'a'.repeat(155)}…`);
    expect(previewOutput(`${'a'.repeat(150)} ${'b'.repeat(7)} c`)).toBe(
      `${'a'.repeat(150)} ${'b'.repeat(7)} c`,
    );
    expect(previewOutput(`${'a'.repeat(158)} bcd`)).toBe(`${'a'.repeat(158)}…`);
    expect(previewOutput(`z${'\u0301'.repeat(500)}`)).toBe(`z${'\u0301'.repeat(118)}…`);
  });

  const blank = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\u0000', '\u2028'), maxLength: 600 });
  const anyText = fc.string({ unit: 'binary', maxLength: 300 });
  const anyJson = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }) as fc.Arbitrary<JsonValue>;

  it('has the words of the text, and no other white space or control character', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, blank), (text) => {
        const line = previewOutput(text);
        const whole = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
        if (line === null) {
          expect(whole).toBe('');
          return;
        }
        expect(line.length).toBeLessThanOrEqual(160);
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(240);
        expect(line.isWellFormed()).toBe(true);
        if (line !== whole) expect(whole.startsWith(line.slice(0, -1))).toBe(true);
      }),
    );
  });

  it('shows JSON as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const whole = JSON.stringify([value])
          .replaceAll(/[\s\p{Cc}]+/gu, ' ')
          .trim();
        const line = previewOutput({ value: [value] }, tool) ?? '';
        const wrapped = `{"value":${whole}}`;
        expect(line === wrapped || wrapped.startsWith(line.slice(0, -1))).toBe(true);
      }),
    );
  });

  it('is made of any value, as an input and as an output', () => {
    const names = fc.constantFrom(
      'messages',
      'input',
      'content',
      'role',
      'type',
      'parts',
      'choices',
      'output',
    );
    const odd = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6, depthSize: 'small' },
        fc.constantFrom<JsonValue>('user', 'tool', 'function_call', 'tool_result', null, 1, '', 'text'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(names, tie('value'), { maxKeys: 4 }),
      ),
    })).value as fc.Arbitrary<JsonValue>;
    fc.assert(
      fc.property(odd, odd, fc.constantFrom({}, tool), (inputs, output, attributes) => {
        const { input, output: out } = toPreview({ attributes, inputs, output, exception: null });
        for (const line of [input, out]) expect(line === null || line.length > 0).toBe(true);
      }),
    );
  });

  it('is made of long and deep values without reading all of them', () => {
    let made = 0;
    const long = new Proxy<JsonValue[]>([], {
      get: (target, key, receiver) => {
        if (key === 'length') return 1e9;
        if (typeof key === 'string' && /^\d+$/.test(key)) return made++;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    expect(previewOutput({ value: long }, tool)).toHaveLength(160);
    expect(made).toBeLessThan(200);
    let deep: JsonValue = 'end';
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(previewOutput(deep)).toBe(`${'['.repeat(159)}…`);
    expect(previewInput({ messages: deep })).toBe(`${'['.repeat(159)}…`);
  });
});
