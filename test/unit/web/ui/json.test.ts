import { describe, expect, it } from 'vitest';
import { firstOpen, search, toLines } from '../../../../web/ui/json.ts';

const value = { a: { b: [1, { c: 'deep' }] }, d: 'text' };
const root = { value, path: 'inputs' };

describe('the lines of a JSON tree', () => {
  it('are those of what is open, with their paths', () => {
    expect(
      toLines(root, new Set(['inputs.a', 'inputs.a.b'])).map(({ path, depth }) => `${depth} ${path}`),
    ).toEqual(['0 inputs.a', '1 inputs.a.b', '2 inputs.a.b.0', '2 inputs.a.b.1', '0 inputs.d']);
  });

  it('are one for a value without members', () => {
    expect(toLines({ value: 'text', path: 'output' }, new Set())).toMatchObject([
      { path: 'output', value: 'text' },
    ]);
  });

  it('are few at first, however much there is', () => {
    const many = {
      value: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, { i }])),
      path: '',
    };
    expect(firstOpen(many).size).toBe(0);
    const deep = { value: JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`) as unknown, path: '' };
    expect(firstOpen(deep).size).toBeLessThan(100);
  });
});

describe('a search', () => {
  it('finds keys and values, wherever they are', () => {
    expect(search(root, 'DEEP').lines.map(({ path }) => path)).toEqual(['inputs.a.b.1.c']);
    expect(search(root, 'd').lines.map(({ path }) => path)).toEqual(['inputs.a.b.1.c', 'inputs.d']);
  });

  it('stops at a number of finds, and says so', () => {
    const { lines, cut } = search({ value: Array.from({ length: 5000 }, () => 'x'), path: '' }, 'x');
    expect([lines.length, cut]).toEqual([1000, true]);
  });
});
