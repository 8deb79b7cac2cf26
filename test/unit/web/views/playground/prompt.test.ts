import { describe, expect, it } from 'vitest';
import { draftMessage, emptyDraft, fillDraft, toRequest } from '../../../../../web/views/playground/draft.ts';
import { draftOfPrompt, isMadeOf, seedDraft, toPrompt } from '../../../../../web/views/playground/prompt.ts';

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

  it('is named by a request that has its text, whatever the model', () => {
    const stored = draftOfPrompt({ messages: [{ role: 'user', content: 'Hi {name}, {{ready}}?' }] });
    if (!stored) throw new Error('it has messages');
    const draft = { ...seedDraft(undefined, stored), values: { name: 'Ada' } };
    const [message] = draft.messages;
    expect(isMadeOf(draft, stored)).toBe(true);
    expect(isMadeOf({ ...draft, model: 'other', parameters: '{"temperature": 1}' }, stored)).toBe(true);
    expect(isMadeOf({ ...draft, messages: draft.messages.map(draftMessage) }, stored)).toBe(true);
    const others = [
      [{ ...message, text: 'Hi {name}, {{ready}}!' }],
      [{ ...message, role: 'system' }],
      [{ ...message, extra: '{"name": "ada"}' }],
      [{ ...message, images: ['https://example.com/a.png'] }],
      [...draft.messages, draftMessage()],
      [],
    ];
    for (const messages of others)
      expect(isMadeOf({ ...draft, messages: messages.map(draftMessage) }, stored)).toBe(false);
    // As it stands, it is sent with braces that a prompt does not have.
    expect(isMadeOf({ ...draft, values: undefined }, stored)).toBe(false);
    expect(isMadeOf(emptyDraft(), stored)).toBe(false);
  });

  it('that is saved is one as it was opened', () => {
    const messages = [
      { role: 'user', content: 'Where?' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', function: { name: 'find' } }] },
    ];
    const draft = seedDraft(undefined, draftOfPrompt({ messages }));
    expect(toPrompt('a/b', 'p', draft, {})).toEqual({
      body: {
        project_id: 'a/b',
        name: 'p',
        messages: [
          messages[0],
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{}' } }],
          },
        ],
      },
    });
    expect(toPrompt('a/b', 'p', { ...draft, messages: [] }, {})).toEqual({
      problem: 'Write at least one message.',
    });
    expect(toPrompt('a/b', 'p', { ...draft, parameters: '[' }, {})).toEqual({
      problem: 'The parameters are not a JSON object.',
    });
  });

  const config = {
    model: 'gpt-4o',
    parameters: { temperature: 0 },
    tools: [{ type: 'function', function: { name: 'find' } }],
    response_schema: { type: 'object' },
    owner: 'ada',
  };

  it('gives the request what goes with it, and keeps that when it is saved', () => {
    const value = { messages: [{ role: 'user', content: '{question}' }], config };
    const prompted = draftOfPrompt(value);
    const draft = seedDraft(undefined, prompted);
    expect(draft.model).toBe('gpt-4o');
    expect(JSON.parse(draft.parameters)).toEqual({
      temperature: 0,
      tools: config.tools,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
    });
    const saved = toPrompt('a/b', 'p', { ...draft, model: 'gpt-5' }, config);
    expect(saved).toMatchObject({ body: { config: { ...config, model: 'gpt-5' } } });
  });

  it('takes values from a recorded call, whose model and parameters it has where it leaves them open', () => {
    const messages = [
      { role: 'system', content: 'You help {shop}.' },
      { role: 'user', content: '{question}' },
    ];
    const inputs = {
      model: 'gpt-4o-mini',
      temperature: 1,
      messages: [
        { role: 'system', content: 'You help Wheels.' },
        { role: 'user', content: 'Where?' },
      ],
    };
    const draft = seedDraft({ inputs, output: { choices: [] } }, draftOfPrompt({ messages }));
    expect(draft.values).toEqual({ shop: 'Wheels', question: 'Where?' });
    expect(draft.model).toBe('gpt-4o-mini');
    expect(JSON.parse(draft.parameters)).toEqual({ temperature: 1 });
    const sent = toRequest(draft);
    expect(sent).toMatchObject({ body: { messages: inputs.messages } });
    expect(toRequest({ ...draft, values: { shop: 'Wheels' } })).toEqual({
      problem: 'Enter a value for the variable question.',
    });
  });

  it('is filled in with its braces, and leaves those of other messages', () => {
    const prompted = draftOfPrompt({ messages: [{ role: 'user', content: 'As {{"a": 1}}: {question}' }] });
    const draft = { ...seedDraft(undefined, prompted), model: 'm', values: { question: '{b}' } };
    expect(fillDraft(draft).messages[0]?.text).toBe('As {"a": 1}: {b}');
    const plain = { ...draft, values: undefined };
    expect(fillDraft(plain).messages[0]?.text).toBe('As {{"a": 1}}: {question}');
  });
});
