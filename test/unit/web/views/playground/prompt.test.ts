import { describe, expect, it } from 'vitest';
import { emptyDraft } from '../../../../../web/views/playground/draft.ts';
import { draftOfPrompt, toPrompt } from '../../../../../web/views/playground/prompt.ts';

describe('a prompt', () => {
  it('begins a draft with its messages, or with its only text', () => {
    const readMessages = (value: unknown) =>
      draftOfPrompt(value)?.messages.map(({ role, text }) => [role, text]);
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi {name}' }] },
    ];
    expect(readMessages({ _type: 'MessagesPrompt', messages })).toEqual([
      ['system', 'Be brief.'],
      ['user', 'Hi {name}'],
    ]);
    expect(readMessages({ _type: 'StringPrompt', content: 'Hi' })).toEqual([['user', 'Hi']]);
    expect(readMessages({ rows: [] })).toBeUndefined();
    expect(readMessages('Hi')).toBeUndefined();
  });

  it('that is saved is one as it was opened', () => {
    const messages = [
      { role: 'user', content: 'Where?' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', function: { name: 'find' } }] },
    ];
    const draft = draftOfPrompt({ messages }) ?? emptyDraft();
    expect(toPrompt(draft, 'p')).toMatchObject({
      value: {
        _class_name: 'MessagesPrompt',
        name: 'p',
        messages: [messages[0], { content: null, tool_calls: [{ id: 'c1', function: { name: 'find' } }] }],
      },
    });
    expect(toPrompt({ ...draft, messages: [] }, 'p')).toEqual({ problem: 'Write at least one message.' });
  });
});
