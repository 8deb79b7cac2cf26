import { beforeAll, describe, expect, it } from 'vitest';
import { agentTraces } from '../../../../../examples/agent-traces.ts';
import { type SharedService, sharedService } from '../../../../support/service/service.ts';
import { makeEnd, makeStart } from '../../../../support/values/calls.ts';

const project_id = 'acme/streams';
const calls = [...agentTraces({ projectId: project_id, conversations: 4 })];

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
  const batch = [
    ...calls.flatMap(({ start, end }) => [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end } },
    ]),
    makeStart({
      project_id,
      id: 'odd',
      trace_id: 'odd',
      op_name: 'a "quoted", name',
      started_at: '2020-01-01T00:00:00Z',
      inputs: { model: 'x,y', lines: 'one\ntwo', list: [1] },
    }),
    makeEnd({
      project_id,
      id: 'odd',
      ended_at: '2020-01-01T00:00:00.250Z',
      output: 'plain',
      exception: 'boom',
    }),
  ];
  expect((await service.post('/call/upsert_batch', { batch })).status).toBe(200);
});

const ask = (body: object, accept = 'application/jsonl') =>
  service.post('/calls/stream_query', { project_id, ...body }, { headers: { accept } });
const parseLines = async (answer: Response) =>
  (await answer.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const rows = async (body: object) => parseLines(await ask(body));

const odd = { filter: { call_ids: ['odd'] } };

describe('an answer to a query', () => {
  it.each(['application/jsonl', 'application/x-ndjson', '*/*'])('is JSON Lines for %s', async (accept) => {
    const answer = await ask({}, accept);
    expect(answer.headers.get('content-type')).toBe(accept === '*/*' ? 'application/jsonl' : accept);
    expect(await parseLines(answer)).toHaveLength(calls.length + 1);
  });

  it('is one list for application/json, even if it is empty', async () => {
    const answer = await ask({}, 'application/json');
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toHaveLength(calls.length + 1);
    expect(await (await ask({ limit: 0 }, 'application/json')).json()).toEqual([]);
  });

  it('is CSV for text/csv: a header, texts as they are, and nested values as JSON', async () => {
    const answer = await ask(
      { ...odd, columns: ['op_name', 'inputs', 'inputs.lines', 'ended_at', 'output', 'thread_id'] },
      'text/csv',
    );
    expect(answer.headers.get('content-type')).toBe('text/csv');
    expect(await answer.text()).toBe(
      [
        'id,project_id,op_name,trace_id,thread_id,started_at,ended_at,inputs,output',
        'odd,acme/streams,"a ""quoted"", name",odd,,2020-01-01T00:00:00.000000Z,2020-01-01T00:00:00.250000Z,"{""model"":""x,y"",""lines"":""one\\ntwo"",""list"":[1]}",plain',
        '',
      ].join('\r\n'),
    );
  });

  it('has previews by name, as an object or in columns of CSV', async () => {
    const preview = { input: 'one two', output: 'boom' };
    expect(await rows({ ...odd, columns: ['preview'] })).toMatchObject([{ preview }]);
    const csv = await ask({ ...odd, columns: ['preview', 'preview.output'] }, 'text/csv');
    expect((await csv.text()).split('\r\n')[0]).toBe('id,project_id,op_name,trace_id,started_at,preview');
    const parts = await ask({ ...odd, columns: ['preview.output'] }, 'text/csv');
    expect(await parts.text()).toMatch(/preview\.output\r\nodd,.*,boom\r\n$/);
  });

  it('has a column of CSV for each path', async () => {
    const answer = await ask(
      { ...odd, columns: ['inputs.lines', 'inputs.list', 'summary.svc.status'] },
      'text/csv',
    );
    expect((await answer.text()).split('\r\n')).toEqual([
      'id,project_id,op_name,trace_id,started_at,inputs.lines,inputs.list,summary.svc.status',
      'odd,acme/streams,"a ""quoted"", name",odd,2020-01-01T00:00:00.000000Z,"one\ntwo",[1],error',
      '',
    ]);
  });

  it('without calls has only the header in CSV, and no line in JSON Lines', async () => {
    expect(await (await ask({ limit: 0, columns: [] }, 'text/csv')).text()).toBe(
      'id,project_id,op_name,trace_id,started_at\r\n',
    );
    expect(await (await ask({ limit: 0 })).text()).toBe('');
  });
});

describe('a query', () => {
  it('logs its plan and costs, but not what was requested', async () => {
    const before = service.logged.length;
    await rows({ query: { $expr: { $eq: [{ $getField: 'inputs.model' }, { $literal: 'top secret' }] } } });
    const log = service.logged.slice(before).join('\n');
    expect(log).toContain('"later":["$eq(inputs.model, ?)"]');
    expect(log).toMatch(/"scanned":\d+,"hydrated":\d+,"rows":0/);
    expect(log).toMatch(/"readUnits":[\d.]+/);
    expect(log).not.toContain('top secret');
  });
});

describe('a query with include_costs', () => {
  it("prices the tokens of each model, by the default table or the project's own price", async () => {
    const costs = {
      'gpt-4o': { prompt_token_cost: 1, completion_token_cost: 2, effective_date: '2020-01-01' },
    };
    const other = 'acme/priced';
    const call = { project_id: other, trace_id: 't', started_at: '2026-10-01T00:00:00Z' };
    const usage = {
      'gpt-4o': { prompt_tokens: 10, completion_tokens: 3 },
      'gpt-4o-mini': { input_tokens: 1e6, output_tokens: 0 },
    };
    const batch = [
      makeStart({ ...call, id: 'priced' }),
      makeEnd({
        project_id: other,
        id: 'priced',
        summary: { usage: { ...usage, unheard: { prompt_tokens: 1 } } },
      }),
      makeStart({ ...call, id: 'free' }),
    ];
    expect((await service.post('/call/upsert_batch', { batch })).status).toBe(200);
    expect((await service.post('/cost/create', { project_id: other, costs })).status).toBe(200);
    const sort_by = [{ field: 'summary.svc.costs.gpt-4o.prompt_tokens_total_cost', direction: 'desc' }];
    const found = await rows({ project_id: other, include_costs: true, columns: [], sort_by });
    expect(found.map(({ id }) => id)).toEqual(['priced', 'free']);
    const [{ summary } = {}] = found as { summary?: { svc: { costs: Record<string, object> } } }[];
    expect(summary?.svc.costs).toEqual({
      'gpt-4o': expect.objectContaining({
        prompt_tokens_total_cost: 10,
        completion_tokens_total_cost: 6,
        total_tokens: 13,
        pricing_level: 'project',
      }),
      'gpt-4o-mini': expect.objectContaining({ prompt_tokens_total_cost: 0.15, pricing_level: 'default' }),
    });
    const read = await service.post('/call/read', { project_id: other, id: 'priced', include_costs: true });
    expect(await read.json()).toMatchObject({ call: { summary: { svc: { costs: summary?.svc.costs } } } });
  });
});

describe('a query with include_trace_totals', () => {
  const other = 'acme/totals';
  const started_at = '2026-10-01T00:00:00Z';
  const since = { $gte: [{ $getField: 'started_at' }, { $literal: '2026-10-01' }] };
  const until = { $lt: [{ $getField: 'started_at' }, { $literal: '2026-10-08' }] };
  const failedBelow = {
    $eq: [{ $getField: 'summary.svc.status' }, { $literal: 'descendant_error' }],
  };
  const asked = {
    project_id: other,
    include_trace_totals: true,
    columns: ['summary.svc.status'],
    query: { $expr: { $and: [since, until, failedBelow] } },
    sort_by: [{ field: 'summary.svc.trace_totals.total_cost', direction: 'desc' }],
  };

  beforeAll(async () => {
    const used = (tokens: number) => ({ usage: { m: { prompt_tokens: tokens, completion_tokens: 1 } } });
    const call = (id: string, trace_id: string, parent_id: string | null, end: object) => [
      makeStart({ project_id: other, id, trace_id, parent_id, started_at }),
      makeEnd({ project_id: other, id, ended_at: started_at, ...end }),
    ];
    const batch = [
      ...call('cheap', 'a', null, {}),
      ...call('broken tool', 'a', 'cheap', { exception: 'boom', summary: used(1) }),
      ...call('dear', 'b', null, { summary: used(10) }),
      ...call('another broken tool', 'b', 'dear', { exception: 'boom' }),
      ...call('dearest', 'c', null, { summary: used(100) }),
    ];
    expect((await service.post('/call/upsert_batch', { batch })).status).toBe(200);
    const costs = { m: { prompt_token_cost: 1, completion_token_cost: 2, effective_date: '2020-01-01' } };
    expect((await service.post('/cost/create', { project_id: other, costs })).status).toBe(200);
  });

  it('gives the roots with an error below, dearest first, of a week, and counts them', async () => {
    const found = await rows(asked);
    expect(found.map(({ id }) => id)).toEqual(['dear', 'cheap']);
    const totals = {
      call_count: 2,
      error_count: 1,
      input_tokens: 10,
      output_tokens: 1,
      total_cost: 12,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
      waited_ms: 0,
    };
    expect(found[0]?.summary).toEqual({ svc: { status: 'descendant_error', trace_totals: totals } });
    const { columns: _, sort_by: _order, ...counted } = asked;
    const answer = await service.post('/calls/query_stats', counted);
    expect(await answer.json()).toMatchObject({ count: 2 });
  });

  it('has the totals in columns of CSV', async () => {
    const columns = ['summary.svc.trace_totals.total_cost'];
    const answer = await ask({ ...asked, columns, limit: 1 }, 'text/csv');
    expect(await answer.text()).toMatch(
      /summary\.svc\.trace_totals\.total_cost,summary\.svc\.trace_totals\r\ndear,.*,12,"\{""call_count"":2,/,
    );
  });

  it('says what range it needs', async () => {
    for (const path of ['/calls/stream_query', '/calls/query_stats']) {
      const answer = await service.post(path, { project_id: other, include_trace_totals: true });
      expect([path, answer.status]).toEqual([path, 422]);
      expect(await answer.json()).toMatchObject({
        detail: [
          {
            loc: ['body', 'include_trace_totals'],
            msg: expect.stringMatching(/range of started_at of at most 31 days/),
          },
        ],
      });
    }
  });
});

describe('a query with expand_columns', () => {
  const project = 'acme/refs';
  const create = async (project_id: string, object_id: string, val: unknown): Promise<string> => {
    const answer = await service.post('/obj/create', { obj: { project_id, object_id, val } });
    const { digest } = (await answer.json()) as { digest: string };
    return `svc:///${project_id}/object/${object_id}:${digest}`;
  };
  const paths = ['inputs.prompt', 'inputs.prompt.model'];

  it('replaces refs by what they refer to, also nested ones, and leaves dangling refs', async () => {
    const model = await create(project, 'model', { name: 'large', temperature: 0.5 });
    const prompt = await create(project, 'prompt', { text: 'Be kind.', model, other: model });
    const nothing = 'svc:///acme/refs/object/none:0';
    const batch = [
      makeStart({ project_id: project, id: 'a', trace_id: 't', inputs: { prompt, model } }),
      makeStart({ project_id: project, id: 'b', trace_id: 't', inputs: { prompt: nothing } }),
    ];
    expect((await service.post('/call/upsert_batch', { batch })).status).toBe(200);
    const ask = (body: object) => rows({ project_id: project, columns: ['inputs'], ...body });
    const expanded = {
      prompt: { text: 'Be kind.', model: { name: 'large', temperature: 0.5 }, other: model },
      model,
    };
    expect((await ask({ expand_columns: paths })).map(({ inputs }) => inputs)).toEqual([
      expanded,
      { prompt: nothing },
    ]);

    const query = { $expr: { $eq: [{ $getField: 'inputs.prompt.model.name' }, { $literal: 'large' }] } };
    expect(await ask({ query })).toEqual([]);
    expect(await ask({ query, expand_columns: paths })).toMatchObject([{ id: 'a', inputs: expanded }]);
    const unexpanded = { query, expand_columns: paths, return_expanded_column_values: false };
    expect(await ask(unexpanded)).toMatchObject([{ id: 'a', inputs: { prompt, model } }]);
  });
});

describe('a hostile query', () => {
  const many = (length: number, item: object) => Array.from({ length }, () => item);
  const deep = (levels: number): object => {
    let expression: object = { $literal: true };
    for (let i = 0; i < levels; i++) expression = { $not: [expression] };
    return expression;
  };
  const field = (path: string) => ({ $getField: path });

  it.each<[string, object, number]>([
    ['1,000 nested operators', { query: { $expr: deep(999) } }, 200],
    [
      'a megabyte of options',
      { query: { $expr: { $in: [field('id'), many(30_000, { $literal: 'x'.repeat(10) })] } } },
      200,
    ],
    [
      'a megabyte of operators',
      { query: { $expr: { $or: many(20_000, { $eq: [field('id'), { $literal: 'x' }] }) } } },
      422,
    ],
    [
      'a text like a regular expression',
      { query: { $expr: { $contains: { input: field('op_name'), substr: { $literal: '(a+)+$' } } } } },
      200,
    ],
    [
      'paths of prototypes',
      { sort_by: [{ field: 'inputs.__proto__', direction: 'asc' }], columns: ['inputs.constructor.name'] },
      200,
    ],
    ['a prototype for a column', { columns: ['__proto__'] }, 422],
    ['lone surrogates', { query: { $expr: { $eq: [field('inputs.\ud800'), { $literal: '\udfff' }] } } }, 200],
    ['an offset past the end', { offset: 2 ** 50 }, 200],
    ['a sort by objects', { sort_by: [{ field: 'inputs', direction: 'desc' }], limit: 3 }, 200],
  ])('with %s is answered', async (_, body, status) => {
    const answer = await ask(body);
    expect(answer.status).toBe(status);
    const text = await answer.text();
    if (status === 422) expect(JSON.parse(text)).toHaveProperty('detail');
  });
});

describe('/calls/query_stats', () => {
  const stats = async (body: object) =>
    (await service.post('/calls/query_stats', { project_id, ...body })).json();

  it('counts the calls that a query would answer', async () => {
    expect(await stats({})).toEqual({ count: calls.length + 1, total_storage_size_bytes: null });
    expect(await stats({ limit: 3 })).toMatchObject({ count: 3 });
    expect(await stats({ filter: { trace_roots_only: true } })).toMatchObject({
      count: calls.filter(({ start }) => start.parent_id === null).length + 1,
    });
    expect(
      await stats({ query: { $expr: { $eq: [{ $getField: 'inputs.model' }, { $literal: 'x,y' }] } } }),
    ).toMatchObject({ count: 1 });
  });
});

describe('/call/read', () => {
  it('adds the requested extras', async () => {
    const read = async (body: object) =>
      (await service.post('/call/read', { project_id, id: 'odd', ...body })).json();
    const { call } = (await read({ include_storage_size: true, include_total_storage_size: true })) as {
      call: Record<string, unknown>;
    };
    expect(call.storage_size_bytes).toBe(call.total_storage_size_bytes);
    expect((await read({})) as object).not.toHaveProperty('call.storage_size_bytes');
  });
});
