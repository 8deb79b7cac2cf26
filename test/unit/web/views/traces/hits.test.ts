import { describe, expect, it } from 'vitest';
import { findHit } from '../../../../../web/views/traces/hits.ts';

describe('the place of a hit', () => {
  it('is the output before the last message, and tools come last', () => {
    const inputs = {
      tools: [{ name: 'make_invoice' }],
      messages: [
        { role: 'user', content: 'An invoice, please' },
        { role: 'user', content: 'Where is\nthe Invoice of last week?' },
      ],
    };
    expect(findHit({ inputs, output: null, exception: null }, 'invoice')).toEqual({
      before: 'Where is the ',
      found: 'Invoice',
      after: ' of last week?',
    });
    expect(findHit({ inputs, output: { text: 'Your invoice' } }, 'invoice')?.before).toBe('Your ');
    expect(findHit({ inputs: { tools: inputs.tools } }, 'invoice')?.before).toBe('make_');
    expect(findHit({ inputs: { n: 42, invoice: true } }, 'INVOICE')?.found).toBe('invoice');
  });

  it('is cut out of a long text, and is none where the text goes over several values', () => {
    const long = `${'a '.repeat(5000)}here${' b'.repeat(5000)}`;
    const hit = findHit({ output: long }, 'here');
    expect(hit?.before).toMatch(/^…a .*a $/);
    expect((hit?.before.length ?? 0) + (hit?.after.length ?? 0)).toBeLessThan(300);
    expect(findHit({ output: ['one', 'two'] }, 'one","two')).toBeUndefined();
  });

  it('is shown without signs of Markdown and JSON, unless these are looked for', () => {
    const output = '## Result\n**Order `4711`** is late';
    expect(findHit({ output }, 'order 4711')).toEqual({
      before: 'Result ',
      found: 'Order 4711',
      after: ' is late',
    });
    expect(findHit({ output }, '**order')?.found).toBe('**Order');
    const json = JSON.stringify({ order: { state: 'It is **late**' } });
    expect(findHit({ output: json }, 'late')).toEqual({ before: 'It is ', found: 'late', after: '' });
    expect(findHit({ output: json }, '"state":')?.found).toBe('"state":');
    expect(findHit({ output: '{broken late' }, 'late')?.before).toBe('{broken ');
  });
});
