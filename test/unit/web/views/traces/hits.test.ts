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
});
