import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import {
  compareRows,
  getSource,
  type Row,
  rowOfCall,
  rowsIn,
  toFile,
  toLine,
  toPortions,
} from '../../../../../web/calls/datasets/rows.ts';

const key = fc.stringMatching(/^[a-z ,"é=@'-]{1,6}$/).filter((name) => name !== '__proto__');
const text = fc.constantFrom('=1+1', "'=1", '-5', '-5+1', '@x', '+', "'");
const value = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 2 }).filter((one) => !Object.is(one, -0)),
);
const row = fc.dictionary(key, value, { minKeys: 1, noNullPrototype: true }) as fc.Arbitrary<Row>;

/** A row as JSON has it. */
const plain = (rows: unknown): unknown => JSON.parse(JSON.stringify(rows));

describe('the row of a call', () => {
  it('expects what the call answered, and nothing of one that failed', () => {
    const call = { project_id: 'acme/shop', id: 'c1', inputs: { q: 1 } } as unknown as CallRow;
    const source = 'svc:///acme/shop/call/c1';
    expect(rowOfCall({ ...call, output: false })).toEqual({ inputs: { q: 1 }, expected: false, source });
    expect(rowOfCall({ ...call, output: null })).toEqual({ inputs: { q: 1 }, source });
  });
});

describe('the line of a value', () => {
  it.each([
    ['a text', 'a text'],
    [undefined, ''],
    [{ question: 'Where is it?' }, 'Where is it?'],
    [{ order: 4711, city: 'Oslo' }, 'order: 4711, city: Oslo'],
    [
      {
        model: 'm',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'text', text: 'First?' }] },
          { role: 'assistant', content: 'Yes.' },
          { role: 'user', content: 'And then?' },
          { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'find', input: {} }] },
        ],
      },
      'And then?',
    ],
    [[{ role: 'user', content: 'Hello' }], 'Hello'],
    [{ role: 'assistant', content: 'An answer' }, 'An answer'],
    [[1, 2], '[1,2]'],
    [{ list: [1], of: { what: true } }, '{"list":[1],"of":{"what":true}}'],
  ])('of %j is %j', (value, line) => {
    expect(toLine(value)).toBe(line);
  });

  it('is short, whatever the value is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (any) => {
        expect(toLine(any).length).toBeLessThanOrEqual(300);
      }),
    );
  });
});

describe('a file of rows', () => {
  it.each(['jsonl', 'csv'] as const)('in %s is read back as what was written', (form) => {
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        expect(plain(rowsIn(toFile(rows, form), form))).toEqual(plain(rows));
      }),
    );
  });

  it('in CSV has the fields of objects as columns, and any columns are read', () => {
    const rows = [{ inputs: { question: 'Where, please?' }, expected: '12' }, { expected: 12 }];
    expect(toFile(rows, 'csv')).toBe('inputs.question,expected\n"Where, please?","""12"""\n,12\n');
    expect(rowsIn('\uFEFFquestion,answer\r\n"two\nlines",\r\n\r\nlast,yes', 'csv')).toEqual([
      { question: 'two\nlines' },
      { question: 'last', answer: 'yes' },
    ]);
  });

  it.each([
    ['jsonl', '{"a":1}\n\n[2]', 'Line 3 is not a JSON object'],
    ['csv', 'a,b\n1,2,3', 'Row 1 has 3 fields'],
    ['csv', 'a\n"open', 'Line 2 is not CSV'],
  ] as const)('that is wrong in %s names the place', (form, text, problem) => {
    expect(() => rowsIn(text, form)).toThrow(problem);
  });

  it('goes in portions that keep its order and fit a request', () => {
    const rows = Array.from({ length: 4500 }, (_, n) => ({ n, text: 'x'.repeat(n % 7 === 0 ? 9000 : 10) }));
    const portions = toPortions(rows);
    expect(portions.flat()).toEqual(rows);
    for (const portion of portions) expect(JSON.stringify(portion).length).toBeLessThan(1_600_000);
  });
});

describe('rows', () => {
  it('of two versions differ by what only one of them has, as often as it has it', () => {
    const rows = (...digests: string[]) => digests.map((digest) => ({ digest, val: { digest } }));
    expect(compareRows(rows('a', 'b', 'b'), rows('b', 'c', 'a', 'a'))).toEqual({
      removed: [{ digest: 'b' }],
      added: [{ digest: 'c' }, { digest: 'a' }],
    });
  });

  it('lead back to the call of their source, whatever its id', () => {
    expect(getSource({ source: 'weave:///acme/shop/call/a/b c' })).toEqual({
      project: 'acme/shop',
      id: 'a/b c',
    });
    expect(getSource({ source: 'https://example.com' })).toBeUndefined();
  });
});
