import { beforeAll, describe, expect, it } from 'vitest';
import { ExactNumber, type JsonObject } from '../../../../../foundations/wire/index.ts';
import { type SharedService, sharedService, throughWeave } from '../../../../support/service/service.ts';

let service: SharedService;
beforeAll(async () => {
  service = throughWeave(await sharedService());
});

const project = 'acme/meaning';
const callRef = (id: string) => `weave:///${project}/call/${id}`;
const field = (path: string) => ({ $getField: path });
const literal = (value: unknown) => ({ $literal: value });

const ask = (path: string, body: object) => service.post(path, { project_id: project, ...body });
const done = async (path: string, body: object): Promise<JsonObject> => {
  const answer = await ask(path, body);
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as JsonObject;
};

/** The ids of the calls that match, in order. */
const found = async (body: object): Promise<unknown[]> => {
  const answer = await ask('/calls/stream_query', body);
  expect(answer.status).toBe(200);
  const lines = (await answer.text()).split('\n').filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
};
const matching = ($expr: object): Promise<unknown[]> => found({ query: { $expr } });

const usage = (tokens: number) => ({
  usage: { 'm-1': { requests: 1, prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 } },
});
const whole = (id: string, second: number, more: object) => ({
  project_id: project,
  id,
  op_name: 'answer',
  trace_id: 'trace',
  inputs: {},
  output: null,
  started_at: `2026-10-01T00:00:0${second}Z`,
  ended_at: `2026-10-01T00:00:0${second}.5Z`,
  ...more,
});

beforeAll(async () => {
  const batch = [
    whole('root', 1, { inputs: { a: 'x' }, attributes: { user: { id: 'eve' } }, summary: usage(10) }),
    whole('child', 2, { parent_id: 'root', summary: usage(5) }),
    whole('other', 3, { trace_id: 'trace-2', display_name: 'named', inputs: { a: 'y' } }),
  ];
  await done('/v2/acme/meaning/calls/complete', { batch });
});

describe('a wait for a person', () => {
  it('is in `summary.weave`, which queries filter and sort by', async () => {
    const own = 'acme/waits';
    const calls = [
      ['asked', { waiting: true }],
      ['approved', { waited_ms: 12_000 }],
      ['quick', {}],
    ] as const;
    const batch = calls.map(([id, summary], at) => ({ ...whole(id, at, { summary }), project_id: own }));
    await done('/v2/acme/waits/calls/complete', { batch });
    const waited = { $gt: [field('summary.weave.waited_ms'), literal(1000)] };
    expect(await found({ project_id: own, query: { $expr: waited } })).toEqual(['approved']);
    const waits = { $eq: [field('summary.weave.waiting'), literal(true)] };
    expect(await found({ project_id: own, query: { $expr: waits } })).toEqual(['asked']);
    const sort_by = [{ field: 'summary.weave.waited_ms', direction: 'desc' }];
    expect(await found({ project_id: own, sort_by })).toEqual(['approved', 'asked', 'quick']);
    const { call } = await done('/call/read', { project_id: own, id: 'approved' });
    expect(call).toMatchObject({ summary: { waited_ms: 12_000, weave: { waited_ms: 12_000 } } });
  });
});

describe('in a query, what is missing', () => {
  it('equals the empty text', async () => {
    expect(await matching({ $eq: [field('parent_id'), literal('')] })).toEqual(['root', 'other']);
    expect(await matching({ $not: [{ $eq: [field('inputs.a'), literal('')] }] })).toEqual(['root', 'other']);
    expect(await matching({ $in: [field('display_name'), [literal(''), literal('none')]] })).toEqual([
      'root',
      'child',
    ]);
    expect(await matching({ $lt: [field('inputs.a'), literal('y')] })).toEqual(['root', 'child']);
  });

  it('is no text once it is converted', async () => {
    const converted = { $convert: { input: field('parent_id'), to: 'string' } };
    expect(await matching({ $eq: [converted, literal('')] })).toEqual([]);
  });
});

describe('in a query, a text', () => {
  it('equals the number, true or false that it is in JSON', async () => {
    const project_id = 'acme/texts';
    const batch = [
      whole('typed', 1, { project_id, output: { n: 3, f: 1.5, yes: true, text: '3' } }),
      whole('exact', 2, { project_id, output: { n: new ExactNumber('1.0') } }),
    ];
    await done('/v2/acme/texts/calls/complete', { batch });
    const equal = ($expr: object) => found({ project_id, query: { $expr } });
    const at = (path: string) => field(`output.${path}`);
    expect(await equal({ $eq: [at('n'), literal('3')] })).toEqual(['typed']);
    expect(await equal({ $eq: [literal('1.5'), at('f')] })).toEqual(['typed']);
    expect(await equal({ $eq: [at('yes'), literal('true')] })).toEqual(['typed']);
    expect(await equal({ $eq: [at('n'), literal('1.0')] })).toEqual(['exact']);
    expect(await equal({ $eq: [at('n'), literal('1')] })).toEqual([]);
    expect(await equal({ $ne: [at('n'), literal('3')] })).toEqual(['exact']);
    expect(await equal({ $in: [at('n'), [literal('1.0'), literal('3')]] })).toEqual(['typed', 'exact']);
    expect(await equal({ $eq: [at('text'), literal(3)] })).toEqual([]);
    const converted = { $convert: { input: at('n'), to: 'int' } };
    expect(await equal({ $eq: [converted, literal('3')] })).toEqual([]);
  });
});

describe('feedback', () => {
  const scorer = `weave:///${project}/object/Polite:${'a'.repeat(43)}`;
  beforeAll(async () => {
    const on = (id: string, feedback_type: string, payload: object, more: object = {}) =>
      done('/feedback/create', { weave_ref: callRef(id), feedback_type, payload, scorer_tags: [], ...more });
    await on('root', 'rating', { stars: 3 });
    await on('root', 'rating', { stars: 5 });
    await on('child', 'rating', { stars: 1 });
    await on('other', 'wandb.runnable.Polite', { output: { polite: true } }, { runnable_ref: scorer });
  });

  it('is reached by queries, by its type; the latest of a type counts', async () => {
    const stars = field('feedback.[rating].payload.stars');
    expect(await matching({ $gte: [stars, literal(4)] })).toEqual(['root']);
    expect(
      await found({ sort_by: [{ field: 'feedback.[rating].payload.stars', direction: 'asc' }] }),
    ).toEqual(['child', 'root', 'other']);
  });

  it('tells which scorer has scored a call', async () => {
    const by = field('feedback.[wandb.runnable.Polite].runnable_ref');
    expect(await matching({ $eq: [by, literal(scorer)] })).toEqual(['other']);
    const output = field('feedback.[wandb.runnable.Polite].payload.output');
    expect(await matching({ $not: [{ $eq: [output, literal('')] }] })).toEqual(['other']);
  });

  it('selects calls that are counted', async () => {
    const count = (path: string, value: unknown) =>
      done('/calls/query_stats', { query: { $expr: { $eq: [field(path), literal(value)] } } });
    expect(await count('feedback.[rating].payload.stars', 5)).toMatchObject({ count: 1 });
    expect(await count('feedback.[rating].payload.stars', 3)).toMatchObject({ count: 0 });
    const scored = 'feedback.[wandb.runnable.Polite].runnable_ref';
    expect(await count(scored, scorer)).toMatchObject({ count: 1 });
  });

  it('selects calls for statistics and usage', async () => {
    const query = { $expr: { $eq: [field('feedback.[rating].payload.stars'), literal(1)] } };
    expect(await done('/trace/usage', { query })).toMatchObject(
      await done('/calls/usage', { call_ids: ['child'] }),
    );
    const { call_buckets } = await done('/calls/stats', {
      start: '2026-10-01T00:00:00Z',
      end: '2026-10-01T01:00:00Z',
      granularity: 3600,
      query,
      call_metrics: [{ metric: 'call_count' }],
    });
    expect(call_buckets).toMatchObject([{ sum_call_count: 1 }]);
  });

  it('is counted over time, by the paths that its payloads have', async () => {
    const rated = { start: '2026-10-01T00:00:00Z', feedback_type: 'rating' };
    const { paths } = await done('/feedback/payload_schema', rated);
    expect(paths).toEqual([{ json_path: 'stars', value_type: 'numeric' }]);
    const { buckets, window_stats } = await done('/feedback/stats', { ...rated, metrics: paths });
    expect(buckets).toMatchObject([{ count: 3, avg_stars: 3 }]);
    expect(window_stats).toEqual({ stars: { avg: 3, min: 1, max: 5 } });
  });

  it('is no column', async () => {
    expect((await ask('/calls/stream_query', { columns: ['feedback.[rating].payload'] })).status).toBe(422);
  });

  it('is counted in all, and purged by a list of ids', async () => {
    const query = { $expr: { $eq: [field('feedback_type'), literal('rating')] } };
    const some = await done('/feedback/query', { query, limit: 2 });
    expect(some).toMatchObject({ result: [{}, {}], total_count: 3 });
    expect(await done('/feedback/query', { query })).toMatchObject({ total_count: 3 });
    const ids = (some.result as { id: string }[]).map(({ id }) => literal(id));
    await done('/feedback/purge', { query: { $expr: { $in: [field('id'), ids] } } });
    expect(await done('/feedback/query', { query })).toMatchObject({ total_count: 1 });
  });
});

describe('an answer', () => {
  it('names users if it is asked to', async () => {
    const answer = await ask('/calls/stream_query', { include_usernames: true, latest_only: true, limit: 1 });
    expect(JSON.parse(await answer.text())).toMatchObject({ wb_user_id: 'local', wb_username: 'local' });
  });

  it('has previews by name alone', async () => {
    const filter = { call_ids: ['root'] };
    const [named, whole] = await Promise.all(
      [{ columns: ['preview'] }, {}].map((more) => ask('/calls/stream_query', { filter, ...more })),
    );
    expect(JSON.parse((await named?.text()) ?? '')).toMatchObject({ preview: { input: 'x', output: null } });
    expect(await whole?.text()).not.toContain('preview');
  });

  it('sums up usage by trace, as by call', async () => {
    const filter = { trace_ids: ['trace'] };
    const own = await done('/calls/usage', { call_ids: ['root', 'child'] });
    expect(await done('/trace/usage', { filter })).toEqual(own);
    expect(own).toMatchObject({ call_usage: { root: { 'm-1': { requests: 2, prompt_tokens: 15 } } } });
    expect(await done('/trace/usage', { filter, limit: 1 })).toMatchObject({ call_usage: { root: {} } });
  });

  it('has statistics with Weave’s names', async () => {
    const { call_buckets } = await done('/calls/stats', {
      start: '2026-10-01T00:00:00Z',
      end: '2026-10-01T01:00:00Z',
      granularity: 3600,
      call_metrics: [{ metric: 'call_count' }],
      filter: { wb_user_ids: ['local'] },
    });
    expect(call_buckets).toMatchObject([{ sum_call_count: 3 }]);
  });

  it('counts end users, and finds their calls', async () => {
    const user = field('attributes.user.id');
    expect(await matching({ $eq: [user, literal('eve')] })).toEqual(['root']);
    expect(await matching({ $eq: [user, literal('')] })).toEqual(['child', 'other']);
    const { call_buckets } = await done('/calls/stats', {
      start: '2026-10-01T00:00:00Z',
      end: '2026-10-01T01:00:00Z',
      granularity: 3600,
      call_metrics: [{ metric: 'call_count' }],
      group_by: ['attributes.user.id', 'wb_user_id'],
    });
    expect(call_buckets).toMatchObject([
      { 'attributes.user.id': 'eve', wb_user_id: 'local', sum_call_count: 1 },
      { 'attributes.user.id': null, wb_user_id: 'local', sum_call_count: 2 },
    ]);
  });
});

describe('objects', () => {
  const create = (object_id: string, val: object) =>
    done('/obj/create', { obj: { project_id: project, object_id, val } });

  it('are ops by their custom type', async () => {
    await create('code', { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: {} });
    await create('plain', { weave_type: { type: 'Image' } });
    const { objs } = await done('/objs/query', { filter: { is_op: true } });
    expect(objs).toMatchObject([{ object_id: 'code', kind: 'op' }]);
  });

  it('are refused with a 409 if their client expects another digest', async () => {
    const obj = { project_id: project, object_id: 'expected', val: { v: 1 } };
    const wrong = await ask('/obj/create', { obj: { ...obj, expected_digest: 'wrong' } });
    expect(wrong.status).toBe(409);
    const { digest } = await done('/obj/create', { obj: { ...obj, expected_digest: null } });
    expect(await done('/obj/create', { obj: { ...obj, expected_digest: digest } })).toMatchObject({ digest });
  });

  describe('in a list', () => {
    const object_ids = ['filtered', 'unlabelled'];
    /** The versions that a filter lets through, as `<object>:<index>`. */
    const listed = async (filter: object): Promise<string[]> => {
      const { objs } = await done('/objs/query', { filter: { object_ids, ...filter } });
      return (objs as JsonObject[]).map(({ object_id, version_index: v }) => `${object_id}:${v}`);
    };
    beforeAll(async () => {
      const model = { _class_name: 'Mine', _bases: ['Model', 'Object', 'BaseModel'] };
      for (const n of [1, 2]) await create('filtered', { ...model, n });
      await create('unlabelled', { n: 1 });
      const put = (path: string, body: object) =>
        service.post(path, { project_id: project, ...body }, { method: 'PUT' });
      await put('/objs/filtered/versions/v0/tags', { tags: ['checked'] });
      await put('/objs/filtered/aliases', { digest: 'v1', aliases: ['chosen'] });
    });

    it.each([
      [{ tags: ['checked', 'other'] }, ['filtered:0']],
      [{ tags: ['other'] }, []],
      [{ aliases: ['chosen'] }, ['filtered:1']],
      [{ aliases: ['latest'] }, ['filtered:1', 'unlabelled:0']],
      [{ aliases: ['latest'], tags: ['checked'] }, []],
      [{ object_ids: null, tags: ['checked'] }, ['filtered:0']],
      [{ exclude_base_object_classes: ['Model'] }, ['unlabelled:0']],
      [{ base_object_classes: ['Model'], exclude_base_object_classes: ['Model'] }, []],
      [
        { tags: [], aliases: null, exclude_base_object_classes: [], leaf_object_classes: [] },
        ['filtered:0', 'filtered:1', 'unlabelled:0'],
      ],
    ])('are those that match %j', async (filter, versions) => {
      expect(await listed(filter)).toEqual(versions);
    });

    it('are refused by the classes of their values, which are not known', async () => {
      const answer = await ask('/objs/query', { filter: { leaf_object_classes: ['Mine'] } });
      expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('not served')]);
    });

    it('have the bytes of their values if they are asked for', async () => {
      const body = { filter: { object_ids: ['unlabelled'] } };
      const sized = await done('/objs/query', { ...body, include_storage_size: true });
      expect(sized.objs).toMatchObject([{ size_bytes: JSON.stringify({ n: 1 }).length }]);
      const { objs } = await done('/objs/query', body);
      expect((objs as JsonObject[])[0]).not.toHaveProperty('size_bytes');
    });
  });

  it('have versions that are deleted by whatever they are called', async () => {
    for (const v of [0, 1, 2, 3]) await create('versions', { v });
    const { digest } = await create('versions', { v: 1 });
    const name = { object_id: 'versions' };
    expect(await done('/obj/delete', { ...name, digests: ['v0', 'latest', digest, 'v9'] })).toEqual({
      num_deleted: 3,
    });
    const { obj } = await done('/obj/read', { ...name, digest: 'latest' });
    expect(obj).toMatchObject({ version_index: 2, val: { v: 2 } });
  });
});

describe('calls whose inputs are refs to objects', () => {
  const byModel = {
    filter: { op_names: ['uses a model'] },
    expand_columns: ['inputs.m'],
    query: { $expr: { $eq: [field('inputs.m.name'), literal('mine')] } },
  };
  beforeAll(async () => {
    const refs = ['mine', 'mine', 'other'].map(async (name, i) => {
      const obj = { project_id: project, object_id: `model-${i}`, val: { name } };
      const { digest } = await done('/obj/create', { obj });
      return `weave:///${project}/object/model-${i}:${digest}`;
    });
    const batch = (await Promise.all(refs)).map((m, i) =>
      whole(`user-${i}`, 4 + i, { op_name: 'uses a model', inputs: { m } }),
    );
    await done('/v2/acme/meaning/calls/complete', { batch });
  });

  it('are counted as they are listed', async () => {
    const listed = await found(byModel);
    expect(listed).toEqual(['user-0', 'user-1']);
    expect(await done('/calls/query_stats', byModel)).toMatchObject({ count: listed.length });
  });

  it('are counted without what they lead to if nothing is expanded', async () => {
    const { expand_columns: _, ...plain } = byModel;
    expect(await done('/calls/query_stats', plain)).toMatchObject({ count: 0 });
  });
});

it('totals of traces stand below weave, and queries use them there', async () => {
  const batch = [
    whole('added up', 1, { trace_id: 'totals', summary: usage(10) }),
    whole('below', 2, { trace_id: 'totals', parent_id: 'added up', summary: usage(5) }),
    whole('alone', 3, { trace_id: 'totals-2' }),
  ];
  await done('/v2/acme/meaning/calls/complete', { batch });
  const answer = await ask('/calls/stream_query', {
    include_trace_totals: true,
    columns: [],
    filter: { trace_ids: ['totals', 'totals-2'] },
    query: { $expr: { $gt: [field('summary.weave.trace_totals.input_tokens'), literal(14)] } },
    sort_by: [{ field: 'summary.weave.trace_totals.call_count', direction: 'desc' }],
  });
  expect(JSON.parse(await answer.text())).toMatchObject({
    id: 'added up',
    summary: { weave: { trace_totals: { call_count: 2, input_tokens: 15, output_tokens: 2 } } },
  });
});

it('prices of cached tokens are stored, answered, and charged', async () => {
  const terms = { prompt_token_cost: 1, completion_token_cost: 2 };
  const cached = { cache_read_input_token_cost: 0.1, cache_creation_input_token_cost: 1.25 };
  const dated = { ...terms, effective_date: '2026-01-01T00:00:00Z' };
  const { ids } = await done('/cost/create', {
    costs: {
      'cached-1': { ...dated, ...cached },
      'plain-1': { ...dated, cache_read_input_token_cost: 0, cache_creation_input_token_cost: 0 },
    },
  });
  const fields = ['llm_id', 'cache_read_input_token_cost', 'cache_creation_input_token_cost'];
  const sort_by = [{ field: 'cache_read_input_token_cost', direction: 'desc' }];
  expect(await done('/cost/query', { fields, sort_by })).toEqual({
    results: [
      { llm_id: 'cached-1', ...cached },
      { llm_id: 'plain-1', cache_read_input_token_cost: null, cache_creation_input_token_cost: null },
    ],
  });
  const used = { requests: 1, prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 90 } };
  const call = whole('cached', 8, {
    summary: { usage: { 'cached-1': used, 'plain-1': used } },
  });
  await done('/v2/acme/meaning/calls/complete', { batch: [call] });
  const answer = await ask('/calls/stream_query', { filter: { call_ids: ['cached'] }, include_costs: true });
  expect(JSON.parse(await answer.text())).toMatchObject({
    summary: {
      weave: {
        costs: {
          'cached-1': { prompt_tokens_total_cost: 19 },
          'plain-1': { prompt_tokens_total_cost: 100 },
        },
      },
    },
  });
  const listed = (ids as [string, string][]).map(([, id]) => literal(id));
  await done('/cost/purge', { query: { $expr: { $in: [field('id'), listed] } } });
});

it('prices are purged by a list of ids', async () => {
  const { ids } = await done('/cost/create', {
    costs: { 'm-1': { prompt_token_cost: 1, completion_token_cost: 2 } },
  });
  const listed = (ids as [string, string][]).map(([, id]) => literal(id));
  await done('/cost/purge', { query: { $expr: { $in: [field('id'), listed] } } });
  expect(await done('/cost/query', {})).toEqual({ results: [] });
});
