import { describe, expect, it } from 'vitest';
import { defaultSort, everyThread, type ThreadsQuery } from '../../../../../api/threads.ts';
import { plan, planSummary } from '../../../../../core/questions/threads/plan.ts';
import { project } from '../../../../support/values/calls.ts';

const makeQuery = (changes: Partial<ThreadsQuery> = {}): ThreadsQuery => ({
  projectId: project,
  filter: everyThread,
  limit: null,
  offset: 0,
  sort: defaultSort,
  ...changes,
});
const threads = (...threadIds: string[]) => ({ filter: { ...everyThread, threadIds } });

describe('the plan of a query over threads', () => {
  it('reads all turns of the project and sorts their threads by default', () => {
    expect(plan(makeQuery())).toEqual({
      source: { kind: 'project' },
      order: 'sort',
      descending: false,
      offset: 0,
      limit: null,
    });
  });

  it('looks up threads by id, each once, and skips impossible ids', () => {
    const { source } = plan(makeQuery(threads('a', 'b', 'a', '', 'c\u0000', 'x'.repeat(257))));
    expect(source).toEqual({ kind: 'threads', ids: ['a', 'b'] });
  });

  it.each<[string, Partial<ThreadsQuery>]>([
    ['none of no ids', threads()],
    ['none of what can be no id', threads('\n')],
    ['no thread at all', { limit: 0 }],
  ])('reads nothing where it wants %s', (_name, changes) => {
    expect(plan(makeQuery(changes)).source).toEqual({ kind: 'nothing' });
  });

  it.each([true, false])('takes the order by thread_id from the index (descending: %s)', (descending) => {
    const sort = [
      { field: 'thread_id', descending },
      { field: 'turn_count', descending: true },
    ] as const;
    expect(plan(makeQuery({ sort }))).toMatchObject({ order: 'free', descending });
  });

  it('sorts if thread_id is only the second key', () => {
    const sort = [
      { field: 'turn_count', descending: true },
      { field: 'thread_id', descending: true },
    ] as const;
    expect(plan(makeQuery({ sort }))).toMatchObject({ order: 'sort', descending: false });
  });

  it('is logged with the number of ids, not with the ids', () => {
    expect(planSummary(plan(makeQuery({ ...threads('a', 'b'), limit: 5 })))).toEqual({
      source: '2 threads',
      order: 'sort',
      descending: false,
      offset: 0,
      limit: 5,
    });
    expect(planSummary(plan(makeQuery()))).toMatchObject({ source: 'project' });
  });
});
