import { describe, expect, it } from 'vitest';
import { bodyOf } from '../../../api/endpoint.ts';
import { threadsStreamQuery } from '../../../api/threads.ts';
import { ServiceError } from '../../../core/foundations/wire/index.ts';
import { parseBody } from '../../../core/foundations/wire/parse-body.ts';

const schema = bodyOf(threadsStreamQuery);
const parse = (body: object) => parseBody(schema, JSON.stringify(body));
const project_id = 'acme/shop';

const problemsOf = (body: object) => {
  try {
    parse(body);
  } catch (error) {
    if (error instanceof ServiceError) return error.detail;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('the body of a query over threads', () => {
  it('names the sortable fields when it sorts by another one', () => {
    expect(problemsOf({ project_id, sort_by: [{ field: 'first_turn_id', direction: 'asc' }] })).toEqual([
      {
        loc: ['body', 'sort_by', '0', 'field'],
        msg: 'should be one of "thread_id", "turn_count", "start_time", "last_updated", "p50_turn_duration_ms", "p99_turn_duration_ms"',
        type: 'literal_error',
      },
    ]);
  });

  it.each<[string, object, string[], string]>([
    ['no project', { project_id: undefined }, ['project_id'], 'missing'],
    ['a project that is none', { project_id: 'acme' }, ['project_id'], 'value_error'],
    [
      'a direction that is none',
      { sort_by: [{ field: 'thread_id', direction: 'up' }] },
      ['sort_by', '0', 'direction'],
      'literal_error',
    ],
    ['no direction', { sort_by: [{ field: 'thread_id' }] }, ['sort_by', '0', 'direction'], 'missing'],
    ['a negative limit', { limit: -1 }, ['limit'], 'greater_than_equal'],
    ['a broken offset', { offset: 1.5 }, ['offset'], 'int_type'],
    [
      'a time that is none',
      { filter: { after_datetime: 'yesterday' } },
      ['filter', 'after_datetime'],
      'datetime_parsing',
    ],
    [
      'a time as a number',
      { filter: { before_datetime: 1790812800 } },
      ['filter', 'before_datetime'],
      'string_type',
    ],
    ['an id that is no text', { filter: { thread_ids: [1] } }, ['filter', 'thread_ids', '0'], 'string_type'],
    ['a filter of calls', { filter: { op_names: [] } }, ['filter', 'op_names'], 'extra_forbidden'],
    ['a field of calls', { columns: [] }, ['columns'], 'extra_forbidden'],
  ])('with %s is refused', (_name, changes, loc, type) => {
    expect(problemsOf({ project_id, ...changes })).toMatchObject([{ loc: ['body', ...loc], type }]);
  });
});
