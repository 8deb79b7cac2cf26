import { describe, expect, it } from 'vitest';
import type { CallReport } from '../../../../../core/records/calls/model.ts';
import { groupReports } from '../../../../../core/records/calls/reports.ts';
import { resolveTraces } from '../../../../../core/records/calls/traces.ts';
import { qualifiedId } from '../../../../../foundations/wire/index.ts';
import { projectId, startReport as start } from '../../../../support/values/reports.ts';

const findTraces = (reports: CallReport[], stored: Record<string, string> = {}) => {
  const storedTraces = new Map(
    Object.entries(stored).map(([id, trace]) => [qualifiedId(projectId, id), trace]),
  );
  const traces = resolveTraces(groupReports(reports).calls, storedTraces);
  return (id: string) => traces.get(qualifiedId(projectId, id));
};

describe('resolveTraces', () => {
  it('keeps the trace that a start names', () => {
    expect(findTraces([start({ id: 'a', traceId: 't' })], { a: 'stored' })('a')).toBe('t');
  });

  it('gives a repeated start the trace that it was stored with', () => {
    expect(findTraces([start({ id: 'a', parentId: 'p' })], { a: 'stored', p: 'other' })('a')).toBe('stored');
  });

  it('takes a parent’s trace from storage and through the request', () => {
    const trace = findTraces([start({ id: 'c', parentId: 'b' }), start({ id: 'b', parentId: 'a' })], {
      a: 't',
    });
    expect([trace('b'), trace('c')]).toEqual(['t', 't']);
  });

  it('gives a new family of calls one new trace', () => {
    const trace = findTraces([
      start({ id: 'c', parentId: 'b' }),
      start({ id: 'b', parentId: 'a' }),
      start({ id: 'a' }),
    ]);
    expect(trace('a')).toMatch(/^[0-9a-f-]{36}$/);
    expect([trace('b'), trace('c')]).toEqual([trace('a'), trace('a')]);
  });

  it('makes a new trace if the parent is unknown', () => {
    const trace = findTraces([start({ id: 'a', parentId: 'gone' }), start({ id: 'b', parentId: 'lost' })]);
    expect(trace('a')).not.toBe(trace('b'));
  });

  it('ends at calls that are their own ancestors', () => {
    const trace = findTraces([
      start({ id: 'a', parentId: 'b' }),
      start({ id: 'b', parentId: 'a' }),
      start({ id: 'c', parentId: 'c' }),
    ]);
    expect(trace('a')).toBe(trace('b'));
    expect(trace('c')).toBeDefined();
  });
});
