import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideContext } from '../../../../api/shared/context.ts';
import '../../../support/run/properties.ts';

const used = (prompt: number, cacheRead = 0, cacheWrite = 0) => ({ prompt, cacheRead, cacheWrite });

const openAi = {
  model: 'gpt-5',
  tools: [
    { type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } },
    { type: 'function', function: { name: 'mcp__orders__find', parameters: { type: 'object' } } },
  ],
  messages: [
    { role: 'system', content: 'You are kind.' },
    { role: 'user', content: 'Where is my order?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', function: { name: 'mcp__orders__find', arguments: '{"id":1}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'It left on Monday, and comes on Friday.' },
  ],
};

const anthropic = {
  model: 'claude-sonnet-4-5',
  system: [{ type: 'text', text: 'You are kind.' }],
  tools: [{ name: 'lookup', input_schema: { type: 'object' } }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Look at this.' }, image('A'.repeat(4000))] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I should look it up.' },
        { type: 'tool_use', id: 't1', name: 'lookup', input: { q: 'x' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'Nothing.' }] },
  ],
};

function image(data: string) {
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
}

const namesIn = (inputs: unknown) =>
  divideContext(inputs, used(1000))
    ?.parts.map(({ part, name }) => (name === undefined ? part : `${part} ${name}`))
    .sort();

describe('what filled the window', () => {
  it('is told by part and name, in the shapes of OpenAI and Anthropic', () => {
    expect(namesIn(openAi)).toEqual([
      'assistant',
      'system',
      'tool_results orders.find',
      'tools lookup',
      'tools orders.find',
      'user',
    ]);
    expect(namesIn(anthropic)).toEqual([
      'assistant',
      'media',
      'reasoning',
      'system',
      'tool_results lookup',
      'tools lookup',
      'user',
    ]);
  });

  it('takes an image for about a thousand tokens, however long its text is', () => {
    const small = divideContext(anthropic, undefined);
    const large = divideContext(
      { ...anthropic, messages: [{ role: 'user', content: [image('A'.repeat(4_000_000))] }] },
      undefined,
    );
    expect(small?.counted).toBe(false);
    expect(large?.parts.find(({ part }) => part === 'media')).toMatchObject({ characters: 0, tokens: 1000 });
  });

  it('is all other if the call tells usage alone, and nothing if it tells neither', () => {
    expect(divideContext({}, used(50, 20))).toEqual({
      input_tokens: 50,
      cache_read_tokens: 20,
      estimated: true,
      counted: true,
      parts: [{ part: 'other', characters: 0, tokens: 50 }],
    });
    expect(divideContext({ question: 'Why?' }, undefined)).toBeUndefined();
  });

  it('costs less at its beginning, which was read from the cache', () => {
    const text = 'x'.repeat(400);
    const inputs = {
      model: 'm',
      messages: [
        { role: 'system', content: text },
        { role: 'user', content: text },
        { role: 'assistant', content: text },
        { role: 'user', content: text },
      ],
    };
    // A hundred tokens each: the first was read, the second written.
    const cost = { total: 10 + 130 + 200, cacheRead: 10, cacheWrite: 130 };
    const costs = new Map(
      divideContext(inputs, used(400, 100, 100), cost)?.parts.map(({ part, cost_usd }) => [part, cost_usd]),
    );
    expect(costs.get('system')).toBeCloseTo(10);
    expect(costs.get('user')).toBeCloseTo(230);
    expect(costs.get('assistant')).toBeCloseTo(100);
  });

  it('adds up to what the model counted, and to what it cost', () => {
    const message = fc.record({
      role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'wizard'),
      content: fc.string({ unit: 'grapheme', maxLength: 200 }),
    });
    const inputs = fc.record({ model: fc.constant('m'), messages: fc.array(message, { maxLength: 20 }) });
    fc.assert(
      fc.property(inputs, fc.nat(1_000_000), fc.nat(100), fc.nat(100), (sent, prompt, read, written) => {
        const cacheRead = Math.floor((prompt * read) / 100);
        const cacheWrite = Math.floor(((prompt - cacheRead) * written) / 100);
        const cost = { total: prompt, cacheRead, cacheWrite };
        const context = divideContext(sent, used(prompt, cacheRead, cacheWrite), cost);
        if (prompt === 0) return;
        const parts = context?.parts ?? [];
        const sum = (of: (part: (typeof parts)[number]) => number) =>
          parts.reduce((total, part) => total + of(part), 0);
        expect(context?.input_tokens).toBe(prompt);
        expect(sum(({ tokens }) => tokens)).toBe(prompt);
        expect(sum(({ cost_usd = Number.NaN }) => cost_usd)).toBeCloseTo(prompt, 3);
      }),
    );
  });

  it('survives whatever clients send', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(1000), (inputs, prompt) => {
        const context = divideContext(inputs, used(prompt));
        expect(context === undefined || context.parts.every(({ tokens }) => tokens >= 0)).toBe(true);
      }),
    );
    expect(divideContext({ model: 'm', tools: [null, 1, 'x', { function: null }] }, used(3))).toBeDefined();
  });
});
