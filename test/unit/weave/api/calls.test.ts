import { describe, expect, it } from 'vitest';
import { bodyOf } from '../../../../api/endpoint.ts';
import { callEndV2, callStartV2, callsComplete } from '../../../../weave/api/calls.ts';

const path = { entity: 'acme', project: 'shop' };
const start = { project_id: 'acme/shop', id: 'c', op_name: 'op', started_at: '2026-10-01T00:00:00Z' };
const end = { project_id: 'acme/shop', id: 'c', ended_at: '2026-10-01T00:00:01Z', summary: {} };

const complete = (report: object) => bodyOf(callsComplete).safeParse({ ...path, batch: [report] });
const reports = [
  ['a whole call', complete, { ...start, ...end }, ['batch', 0]],
  [
    'a start',
    (report: object) => bodyOf(callStartV2).safeParse({ ...path, start: report }),
    start,
    ['start'],
  ],
  ['an end', (report: object) => bodyOf(callEndV2).safeParse({ ...path, end: report }), end, ['end']],
] as const;

describe.each(reports)('%s below a project', (_, parse, report, loc) => {
  it('is accepted for that project, and for no other', () => {
    expect(parse(report).success).toBe(true);
    const { error } = parse({ ...report, project_id: 'acme/other' });
    expect(error?.issues).toMatchObject([{ path: [...loc, 'project_id'], params: { type: 'value_error' } }]);
  });

  it('with an id that cannot be one has that problem alone', () => {
    const { error } = parse({ ...report, id: 'x'.repeat(2000) });
    expect(error?.issues.map((issue) => issue.path)).toEqual([[...loc, 'id']]);
  });
});
