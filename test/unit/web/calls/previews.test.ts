import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../web/api/calls.ts';
import { shownPreview } from '../../../../web/calls/previews.ts';

const call = { op_name: 'answer', attributes: {}, summary: {} } as unknown as CallRow;

const shown = (output: string) => shownPreview({ input: null, output }, call).output;

describe('a preview', () => {
  it('shows words without the signs that Markdown has around them', () => {
    expect(shown('It is **on its way**: run `track 5`.')).toBe('It is on its way: run track 5.');
  });

  it('shows a table as its cells, without the line below its titles', () => {
    const table = 'Two fit: | chain | price | |:---|--:| | HG601 | -5 % | Which one?';
    expect(shown(table)).toBe('Two fit: chain · price · HG601 · -5 % · Which one?');
    expect(shown('| | | |---|---| | Carrier | DHL |')).toMatch(/^\s?Carrier · DHL/);
  });

  it('leaves bars alone that are in no table', () => {
    expect(shown('cat log | grep -- error | wc')).toBe('cat log | grep -- error | wc');
  });

  it('shows data as people would write it down', () => {
    expect(shown('{"order":"W1001","exchange":true,"note":"a \\"b\\""}')).toBe(
      'order: W1001, exchange: true, note: a "b"',
    );
    expect(shown('{"order":"W1001","note":"it is cut he…')).toBe('order: W1001, note: it is cut he…');
    expect(shown('{"order":{"id":1}}')).toBe('{"order":{"id":1}}');
    expect(shown('{not data}')).toBe('{not data}');
  });

  it('shows no numbers of an embedding', () => {
    expect(shown('[0.1,-0.2,0.3]')).toBeNull();
  });
});
