import { describe, expect, it } from 'vitest';
import { pick } from '../../../../foundations/expression/index.ts';
import type { JsonValue } from '../../../../foundations/wire/index.ts';

const at = (value: JsonValue, ...paths: string[]): JsonValue =>
  pick(
    value,
    paths.map((path) => path.split('.')),
  );

describe('pick', () => {
  it('keeps the shape of the value around the requested paths', () => {
    expect(at({ a: { b: 1, c: 2 }, d: 3 }, 'a.b')).toEqual({ a: { b: 1 } });
  });

  it('combines several paths', () => {
    expect(at({ a: { b: 1, c: 2, d: 3 } }, 'a.b', 'a.d')).toEqual({ a: { b: 1, d: 3 } });
  });

  it('indexes lists by number, and keeps the positions of items', () => {
    expect(at({ messages: [{ role: 'user', text: 'x' }, { role: 'tool' }] }, 'messages.1.role')).toEqual({
      messages: [null, { role: 'tool' }],
    });
  });

  it('finds keys that contain dots', () => {
    expect(at({ 'gpt-4.1': { total: 7 }, 'gpt-4': { x: 1 } }, 'gpt-4.1.total')).toEqual({
      'gpt-4.1': { total: 7 },
    });
  });

  it('leaves out missing paths', () => {
    expect(at({ a: { b: 1 } }, 'a.x', 'y', 'a.b.c', 'a.0')).toEqual({});
    expect([at('text', 'length'), at(null, 'x'), at(7, 'x')]).toEqual([null, null, null]);
    expect(at([1, 2], '5', '-1', 'length')).toEqual([]);
  });

  it('sets no prototype', () => {
    const value = JSON.parse('{"__proto__": {"polluted": 1}}') as JsonValue;
    expect(JSON.stringify(at(value, '__proto__.polluted'))).toBe('{"__proto__":{"polluted":1}}');
    expect(at({}, 'constructor.name', '__proto__.x')).toEqual({});
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});
