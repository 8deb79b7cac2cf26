import { describe, expect, it } from 'vitest';
import type { CallReport, CallStart } from '../../../../../core/records/calls/model.ts';
import { groupReports, resolveTraces } from '../../../../../core/records/calls/traces.ts';
import { type ProjectId, qualifiedId } from '../../../../../foundations/wire/index.ts';

const projectId = 'acme/airline' as ProjectId;

const start = (fields: Partial<CallStart>): CallReport => ({
  kind: 'start',
  start: {
    projectId,
    id: null,
    opName: 'op',
    displayName: null,
    traceId: null,
    parentId: null,
    threadId: null,
    turnId: null,
    startedAt: 0,
    attributes: {},
    inputs: {},
    runId: null,
    runStep: null,
    envelopeBytes: 0,
    ...fields,
  },
});

const end = (id: string, endedAt = 0): CallReport => ({
  kind: 'end',
  end: {
    projectId,
    id,
    endedAt,
    output: null,
    exception: null,
    summary: {},
    runStepEnd: null,
    envelopeBytes: 0,
  },
});

const traceOf = (reports: CallReport[], stored: Record<string, string> = {}) => {
  const storedTraces = new Map(
    Object.entries(stored).map(([id, trace]) => [qualifiedId(projectId, id), trace]),
  );
  const traces = resolveTraces(groupReports(reports).calls, storedTraces);
  return (id: string) => traces.get(qualifiedId(projectId, id));
};

describe('groupReports', () => {
  it('makes one call of a start and an end in either order', () => {
    expect(groupReports([start({ id: 'a' }), end('a')]).calls).toHaveLength(1);
    expect(groupReports([end('a'), start({ id: 'a' })]).calls).toMatchObject([
      { id: 'a', start: {}, end: {} },
    ]);
  });

  it('keeps the last of several starts and of several ends', () => {
    const { calls } = groupReports([
      start({ id: 'a', opName: 'old' }),
      end('a', 1),
      start({ id: 'a', opName: 'new' }),
      end('a', 2),
    ]);
    expect(calls).toMatchObject([{ start: { opName: 'new' }, end: { endedAt: 2 } }]);
  });

  it('separates calls with the same id in different projects', () => {
    const other = 'acme/other' as ProjectId;
    expect(groupReports([start({ id: 'a' }), start({ id: 'a', projectId: other })]).calls).toHaveLength(2);
  });

  it('makes an id for each start without one, and gives the call of each report', () => {
    const { calls, callOfReport } = groupReports([start({}), start({}), end('x')]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(3);
    expect(callOfReport).toEqual(calls);
    expect(calls.map((call) => call.hasClientId)).toEqual([false, false, true]);
  });
});

describe('resolveTraces', () => {
  it('keeps the trace that a start names', () => {
    expect(traceOf([start({ id: 'a', traceId: 't' })], { a: 'stored' })('a')).toBe('t');
  });

  it('gives a repeated start the trace that it was stored with', () => {
    expect(traceOf([start({ id: 'a', parentId: 'p' })], { a: 'stored', p: 'other' })('a')).toBe('stored');
  });

  it('takes a parent’s trace from storage and through the request', () => {
    const trace = traceOf([start({ id: 'c', parentId: 'b' }), start({ id: 'b', parentId: 'a' })], { a: 't' });
    expect([trace('b'), trace('c')]).toEqual(['t', 't']);
  });

  it('gives a new family of calls one new trace', () => {
    const trace = traceOf([
      start({ id: 'c', parentId: 'b' }),
      start({ id: 'b', parentId: 'a' }),
      start({ id: 'a' }),
    ]);
    expect(trace('a')).toMatch(/^[0-9a-f-]{36}$/);
    expect([trace('b'), trace('c')]).toEqual([trace('a'), trace('a')]);
  });

  it('makes a new trace if the parent is unknown', () => {
    const trace = traceOf([start({ id: 'a', parentId: 'gone' }), start({ id: 'b', parentId: 'lost' })]);
    expect(trace('a')).not.toBe(trace('b'));
  });

  it('ends at calls that are their own ancestors', () => {
    const trace = traceOf([
      start({ id: 'a', parentId: 'b' }),
      start({ id: 'b', parentId: 'a' }),
      start({ id: 'c', parentId: 'c' }),
    ]);
    expect(trace('a')).toBe(trace('b'));
    expect(trace('c')).toBeDefined();
  });
});
