import { getEncoding } from 'js-tiktoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoCall, toReports } from '../../../../examples/shop/conversations.ts';
import { mcpHeaders, toolCall } from '../../../support/endpoints/agents.ts';
import { planted, travel, travelCalls, travelFeedback } from '../../../support/projects/travel.ts';
import { type SharedService, sharedService } from '../../../support/service/service.ts';

/*
 * Questions that people ask a coding agent of their agents, each as the calls of tools that answer it.
 * What is right is counted in the raw calls.
 */

type Row = Readonly<Record<string, unknown>>;
type Data = Readonly<Record<string, unknown>>;

/** What a model reads of all replies at most, in tokens. */
const maxTokens = 35_000;

const encoding = getEncoding('o200k_base');
let tokens = 0;
let service: SharedService;
let calls: readonly DemoCall[];
beforeAll(async () => {
  service = await sharedService();
  calls = travelCalls(Date.now());
  const batch = calls.flatMap((call, at) => toReports(travel, call, at));
  for (let at = 0; at < batch.length; at += 300)
    expect((await service.post('/call/upsert_batch', { batch: batch.slice(at, at + 300) })).status).toBe(200);
  const feedback = { batch: travelFeedback(calls) };
  expect((await service.post('/feedback/batch/create', feedback)).status).toBe(200);
});

const send = async (name: string, args: object) => {
  const answer = await service.post('/mcp', toolCall(name, { project_id: travel, ...args }), {
    headers: { authorization: `Bearer ${service.key}`, ...mcpHeaders },
  });
  const { result } = (await answer.json()) as {
    result: { structuredContent?: Data; isError?: boolean; content: { text: string }[] };
  };
  tokens += encoding.encode(JSON.stringify(result.structuredContent ?? result.content)).length;
  return result;
};

/** Asks a tool about the last three days. */
const ask = async (name: string, args: object): Promise<Data> => {
  const { structuredContent, isError, content } = await send(name, args);
  expect([name, isError ? content : false]).toEqual([name, false]);
  return structuredContent ?? {};
};
const days = { start: '-3d' };

const toRows = (data: Data, name = 'calls'): readonly Row[] => {
  const { columns, rows } = data[name] as { columns: string[]; rows: unknown[][] };
  return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
};
const equals = (field: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});

/** The attributes of a raw call. */
const attributesOf = ({ attributes }: DemoCall) =>
  attributes as {
    readonly tool?: { readonly name: string };
    readonly user: { readonly id: string };
    readonly release: string;
  };
const failed = (tool: string): readonly DemoCall[] =>
  calls.filter((call) => attributesOf(call).tool?.name === tool && call.exception !== undefined);
/** The commonest of values. */
const commonest = (values: readonly string[]): string =>
  [...Map.groupBy(values, (value) => value)].sort(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? '';

const questions: readonly (readonly [question: string, answer: () => Promise<void>])[] = [
  [
    'Which tool fails most, and why?',
    async () => {
      const tools = toRows(await ask('get_agents', days), 'tools');
      expect(tools[0]).toMatchObject({ tool: planted.tool, errors: failed(planted.tool).length });
      const query = equals('attributes.tool.name', tools[0]?.tool);
      const why = await ask('query_calls', {
        ...days,
        query: { $expr: { $and: [query.$expr, equals('summary.svc.status', 'error').$expr] } },
        columns: ['id', 'exception'],
      });
      expect(toRows(why).map(({ exception }) => exception)).toEqual(
        failed(planted.tool)
          .map(({ exception }) => exception)
          .toReversed(),
      );
    },
  ],
  [
    'Which conversation is the dearest, and what drove it?',
    async () => {
      const stats = await ask('get_stats', {
        ...days,
        group_by: ['thread_id'],
        usage_metrics: [{ metric: 'total_cost' }],
        limit: 3,
      });
      const thread = toRows(stats, 'usage')[0]?.thread_id;
      expect(thread).toBe(planted.dearest);
      const { turns } = await ask('get_thread', { thread_id: thread });
      const rows = turns as { call_id: string; trace_id: string; trace: { tokens_in: number } }[];
      expect(rows.map(({ trace }) => trace.tokens_in)).toEqual(
        rows.map(({ trace }) => trace.tokens_in).toSorted((a, b) => a - b),
      );
      const { outline } = await ask('get_trace', { trace_id: rows.at(-1)?.trace_id, outline: true });
      const [, largest = ''] = /^\d+ (\S+) openai\.chat model \S+ \d{5}>/m.exec(String(outline)) ?? [];
      const path = { call_id: largest, path: 'inputs.messages', max_characters: 3000 };
      const { next_offset: offset } = await ask('get_call', path);
      const { value } = await ask('get_call', { ...path, offset });
      // What a tool answered is in every later request.
      expect(JSON.stringify(value)).toContain('LIS-OSL 129 EUR');
    },
  ],
  [
    'Which user is affected most by lost seats?',
    async () => {
      const stats = await ask('get_stats', {
        ...days,
        query: equals('attributes.tool.name', planted.tool),
        group_by: ['attributes.user.id'],
        call_metrics: [{ metric: 'error_count' }],
      });
      const affected = commonest(failed(planted.tool).map((call) => attributesOf(call).user.id));
      expect(toRows(stats)[0]?.end_user).toBe(affected);
      expect(affected).toBe(planted.affected);
    },
  ],
  [
    'Which errors are there, by cause?',
    async () => {
      const query = equals('attributes.kind', 'tool');
      const stats = await ask('get_stats', {
        ...days,
        query,
        group_by: ['exception'],
        call_metrics: [{ metric: 'error_count' }],
      });
      const causes = toRows(stats).filter(({ exception }) => exception !== null);
      const counted = causes.map(({ exception }) => String(exception).split(':', 1)[0]);
      expect(counted.toSorted()).toEqual(
        [...failed('flights.book'), ...failed('crm.lookup')]
          .map(({ exception = '' }) => exception.split(':', 1)[0])
          .toSorted(),
      );
    },
  ],
  [
    'Which errors are the commonest, and what causes them?',
    async () => {
      const found = await ask('find_issues', { ...days, filter: { kinds: ['error'] }, limit: 2 });
      const [first, second] = toRows(found, 'issues');
      const seats = failed(planted.tool);
      expect(first).toMatchObject({
        title: expect.stringContaining(`${planted.cause}: seat lock <n> expired`),
        kind: 'error',
        tool_name: planted.tool,
        count: seats.length,
        trace_count: seats.length,
        user_count: new Set(seats.map((call) => attributesOf(call).user.id)).size,
        releases: '1.5.0',
        state: 'open',
      });
      expect(second).toMatchObject({ tool_name: 'crm.lookup', count: failed('crm.lookup').length });
      const [, example = ''] = /get_call with call_id (\S+)/.exec(String(found.advice)) ?? [];
      expect(first?.examples).toContain(example);
      const { call } = await ask('get_call', { call_id: example, columns: ['exception'] });
      expect(JSON.stringify(call)).toContain(planted.cause);
      const [, next = ''] = /query_calls with (\{.*\}) lists/.exec(String(found.advice)) ?? [];
      const all = toRows(await ask('query_calls', { ...days, ...JSON.parse(next), columns: ['id'] }));
      expect(all.map(({ id }) => id)).toEqual(seats.map(({ id }) => id).toReversed());
    },
  ],
  [
    'Where did it invent something?',
    async () => {
      const query = equals('feedback.[evaluation.grounded].payload.value', false);
      const found = toRows(
        await ask('query_calls', { ...days, query, columns: ['id', 'trace_id', 'output_preview'] }),
      );
      expect(found).toMatchObject([{ output_preview: planted.invented }]);
      const read = JSON.stringify(await ask('get_call', { call_id: found[0]?.id }));
      expect(read).toContain(`The gate that crm.lookup gave is ${planted.gate}.`);
    },
  ],
  [
    'Why did two travelers get different answers on the same refund?',
    async () => {
      const hits = toRows(
        await ask('search_text', { ...days, text: 'TX-881', filter: { trace_roots_only: true } }),
        'hits',
      );
      expect(hits).toMatchObject([
        { text: 'Can I get a refund for TX-881?', thread_id: 'refund-new' },
        { text: 'Can I get a refund for TX-881?', thread_id: 'refund-old' },
      ]);
      const roots = toRows(
        await ask('query_calls', {
          ...days,
          filter: { op_names: ['handle_request'], thread_ids: ['refund-old', 'refund-new'] },
          columns: ['id', 'output'],
        }),
      );
      const { differences, missing } = await ask('compare_calls', { a: roots[1]?.id, b: roots[0]?.id });
      expect(differences).toContainEqual({ path: 'attributes.release', a: '1.4.0', b: '1.5.0' });
      const [, a = '', b = ''] = /compare_calls with a (\S+) and b (\S+)/.exec(String(missing)) ?? [];
      const asked = await ask('compare_calls', { a, b });
      expect(JSON.stringify(asked.differences)).toContain(planted.rule);
    },
  ],
  [
    'What should the prompt say that it does not?',
    async () => {
      const query = equals('feedback.[thumbs].payload.up', false);
      const bad = toRows(await ask('query_calls', { ...days, query }));
      expect(bad).toMatchObject([{ input_preview: 'Wann fliege ich?', output_preview: 'You fly at 9.' }]);
      const read = JSON.stringify(await ask('get_call', { call_id: bad[0]?.id }));
      expect(read).toContain(planted.disliked);
    },
  ],
  [
    'Did the new release make it worse?',
    async () => {
      const stats = await ask('get_stats', {
        ...days,
        filter: { trace_roots_only: true },
        group_by: ['attributes.release'],
      });
      const roots = calls.filter(({ parent }) => parent === null);
      for (const row of toRows(stats)) {
        const own = roots.filter((call) => attributesOf(call).release === row['attributes.release']);
        expect(row).toMatchObject({
          sum_call_count: own.length,
          sum_error_count: own.filter(({ exception }) => exception !== undefined).length,
        });
      }
      expect(toRows(stats)).toHaveLength(2);
    },
  ],
  [
    'Which agent costs most, and how long did it wait for people?',
    async () => {
      const { agents } = await ask('get_agents', days);
      const [first] = toRows({ agents }, 'agents');
      expect(first).toMatchObject({ agent: 'booking', waited_ms: planted.waited });
      const inTrace = toRows(await ask('get_agents', { trace_ids: ['t-refund-new-0'] }), 'agents');
      expect(inTrace.find(({ agent }) => agent === 'booking')).toMatchObject({
        waited_ms: planted.waited,
        tool_calls: 3,
      });
    },
  ],
  [
    'To whom was the voucher promised?',
    async () => {
      const hits = toRows(await ask('search_text', { ...days, text: 'sun-44', in: ['output'] }), 'hits');
      expect(hits.map(({ text }) => text)).toEqual([planted.coupon]);
      const { turns } = await ask('get_thread', { thread_id: hits[0]?.thread_id });
      expect(turns).toMatchObject([{ end_user: 'zoe' }]);
    },
  ],
  [
    'How often was handle_request called, whatever its version?',
    async () => {
      const stats = await ask('get_stats', { ...days, filter: { op_names: ['handle_request'] } });
      const roots = calls.filter(({ parent }) => parent === null).length;
      expect(toRows(stats)).toMatchObject([{ sum_call_count: roots }]);
    },
  ],
  [
    'What is there to ask about at all?',
    async () => {
      const described = await ask('describe_project', days);
      expect(described).toMatchObject({
        of_newest_calls: { tools: { 'flights.book': 50, approve_refund: 1 } },
      });
      expect(toRows(described, 'fields')).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ path: 'attributes.seat', types: 'number' }),
          expect.objectContaining({ path: 'feedback.[evaluation.grounded].payload.value', types: 'boolean' }),
        ]),
      );
    },
  ],
];

describe('what people ask of their agents', () => {
  it.each(questions)('%s', async (_, answer) => {
    await answer();
  });

  afterAll(() => {
    // Tests that run by themselves read less.
    expect(tokens).toBeLessThan(maxTokens);
  });
});

describe('nothing is found only where there is nothing:', () => {
  const refused = async (name: string, args: object): Promise<string> => {
    const { isError, content } = await send(name, args);
    expect([name, args, isError]).toEqual([name, args, true]);
    return content.map(({ text }) => text).join('\n');
  };

  it.each([
    ['attributes.agent.name', 'bookng', 'did you mean `booking`?'],
    ['attributes.tool.name', 'crm_lookup', 'did you mean `crm.lookup`?'],
    ['attributes.tool.name', 'approve_refund', 'filter {"op_names": ["approve_refund"]}'],
    ['attributes.user.id', 'martha', 'did you mean `marta`?'],
    ['inputs.model', 'gpt-5', 'did you mean `gpt-4o`?'],
    ['op_name', 'handle_request', 'filter {"op_names": ["handle_request"]}'],
    ['summary.svc.status', 'failed', 'is never `failed`; there are `running`'],
    ['attributes.seat', '24', 'attributes.seat is number in these calls'],
    ['feedback.[thumb].payload.up', true, 'did you mean `thumbs`?'],
    ['feedback.[thumbs].payload.ups', true, 'did you mean `payload.up`?'],
  ])('%s is %j', async (field, value, mend) => {
    const args = { ...days, query: equals(field, value) };
    expect(await refused('query_calls', args)).toContain(mend);
    expect(await refused('get_stats', args)).toContain(mend);
  });

  it('an operation that is not there, a user and a project', async () => {
    const ops = { ...days, filter: { op_names: ['handle_requests'] } };
    for (const name of ['query_calls', 'get_stats', 'search_text', 'get_agents', 'find_issues'])
      expect(await refused(name, name === 'search_text' ? { ...ops, text: 'Oslo' } : ops)).toContain(
        'did you mean `handle_request`?',
      );
    const users = { ...days, filter: { svc_user_ids: ['lokal'] } };
    expect(await refused('query_calls', users)).toContain('did you mean `local`?');
    for (const [name, args] of [
      ['query_calls', {}],
      ['get_stats', {}],
      ['describe_project', {}],
      ['get_agents', {}],
      ['find_issues', {}],
      ['list_prompts', {}],
      ['search_text', { text: 'Oslo' }],
    ] as const)
      expect(await refused(name, { ...args, project_id: 'acme/travle' })).toContain(
        'there is no project acme/travle; did you mean `acme/travel`?',
      );
  });

  it('a tool or a release of an issue', async () => {
    for (const [list, name, mend] of [
      ['tool_names', 'flights.boook', 'did you mean `flights.book`?'],
      ['releases', '9', 'there are `1.5.0`'],
    ] as const) {
      const args = { ...days, filter: { [list]: [name] } };
      expect(await refused('find_issues', args)).toContain(mend);
    }
    const fine = await ask('find_issues', { ...days, filter: { tool_names: ['flights.search'] } });
    const others = ['in another state or not of the filter', 'traces of'].map((words) =>
      expect.stringContaining(words),
    );
    expect([fine.notes, toRows(fine, 'issues')]).toEqual([others, []]);
    expect(await refused('find_issues', { start: '2020-01-01' })).toContain('within 366 days of end');
  });

  it('one name of several is noted, and a range without calls', async () => {
    const names = ['booking', 'triag'].map(($literal) => ({ $literal }));
    const query = { $expr: { $in: [{ $getField: 'attributes.agent.name' }, names] } };
    const { notes } = await ask('query_calls', { ...days, query, limit: 1 });
    expect(notes).toEqual([expect.stringContaining('did you mean `triage`?')]);
    const empty = await ask('get_stats', { start: '2020-01-01', end: '2020-02-01' });
    expect(empty.notes).toEqual([expect.stringContaining('the newest call of the project started at')]);
    const grouped = await ask('get_stats', { ...days, group_by: ['attributes.usr.id'] });
    expect(grouped.notes).toContainEqual(expect.stringContaining('did you mean `attributes.user.id`?'));
  });

  it('a text inside of objects is found by $contains, too', async () => {
    const contains = { input: { $getField: 'inputs' }, substr: { $literal: 'TX-881' } };
    const found = await ask('query_calls', {
      ...days,
      query: { $expr: { $contains: contains } },
      columns: ['id'],
    });
    const raw = calls.filter(({ inputs }) => JSON.stringify(inputs).includes('TX-881'));
    expect(toRows(found)).toHaveLength(raw.length);
  });
});

describe('issues', () => {
  it('go on with a cursor, each once, and tell verdicts and feedback from errors', async () => {
    const rows = async (args: object) => {
      const data = await ask('find_issues', { ...days, ...args });
      return [toRows(data, 'issues'), data.next_cursor] as const;
    };
    const [all, end] = await rows({});
    expect(end).toBeUndefined();
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['error', 'verdict', 'feedback']));
    const counts = all.map(({ count }) => Number(count));
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
    const [first, cursor] = await rows({ limit: 2 });
    const [others, after] = await rows({ limit: 200, cursor });
    expect([...first, ...others].map(({ issue_id }) => issue_id)).toEqual(
      all.map(({ issue_id }) => issue_id),
    );
    expect(after).toBeUndefined();
  });
});

describe('a trace', () => {
  it('in an outline takes a third of the tokens, and has all of its calls', async () => {
    const trace_id = 't-trip-dear-4';
    const table = encoding.encode(JSON.stringify((await ask('get_trace', { trace_id })).calls)).length;
    const { outline } = await ask('get_trace', { trace_id, outline: true });
    const own = calls.filter(({ trace }) => trace === trace_id);
    for (const { id } of own) expect(outline).toContain(` ${id} `);
    expect(encoding.encode(JSON.stringify(outline)).length).toBeLessThan(table / 3);
  });

  it.each([{}, { outline: true }, { columns: ['inputs'] }])('%j leads to each call once', async (form) => {
    const trace_id = 't-refund-new-0';
    const seen: string[] = [];
    let cursor: unknown;
    do {
      const page = await ask('get_trace', {
        trace_id,
        max_characters: 2500,
        ...form,
        ...(cursor ? { cursor } : {}),
      });
      const ids =
        typeof page.outline === 'string'
          ? page.outline
              .split('\n')
              .slice(1)
              .map((line) => line.split(' ')[1] ?? '')
          : (Array.isArray(page.calls) ? (page.calls as Row[]) : toRows(page)).map(({ id }) => String(id));
      expect(ids.length).toBeGreaterThan(0);
      seen.push(...ids);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    const own = calls.filter(({ trace }) => trace === trace_id).map(({ id }) => id);
    expect(seen.toSorted()).toEqual(own.toSorted());
  });
});
