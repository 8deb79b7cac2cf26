import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillPrompt, variablesIn } from '../../../../../api/shared/prompt-variables.ts';
import {
  findVersion,
  getPrompt,
  matchTemplate,
  readContent,
  toVersion,
  valuesIn,
  versionText,
} from '../../../../../web/calls/prompts/prompt.ts';

describe('a version of a prompt', () => {
  it('is read as the service and Weave store it, and not if it is something else', () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    expect(readContent({ messages, content: null })).toEqual({ messages });
    expect(readContent({ data: messages })).toEqual({ messages });
    expect(readContent({ content: '' })).toEqual({ text: '' });
    for (const odd of [null, 'Hi', [], { messages: ['Hi'] }, { messages: [] }, { rows: 1 }])
      expect(readContent(odd)).toBeUndefined();
  });

  it('is made with what goes with it, if anything does', () => {
    expect(toVersion('a/b', 'p', { text: 'Hi' }, {})).toEqual({ project_id: 'a/b', name: 'p', text: 'Hi' });
    expect(toVersion('a/b', 'p', { messages: [{ role: 'user' }] }, { model: 'm' })).toEqual({
      project_id: 'a/b',
      name: 'p',
      messages: [{ role: 'user' }],
      config: { model: 'm' },
    });
  });

  it('is found by its number, also as calls write it, or by its digest', () => {
    const versions = [
      { digest: 'abc', version_index: 12 },
      { digest: '7', version_index: 1 },
    ];
    expect(findVersion(versions, 'v12')?.digest).toBe('abc');
    expect(findVersion(versions, '12')?.digest).toBe('abc');
    expect(findVersion(versions, 'abc')?.version_index).toBe(12);
    expect(findVersion(versions, '7')).toBeUndefined();
    expect(versionText('12')).toBe('v12');
    expect(versionText('2026-10')).toBe('2026-10');
  });
});

describe('the prompt of a call', () => {
  it('is named by its attributes, whose version may be a number', () => {
    expect(getPrompt({ attributes: { prompt: { name: 'p', version: 3 } } })).toEqual({
      name: 'p',
      version: '3',
    });
    expect(getPrompt({ attributes: { prompt: { name: 'p' } } })).toEqual({ name: 'p', version: undefined });
    for (const attributes of [{ prompt: 'p:v1' }, { prompt: { name: '' } }, {}, null, undefined])
      expect(getPrompt({ attributes })).toBeUndefined();
  });
});

describe('the values of variables', () => {
  const match = (template: string, text: string) => {
    const found = matchTemplate(template, text);
    return found && Object.fromEntries(found);
  };

  it('are what stands in their places', () => {
    expect(match('You help {shop}. Be {tone}!', 'You help A, kindly.')).toBeUndefined();
    expect(match('You help {shop}. Be {tone}!', 'You help A. Be kind!')).toEqual({ shop: 'A', tone: 'kind' });
    expect(match('{a} and {a}', '1 and 1')).toEqual({ a: '1' });
    expect(match('{a} and {a}', '1 and 2')).toBeUndefined();
    expect(match('{a}{b}', '12')).toBeUndefined();
    expect(match('{{}} {a}', '{} 1')).toEqual({ a: '1' });
    expect(match('Hi', 'Hi')).toEqual({});
    expect(match('aXa', 'a')).toBeUndefined();
    expect(match('ab{x}b', 'ab')).toBeUndefined();
  });

  it('are found again in whatever was filled in, if nothing of the text between is in them', () => {
    const value = fc.string({ minLength: 1 }).filter((text) => !text.includes('|'));
    fc.assert(
      fc.property(value, value, (a, b) => {
        const { filled } = fillPrompt({ text: '<{a}|{b}>' }, { a, b });
        expect(match('<{a}|{b}>', 'text' in filled ? filled.text : '')).toEqual({ a, b });
      }),
    );
  });

  it('are found in what another version was filled in to, by the lines that both have', () => {
    const content = {
      messages: [{ role: 'system', content: 'For {shop}.\n{rules}\nBe {tone}, and brief.' }],
    };
    const names = variablesIn(content);
    const sent = [{ role: 'system', content: 'Be kind, and brief.\nFor A.' }];
    expect(valuesIn(content, names, {}, sent)).toEqual({ shop: 'A', tone: 'kind' });
  });

  it('come from the messages of the same role, and then from inputs of their names', () => {
    const content = {
      messages: [
        { role: 'system', content: 'For {shop}.' },
        { role: 'user', content: [{ type: 'text', text: 'Ask: {question}' }] },
      ],
    };
    const sent = [
      { role: 'user', content: 'For B.' },
      { role: 'system', content: 'For A.' },
      { role: 'user', content: 'Ask: why?' },
    ];
    const names = variablesIn(content);
    expect(valuesIn(content, names, {}, sent)).toEqual({ shop: 'A', question: 'why?' });
    expect(valuesIn(content, names, { shop: 'C', question: ['how'], other: 1 }, [])).toEqual({
      shop: 'C',
      question: '["how"]',
    });
    expect(valuesIn({ text: 'Ask: {question}' }, ['question'], null, sent)).toEqual({ question: 'why?' });
  });
});
