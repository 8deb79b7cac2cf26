import { describe, expect, it } from 'vitest';
import { type JsonValue, wireNames } from '../../../../../core/foundations/wire/index.ts';
import { pick, projectionOf } from '../../../../../core/questions/query/columns.ts';
import { noIncludes } from '../../../../../core/questions/query/index.ts';
import { callColumns } from '../../../../../core/records/calls/index.ts';

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

describe('projectionOf', () => {
  const names = wireNames('svc');
  const pathsOf = (columns: string[] | null, includes = noIncludes) =>
    projectionOf(names, { columns, includes }).map(({ paths }) => paths.map(({ text }) => text));

  it('always has the five columns that identify a call, in the order of a complete one', () => {
    expect(pathsOf(['summary.usage', 'inputs.model', 'inputs.messages'])).toEqual([
      ...[['id'], ['project_id'], ['op_name'], ['trace_id'], ['started_at']],
      ['inputs.model', 'inputs.messages'],
      ['summary.usage'],
    ]);
  });

  it('has every column if none is requested', () => {
    expect(pathsOf(null).flat()).toEqual(callColumns(names));
    expect(
      pathsOf(null, { ...noIncludes, storageSize: true })
        .flat()
        .at(-1),
    ).toBe('storage_size_bytes');
  });

  it('has the included columns, requested or not', () => {
    const includes = { costs: true, feedback: true, storageSize: true, totalStorageSize: true };
    expect(pathsOf([], includes).slice(5)).toEqual([
      ['summary.svc.costs', 'summary.svc.feedback'],
      ['storage_size_bytes'],
      ['total_storage_size_bytes'],
    ]);
  });
});
