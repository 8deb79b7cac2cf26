import { describe, expect, it } from 'vitest';
import {
  chosenCalls,
  chosenCount,
  everyTrace,
  type KeptFilter,
  toFilter,
  toKept,
} from '../../../../../web/calls/filters/kept-filter.ts';

describe('the filter that an object keeps', () => {
  const where = [
    { path: 'op_name', op: 'contains', value: 'chat "now"' },
    { path: 'inputs.n', op: 'is', value: '"12"' },
    { path: 'inputs.n', op: 'is not', value: '12' },
    { path: 'thread_id', op: 'is', value: '"17"' },
    { path: 'summary.svc.latency_ms', op: 'above', value: '100' },
    { path: 'svc_user_id', op: 'below', value: 'm' },
    { path: 'exception', op: 'exists', value: '' },
    { path: 'output', op: 'is missing', value: '' },
  ] as const;

  it.each<[string, KeptFilter]>([
    ['every trace', everyTrace],
    ['all calls', { ...everyTrace, all: true }],
    ['conditions of all kinds', { ...everyTrace, where }],
    ['states and a text', { ...everyTrace, status: ['error', 'running'], text: 'say "no"' }],
    ['feedback', { ...everyTrace, feedback: 'down' }],
    ['none of feedback', { ...everyTrace, feedback: 'none' }],
    ['what evaluations made', { ...everyTrace, source: 'evaluation' }],
    ['what anybody made', { ...everyTrace, source: 'all' }],
    ['chosen calls', chosenCalls(['a', 'b'])],
  ])('is read as it was written: %s', (_, filter) => {
    expect(toFilter(toKept(filter))).toEqual(filter);
  });

  it('counts the calls that were chosen one by one', () => {
    expect(toKept(chosenCalls(['a', 'b']))).toEqual({ filter: { call_ids: ['a', 'b'] } });
    expect([chosenCount(chosenCalls(['a', 'b'])), chosenCount(everyTrace)]).toEqual([2, undefined]);
  });

  it('is of production when it is new, and goes on counting everything when it never named a source', () => {
    expect(toKept(everyTrace)).toEqual({ filter: { trace_roots_only: true, sources: ['production'] } });
    const old = { filter: { trace_roots_only: true } };
    expect(toKept(toFilter(old))).toEqual(old);
    const two = { filter: { trace_roots_only: true, sources: ['test', 'trial'] } };
    expect(toKept(toFilter(two))).toEqual(two);
  });

  it('keeps what the page has no words for', () => {
    const filter = { op_names: ['chat'] };
    const $expr = { $or: [{ $eq: [{ $getField: 'id' }, { $literal: 'a' }] }] };
    const read = toFilter({ filter, query: { $expr } });
    expect(read).toEqual({ all: true, source: 'all', others: [$expr], rest: filter });
    expect(toKept(read)).toEqual({ filter, query: { $expr: { $and: [$expr] } } });
  });
});
