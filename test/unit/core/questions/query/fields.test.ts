import { describe, expect, it } from 'vitest';
import { noIncludes } from '../../../../../api/queries.ts';
import { ownPolicy } from '../../../../../core/foundations/policy.ts';
import { projectionOf } from '../../../../../core/questions/query/fields.ts';
import { callColumns } from '../../../../../core/records/calls/index.ts';

describe('projectionOf', () => {
  const policy = ownPolicy;
  const pathsOf = (columns: string[] | null, includes = noIncludes) =>
    projectionOf(policy, { columns, includes }).map(({ paths }) => paths.map(({ text }) => text));

  it('always has the five columns that identify a call, in the order of a complete one', () => {
    expect(pathsOf(['summary.usage', 'inputs.model', 'inputs.messages'])).toEqual([
      ...[['id'], ['project_id'], ['op_name'], ['trace_id'], ['started_at']],
      ['inputs.model', 'inputs.messages'],
      ['summary.usage'],
    ]);
  });

  it('has every column if none is requested', () => {
    expect(pathsOf(null).flat()).toEqual(callColumns(policy));
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
