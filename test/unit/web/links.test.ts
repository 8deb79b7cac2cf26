import { parseSearchWith } from '@tanstack/react-router';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLinks } from '../../../foundations/links.ts';
import {
  parseCompareSearch,
  parseOverviewSearch,
  parseThreadSearch,
  parseTraceSearch,
  parseTracesSearch,
} from '../../../web/navigation/search.ts';

const links = createLinks('https://x.example/api');

/** The view of a link, and its state as the page reads it. */
const read = (link: string, parse: (search: Record<string, unknown>) => unknown): [string, unknown] => {
  const { pathname, search } = new URL(link);
  return [pathname, parse(parseSearchWith(JSON.parse)(search))];
};

/** Ids that the page's router could take for numbers or other JSON. */
const id = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.constantFrom('17', '1e400', '12345678901234567890123456789012', 'true', 'null', '"a"', '{}', 'a b&c=d'),
);

describe('a link', () => {
  it('leads to the view of the page with the state that it was made of, whatever the ids are', () => {
    fc.assert(
      fc.property(id, id, (a, b) => {
        expect(read(links.trace('p/q', a, b), parseTraceSearch)).toEqual([
          '/api/ui/trace',
          { project: 'p/q', trace: a, call: b },
        ]);
        expect(read(links.thread('p/q', a), parseThreadSearch)).toEqual([
          '/api/ui/thread',
          { project: 'p/q', thread: a },
        ]);
        expect(read(links.compare('p/q', a, b), parseCompareSearch)).toEqual([
          '/api/ui/compare',
          { project: 'p/q', left: a, right: b },
        ]);
      }),
    );
  });

  it('has the range of lists and of the overview', () => {
    const from = '2026-10-01T00:00:00.000000Z';
    const to = '2026-10-02T00:00:00.000000Z';
    expect(read(links.overview('p/q', from, to), parseOverviewSearch)).toEqual([
      '/api/ui/overview',
      { project: 'p/q', from, to },
    ]);
    expect(read(links.traces('p/q', from, to), parseTracesSearch)).toEqual([
      '/api/ui/traces',
      { project: 'p/q', from, to },
    ]);
    expect(read(links.calls('p/q', from, to, '17'), parseTracesSearch)).toEqual([
      '/api/ui/traces',
      { project: 'p/q', from, to, all: true, where: [{ path: 'op_name', op: 'is', value: '17' }] },
    ]);
    expect(read(links.project('p/q'), parseTracesSearch)).toEqual(['/api/ui/traces', { project: 'p/q' }]);
  });
});
