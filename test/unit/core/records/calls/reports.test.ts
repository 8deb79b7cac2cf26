import { describe, expect, it } from 'vitest';
import { groupReports } from '../../../../../core/records/calls/reports.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { endReport as end, startReport as start } from '../../../../support/values/reports.ts';

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
      end('a', { endedAt: 1 }),
      start({ id: 'a', opName: 'new' }),
      end('a', { endedAt: 2 }),
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
