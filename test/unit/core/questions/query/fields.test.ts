import { describe, expect, it } from 'vitest';
import { type CallsFilter, everyCall, noIncludes } from '../../../../../api/queries.ts';
import { toProjection } from '../../../../../core/questions/query/fields.ts';
import { headerFilter, payloadFilter } from '../../../../../core/questions/query/filter.ts';
import { QueriedCall } from '../../../../../core/questions/query/queried-call.ts';
import { type CallHeader, callColumns, type Payload } from '../../../../../core/records/calls/index.ts';

describe('projectionOf', () => {
  const toPaths = (columns: string[] | null, includes = noIncludes) =>
    toProjection({ columns, includes }).map(({ paths }) => paths.map(({ text }) => text));

  it('always has the five columns that identify a call, in the order of a complete one', () => {
    expect(toPaths(['summary.usage', 'inputs.model', 'inputs.messages'])).toEqual([
      ['id'],
      ['project_id'],
      ['op_name'],
      ['trace_id'],
      ['started_at'],
      ['inputs.model', 'inputs.messages'],
      ['summary.usage'],
    ]);
  });

  it('has every column if none is requested', () => {
    expect(toPaths(null).flat()).toEqual(callColumns);
    expect(
      toPaths(null, { ...noIncludes, storageSize: true })
        .flat()
        .at(-1),
    ).toBe('storage_size_bytes');
  });

  it('has the included columns, requested or not', () => {
    const includes = {
      costs: true,
      feedback: true,
      storageSize: true,
      totalStorageSize: true,
      traceTotals: true,
    };
    expect(toPaths([], includes).slice(5)).toEqual([
      ['summary.svc.costs', 'summary.svc.feedback', 'summary.svc.trace_totals'],
      ['storage_size_bytes'],
      ['total_storage_size_bytes'],
    ]);
  });
});

const header = {
  id: 'c1',
  projectId: 'acme/airline',
  start: {
    opName: 'svc:///acme/airline/op/tool.think:abc',
    traceId: 't1',
    parentId: 'p1',
    threadId: null,
    turnId: 'u1',
    userId: 'ada',
    runId: null,
  },
} as CallHeader;

const passes = (filter: Partial<CallsFilter>) => headerFilter({ ...everyCall, ...filter })(header);

describe('headerFilter', () => {
  it('accepts everything that it does not restrict', () => {
    expect(passes({})).toBe(true);
  });

  it.each<[Partial<CallsFilter>, boolean]>([
    [{ callIds: ['x', 'c1'] }, true],
    [{ callIds: ['c'] }, false],
    [{ traceIds: ['t1'], parentIds: ['p1'], turnIds: ['u1'], userIds: ['ada'] }, true],
    [{ traceIds: ['t1'], parentIds: ['p2'] }, false],
    [{ threadIds: ['null'] }, false],
    [{ runIds: [''] }, false],
    [{ traceRootsOnly: true }, false],
    [{ opNames: ['svc:///acme/airline/op/tool.think:*'] }, true],
    [{ opNames: ['svc:///acme/airline/op/tool.think:abc'] }, true],
    [{ opNames: ['svc:///acme/airline/op/tool.think:ab'] }, false],
    [{ opNames: ['svc:///acme/airline/op/tool.thin:*'] }, false],
    [{ opNames: ['svc:///acme/airline/op/tool.*'] }, false],
  ])('%j → %s', (filter, expected) => {
    expect(passes(filter)).toBe(expected);
  });
});

describe('payloadFilter', () => {
  const ref = 'svc:///acme/airline/object/prompt:v1';
  const row = (payload: Partial<Payload>) => new QueriedCall(header, payload as Payload);
  const found = row({
    inputs: JSON.stringify({ deep: [{ here: ref }], [ref]: 'as a key' }),
    output: JSON.stringify([null, 1, 'text']),
  });
  const holds = (filter: Partial<CallsFilter>) => payloadFilter({ ...everyCall, ...filter })?.(found);

  it('is not needed if no refs are requested', () => {
    expect(payloadFilter(everyCall)).toBeUndefined();
  });

  it('finds a ref, or a prefix of one, anywhere in the values', () => {
    expect(holds({ inputRefs: [ref] })).toBe(true);
    expect(holds({ inputRefs: ['svc:///acme/airline/object/prompt:*'] })).toBe(true);
    expect(holds({ inputRefs: ['svc:///acme/airline/object/promp:*'] })).toBe(false);
    expect(holds({ outputRefs: [ref] })).toBe(false);
    expect(holds({ inputRefs: [ref], outputRefs: [ref] })).toBe(false);
  });

  it('does not match keys', () => {
    const inKeys = row({ inputs: JSON.stringify({ [ref]: 1 }), output: 'null' });
    expect(payloadFilter({ ...everyCall, inputRefs: [ref] })?.(inKeys)).toBe(false);
  });
});
