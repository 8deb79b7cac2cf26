import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('Genkit', () => {
  it.each([
    ['embedder', 'embedding'],
    ['retriever', 'retriever'],
    ['tool.v2', 'tool'],
    ['flow', 'other'],
  ])('takes the action %s for %s', (subtype, kind) => {
    expect(translate(spanOf({ attributes: { 'genkit:metadata:subtype': subtype } })).kind).toBe(kind);
  });

  it('reads media beside text', () => {
    const message = {
      role: 'user',
      content: [{ text: 'what?' }, { media: { url: 'https://example.com/a.png' } }],
    };
    const attributes = {
      'genkit:metadata:subtype': 'model',
      'genkit:name': 'm',
      'genkit:input': JSON.stringify({ messages: [message], config: { temperature: 1 } }),
    };
    expect(translate(spanOf({ attributes })).inputs).toEqual({
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'what?' }, { media: { url: 'https://example.com/a.png' } }],
        },
      ],
      temperature: 1,
      model: 'm',
    });
  });
});
