import { describe, expect, it } from 'vitest';
import {
  doubledNames,
  isChanged,
  readDraft,
  toDraft,
  variablesOfDraft,
  versionText,
} from '../../../../../web/views/prompts/draft.ts';

const odd = { role: 'assistant', content: null, tool_calls: [{ id: 'c1' }] };
const value = {
  messages: [{ content: 'For {shop}.', role: 'system' }, odd],
  config: { model: 'm', parameters: { temperature: 0 }, tools: [], owner: 'ada' },
};

describe('a draft', () => {
  it('says what the version said that it was made of', () => {
    expect(readDraft(toDraft(value, 3))).toEqual({
      content: { messages: [{ role: 'system', content: 'For {shop}.' }, odd] },
      config: value.config,
    });
    expect(readDraft(toDraft({ content: 'Hi {name}' }, 0))).toEqual({
      content: { text: 'Hi {name}' },
      config: {},
    });
    expect(variablesOfDraft(readDraft(toDraft(value, 3)))).toEqual(['shop']);
  });

  it('is changed by whatever is typed, and no more once it is as it was', () => {
    const first = toDraft(value, 3);
    expect(isChanged(toDraft(value, 4), first)).toBe(false);
    expect(isChanged({ ...first, model: 'n' }, first)).toBe(true);
    expect(isChanged({ ...first, messages: first.messages.toReversed() }, first)).toBe(true);
    expect(isChanged({ ...first, kind: 'text' }, first)).toBe(true);
  });

  it('says what is wrong with it, and where', () => {
    const first = toDraft(value, 3);
    const problem = (changes: object) => readDraft({ ...first, ...changes });
    expect(problem({ messages: [] })).toEqual({ problem: 'Write at least one message.' });
    expect(problem({ messages: [{ key: 1, role: '', text: 'Hi', json: undefined }] })).toEqual({
      problem: 'Message 1 has no role.',
    });
    expect(
      problem({ messages: [first.messages[0], { key: 1, role: 'user', text: '', json: '[]' }] }),
    ).toEqual({
      problem: 'Message 2 is not a JSON object.',
    });
    expect(problem({ parameters: '[]' })).toEqual({ problem: 'The parameters are not a JSON object.' });
    expect(problem({ tools: '{}' })).toEqual({ problem: 'The tools are not a JSON list.' });
    expect(problem({ schema: '1' })).toEqual({ problem: 'The response schema is not a JSON object.' });
    expect(problem({ others: '{' })).toEqual({ problem: 'The other settings are not a JSON object.' });
    expect(problem({ kind: 'text' })).toEqual({ problem: 'Write a text.' });
  });

  it('tells of names in doubled braces, which are no variables', () => {
    expect(doubledNames('{{shop}} {{ question }} {{shop}} {name} {{"a": {b}}}')).toEqual([
      'shop',
      'question',
    ]);
    expect(doubledNames('{name}')).toEqual([]);
  });
});

describe('a version as text', () => {
  it('has its roles and lines, then what goes with it', () => {
    expect(versionText({ messages: [{ role: 'user', content: 'a\nb' }, odd] }, { model: 'm' })).toBe(
      'user:\na\nb\n\nassistant:\nnull\ntool_calls:\n  0:\n    id: c1\n\nconfig:\nmodel: m',
    );
    expect(versionText({ text: 'a' }, {})).toBe('a');
    expect(versionText(undefined, {}, { rows: 1 })).toBe('rows: 1');
  });
});
