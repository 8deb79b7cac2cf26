import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fillPrompt,
  parseTemplate,
  splitTemplate,
  variablesIn,
} from '../../../../api/shared/prompt-variables.ts';
import cases from '../prompt-variables.json' with { type: 'json' };

describe('a template', () => {
  it.each(cases)('$template is read as other languages read it', ({ template, parts }) => {
    expect(parseTemplate(template)).toEqual(parts);
  });

  it('comes back as it was if its braces are doubled and its variables are filled with themselves', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('{a}', '{', '}', '{{', '}}'))), (pieces) => {
        const text = pieces.join('');
        const escaped = text.replaceAll('{', '{{').replaceAll('}', '}}');
        expect(fillPrompt({ text: escaped }, {})).toEqual({ filled: { text }, missing: [] });
      }),
    );
  });

  it('is split into pieces that add up to it', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('{a}', '{', '}', '{{', '}}'))), (pieces) => {
        const template = pieces.join('');
        const parts = splitTemplate(template);
        expect(parts.map(({ written }) => written).join('')).toBe(template);
        expect(parts.flatMap(({ variable }) => variable ?? [])).toEqual(
          parseTemplate(template).flatMap((part) => ('variable' in part ? part.variable : [])),
        );
      }),
    );
  });

  it('is read in time that grows with its length, whatever it holds', () => {
    for (const template of ['{'.repeat(1e6), `{${'a'.repeat(1e6)}`, '{a'.repeat(5e5), '}'.repeat(1e6)])
      expect(parseTemplate(template).length).toBe(1);
  });
});

const messages = [
  { role: 'system', content: 'You are {who}.' },
  {
    role: 'user',
    name: '{name}',
    content: [
      { type: 'text', text: 'Look, {who}: {what}' },
      { type: 'image_url', image_url: { url: 'https://example.com/{deep}' } },
    ],
    tags: ['{list}'],
  },
];

describe('a prompt', () => {
  it('has the variables of all its messages, each once', () => {
    expect(variablesIn({ messages })).toEqual(['who', 'name', 'what']);
    expect(variablesIn({ text: '{b}{a}{b}' })).toEqual(['b', 'a']);
  });

  it('is filled where its variables are, and nowhere else', () => {
    const { filled, missing } = fillPrompt(
      { messages },
      { who: 'Ada', what: { n: 1 }, deep: 'x', list: 'x' },
    );
    expect(missing).toEqual(['name']);
    expect(filled).toEqual({
      messages: [
        { role: 'system', content: 'You are Ada.' },
        {
          role: 'user',
          name: '{name}',
          content: [
            { type: 'text', text: 'Look, Ada: {"n":1}' },
            { type: 'image_url', image_url: { url: 'https://example.com/{deep}' } },
          ],
          tags: ['{list}'],
        },
      ],
    });
  });

  it('does not read a value as a template, and takes no value that an object inherits', () => {
    expect(fillPrompt({ text: '{a} {b}' }, { a: '{b}', b: '{{' })).toEqual({
      filled: { text: '{b} {{' },
      missing: [],
    });
    expect(fillPrompt({ text: '{constructor}' }, {})).toEqual({
      filled: { text: '{constructor}' },
      missing: ['constructor'],
    });
  });
});
