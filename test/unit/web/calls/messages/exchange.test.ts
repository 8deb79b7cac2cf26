import { describe, expect, it } from 'vitest';
import { parseExchange } from '../../../../../web/calls/messages/exchange.ts';

const readTexts = (inputs: Record<string, unknown>, output: unknown) => {
  const { asked, answered } = parseExchange({ inputs, output } as Parameters<typeof parseExchange>[0]);
  return [asked, answered].map((messages) =>
    messages.map(({ role, parts }) => [
      role,
      ...parts.map((part) => ('text' in part ? part.text : part.kind)),
    ]),
  );
};

describe('what was said in a turn', () => {
  it.each([
    ['a usual name', { message: 'Hello', user: 7 }, 'Hi'],
    ['an only text', { anything: 'Hello' }, { answer: 'Hi', score: 1 }],
    ['messages', { messages: [{ role: 'user', content: 'Hello' }] }, { content: 'Hi' }],
  ])('is found under %s', (_, inputs, output) => {
    expect(readTexts(inputs, output)).toEqual([[['user', 'Hello']], [['assistant', 'Hi']]]);
  });

  it('is what comes after the last answer, without the system prompt', () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      { role: 'user', content: 'Three' },
    ];
    expect(readTexts({ messages }, 'Four')).toEqual([[['user', 'Three']], [['assistant', 'Four']]]);
  });

  it('is not the name of a model whose messages were not reported', () => {
    const output = { messages: [{ role: 'assistant', content: 'Hi' }] };
    expect(readTexts({ model: 'claude-sonnet-4-5' }, output)).toEqual([[], [['assistant', 'Hi']]]);
  });

  it('is data where no text is known, and nothing where there is nothing', () => {
    expect(readTexts({ a: 1, b: 'x' }, { c: [] })).toEqual([[['user', 'other']], [['assistant', 'other']]]);
    expect(readTexts({}, null)).toEqual([[], []]);
  });
});
