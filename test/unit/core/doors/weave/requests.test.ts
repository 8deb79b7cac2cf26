import { describe, expect, it } from 'vitest';
import { callEnd, callStart, callUpsertBatch } from '../../../../../api/calls.ts';
import { costCreate, costPurge } from '../../../../../api/costs.ts';
import { type Endpoint, getBodySchema } from '../../../../../api/endpoint.ts';
import { objCreate, objDelete, objRead, objsQuery } from '../../../../../api/objects.ts';
import { callsQueryStats, callsStreamQuery } from '../../../../../api/queries.ts';
import { readRequest } from '../../../../../core/doors/weave/requests.ts';
import { ServiceError } from '../../../../../foundations/wire/index.ts';
import { parseTolerantly } from '../../../../../foundations/wire/schema.ts';

/** The body that an endpoint gets of a request to the door. */
const read = <Body>(endpoint: Endpoint<Body>, fields: object, path: string = endpoint.path): Body =>
  readRequest(path, fields, (own) => parseTolerantly(getBodySchema(endpoint), own).value);

const findProblems = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof ServiceError) return error.detail;
    throw error;
  }
  return [];
};

const project = { entity: 'acme', project: 'shop' };
const start = { project_id: 'acme/shop', id: 'c', op_name: 'op', started_at: '2026-10-01T00:00:00Z' };
const end = { project_id: 'acme/shop', id: 'c', ended_at: '2026-10-01T00:00:01Z', summary: {} };

const v2 = '/v2/{entity}/{project}';
const reports = [
  [
    'a whole call',
    (report: object) => read(callUpsertBatch, { ...project, batch: [report] }, `${v2}/calls/complete`),
    { ...start, ...end },
    ['batch', '0'],
  ],
  [
    'a start',
    (report: object) => read(callStart, { ...project, start: report }, `${v2}/call/start`),
    start,
    ['start'],
  ],
  ['an end', (report: object) => read(callEnd, { ...project, end: report }, `${v2}/call/end`), end, ['end']],
] as const;

describe.each(reports)('%s below a project', (_, parse, report, loc) => {
  it('is accepted for that project, and for no other', () => {
    expect(findProblems(() => parse(report))).toEqual([]);
    expect(findProblems(() => parse({ ...report, project_id: 'acme/other' }))).toMatchObject([
      { loc: ['body', ...loc, 'project_id'], type: 'value_error' },
    ]);
  });

  it('with an id that cannot be one has that problem alone', () => {
    expect(findProblems(() => parse({ ...report, id: 'x'.repeat(2000) })).map(({ loc }) => loc)).toEqual([
      ['body', ...loc, 'id'],
    ]);
  });
});

describe('reports', () => {
  const batch = (...items: object[]) => read(callUpsertBatch, { batch: items }).batch;

  it('have names that are made to fit', () => {
    const named = { ...start, op_name: `a\nb${'c'.repeat(2000)}`, display_name: '', thread_id: 'x\u0000' };
    expect(batch({ mode: 'start', req: { start: named } })).toMatchObject([
      { start: { opName: `a b${'c'.repeat(1021)}`, displayName: null, threadId: 'x ' } },
    ]);
    expect(read(callStart, { start: { ...start, op_name: '' } }).start.opName).toBe('unnamed');
  });

  it('may name a call by its end, and say what is known of its start', () => {
    const ended = { ...end, display_name: 'Named', trace_id: 't', started_at: start.started_at };
    expect(batch({ mode: 'end', req: { end: ended } })).toMatchObject([{ end: { displayName: 'Named' } }]);
    expect(read(callEnd, { end: { ...ended, display_name: '' } }).end).toMatchObject({ displayName: null });
    expect(read(callEnd, { end }).end).not.toHaveProperty('displayName');
  });

  it('that are wrong are named where they were sent', () => {
    const wrong = () => batch({ mode: 'end', req: { end: { ...end, display_name: 7 } } });
    expect(findProblems(wrong)).toMatchObject([
      { loc: ['body', 'batch', '0', 'req', 'end', 'display_name'], type: 'string_type' },
    ]);
    expect(findProblems(() => batch({ mode: 'start', req: 7 }, 7 as never))).toMatchObject([
      { loc: ['body', 'batch', '0', 'req'] },
      { loc: ['body', 'batch', '1'] },
    ]);
    const { ended_at: _, ...running } = { ...start, ...end };
    const whole = () => read(callUpsertBatch, { ...project, batch: [running] }, `${v2}/calls/complete`);
    expect(findProblems(whole)).toMatchObject([{ loc: ['body', 'batch', '0', 'ended_at'], type: 'missing' }]);
  });

  it('have the cached tokens of Anthropic where they are among the others', () => {
    const usage = { m: { input_tokens: 110, output_tokens: 1 } };
    const output = { usage: { input_tokens: 10, cache_read_input_tokens: 100, output_tokens: 1 } };
    expect(read(callEnd, { end: { ...end, summary: { usage, weave: {} }, output } }).end.summary).toEqual({
      usage: { m: { ...usage.m, input_tokens_details: { cached_tokens: 100 } } },
    });
  });
});

describe('a query', () => {
  const isEmpty = { $expr: { $eq: [{ $getField: 'inputs.x' }, { $literal: '' }] } };

  it('compares as Weave does', () => {
    const { where } = read(callsStreamQuery, { project_id: 'acme/shop', query: isEmpty });
    expect(where).toMatchObject({ kind: 'compare', equalAsText: true, missingIsEmpty: true });
  });

  it('may ask for names of users, and of calls that are counted for what refs lead to', () => {
    const body = { project_id: 'acme/shop', include_usernames: true, latest_only: false };
    expect(read(callsStreamQuery, body)).toMatchObject({ userNameColumn: 'wb_username', where: null });
    const counted = { project_id: 'acme/shop', expand_columns: ['inputs.m'] };
    expect(read(callsQueryStats, counted)).toMatchObject({ expand: [{ text: 'inputs.m' }] });
  });

  it('has no column of feedback', () => {
    const wrong = () =>
      read(callsStreamQuery, { project_id: 'acme/shop', columns: ['feedback.[a].payload'] });
    expect(findProblems(wrong)).toMatchObject([{ loc: ['body', 'columns', '0'] }]);
  });
});

describe('prices', () => {
  const terms = { prompt_token_cost: 1e-6, completion_token_cost: 1e-6 };

  it('of cached tokens that are 0 say nothing', () => {
    const cached = { cache_read_input_token_cost: 1e-7, cache_creation_input_token_cost: 0 };
    const { terms: read_ } = read(costCreate, {
      project_id: 'acme/shop',
      costs: { m: { ...terms, ...cached } },
    });
    expect(read_).toMatchObject([{ cacheReadTokenCost: 1e-7, cacheWriteTokenCost: undefined }]);
  });

  it('are purged by a list of ids', () => {
    const literals = ['a', 'b'].map((id) => ({ $literal: id }));
    const query = { $expr: { $in: [{ $getField: 'id' }, literals] } };
    expect(read(costPurge, { project_id: 'acme/shop', query }).ids).toEqual(['a', 'b']);
    const other = { $expr: { $in: [{ $getField: 'llm_id' }, literals] } };
    expect(findProblems(() => read(costPurge, { project_id: 'acme/shop', query: other }))).toHaveLength(1);
  });
});

describe('objects', () => {
  const name = { project_id: 'acme/shop', object_id: 'x' };

  it('may have a digest that is expected', () => {
    const { obj } = read(objCreate, { obj: { ...name, val: 1, expected_digest: 'd' } });
    expect(obj).toMatchObject({ val: 1, expected: 'd' });
    const wrong = () => read(objCreate, { obj: { ...name, val: 1, expected_digest: 7 } });
    expect(findProblems(wrong)).toMatchObject([{ loc: ['body', 'obj', 'expected_digest'] }]);
  });

  it('are read and found with their labels', () => {
    const body = { ...name, digest: 'prod', include_tags_and_aliases: true, metadata_only: true };
    expect(read(objRead, body)).toMatchObject({ withLabels: true, metadataOnly: true });
    const filter = { tags: ['good'], aliases: [], exclude_base_object_classes: null, latest_only: true };
    expect(read(objsQuery, { project_id: 'acme/shop', filter, include_storage_size: true })).toMatchObject({
      withSizes: true,
      withLabels: false,
      filter: { tags: ['good'], aliases: null, excludedClasses: null, latestOnly: true },
    });
    const leaves = () => read(objsQuery, { project_id: 'acme/shop', filter: { leaf_object_classes: ['A'] } });
    expect(findProblems(leaves)).toMatchObject([{ loc: ['body', 'filter', 'leaf_object_classes'] }]);
  });

  it('are deleted by all that a version is called', () => {
    expect(read(objDelete, { ...name, digests: ['latest', 'v0'] })).toMatchObject({
      digests: ['latest', 'v0'],
    });
    expect(read(objDelete, name).digests).toBeNull();
  });
});
