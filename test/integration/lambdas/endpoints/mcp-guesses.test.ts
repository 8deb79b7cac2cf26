import { beforeAll, describe, expect, it } from 'vitest';
import { type DemoCall, toReports } from '../../../../examples/shop/conversations.ts';
import { mcpHeaders, toolCall } from '../../../support/endpoints/agents.ts';
import { readAgentCapture } from '../../../support/otel/agent-captures.ts';
import { planted, travel, travelCalls, travelFeedback } from '../../../support/projects/travel.ts';
import { type SharedService, sharedService } from '../../../support/service/service.ts';

/*
 * Questions as a model asks them that guesses what names are called. Each has the answer that the raw calls
 * have, or words that name what was probably meant.
 */

type Data = Readonly<Record<string, unknown>>;

/** A call as the API answers it. */
interface RawCall {
  readonly id: string;
  readonly trace_id: string;
  readonly op_name: string;
  readonly exception: string | null;
  readonly attributes: {
    readonly kind?: string;
    readonly tool?: { readonly name: string };
    readonly agent?: { readonly name: string };
    readonly user?: { readonly id: string };
    readonly release?: string;
  };
  readonly summary: {
    readonly usage?: Readonly<Record<string, { readonly total_tokens: number }>>;
    readonly svc: {
      readonly status: string;
      readonly latency_ms: number;
      readonly waited_ms?: number;
      readonly feedback: readonly { readonly feedback_type: string; readonly payload: Data }[];
    };
  };
}

const trips = 'acme/guesses';
const captured = (name: string) => `acme/guesses-${name}`;
const captures = [
  'claude-code-spans-and-logs',
  'codex-spans-and-logs',
  'langgraph-interrupt-resume',
  'google-adk-multi-agent',
] as const;
const [claude = '', codex = '', graph = '', adk = ''] = captures.map(captured);

let service: SharedService;
const raw = new Map<string, readonly RawCall[]>();
beforeAll(async () => {
  service = await sharedService();
  // The same days as elsewhere, in a project of this file.
  const move = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(travel, trips));
  const calls: readonly DemoCall[] = move(travelCalls(Date.now()));
  const batch = calls.flatMap((call, at) => toReports(trips, call, at));
  for (let at = 0; at < batch.length; at += 300)
    expect((await service.post('/call/upsert_batch', { batch: batch.slice(at, at + 300) })).status).toBe(200);
  const feedback = { batch: move(travelFeedback(calls)) };
  expect((await service.post('/feedback/batch/create', feedback)).status).toBe(200);
  for (const name of captures)
    for (const { path, body, headers } of readAgentCapture(name).requests) {
      const sent = await fetch(`${service.url}/otel${path}`, {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${service.key}`, project_id: captured(name) },
        body: new Uint8Array(body),
      });
      expect([name, sent.status]).toEqual([name, 200]);
    }
  for (const project_id of [trips, ...captures.map(captured)]) {
    const answer = await service.post('/calls/stream_query', { project_id, include_feedback: true });
    const lines = (await answer.text()).split('\n').filter(Boolean);
    raw.set(
      project_id,
      lines.map((line) => JSON.parse(line)),
    );
    expect(raw.get(project_id)?.length).toBeGreaterThan(5);
  }
});

const callsOf = (project = trips): readonly RawCall[] => raw.get(project) ?? [];

const send = async (name: string, args: object) => {
  const answer = await service.post('/mcp', toolCall(name, { project_id: trips, ...args }), {
    headers: { authorization: `Bearer ${service.key}`, ...mcpHeaders },
  });
  const { result } = (await answer.json()) as {
    result: { structuredContent?: Data; isError?: boolean; content: { text: string }[] };
  };
  return { data: result.structuredContent ?? {}, isError: result.isError === true, content: result.content };
};
const ask = async (name: string, args: object): Promise<Data> => {
  const { data, isError, content } = await send(name, args);
  expect([name, args, isError ? content : false]).toEqual([name, args, false]);
  return data;
};
/** What an error, or the notes of an answer, say. */
const said = async (name: string, args: object): Promise<string> => {
  const { data, isError, content } = await send(name, args);
  return isError ? content.map(({ text }) => text).join('\n') : String(data.notes ?? '');
};
const toRows = (data: Data, name = 'calls'): readonly Data[] => {
  const { columns, rows } = data[name] as { columns: string[]; rows: unknown[][] };
  return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
};

const compare = (operator: string, field: string, value: unknown) => ({
  $expr: { [operator]: [{ $getField: field }, { $literal: value }] },
});
const equals = (field: string, value: unknown) => compare('$eq', field, value);
const days = { start: '-3d' };
/** When the captures were recorded. */
const november = { start: '2026-11-01', end: '2026-12-01' };

/** The ids that a query finds, and those of the raw calls that it should find. */
const finds = async (args: object, isMeant: (call: RawCall) => boolean, project = trips): Promise<void> => {
  const found = await ask('query_calls', {
    project_id: project,
    ...(project === trips ? days : november),
    columns: ['id'],
    limit: 1000,
    max_characters: 100_000,
    ...args,
  });
  const ids = callsOf(project)
    .filter(isMeant)
    .map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(0);
  expect(
    toRows(found)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(ids.toSorted());
};

/** How many calls there are by a name. */
const countBy = (calls: readonly RawCall[], name: (call: RawCall) => string | undefined): Data =>
  Object.fromEntries(
    [...Map.groupBy(calls, name)].flatMap(([key, all]) => (key === undefined ? [] : [[key, all.length]])),
  );
const failed = ({ exception }: RawCall): boolean => exception !== null;
const feedbackOf = ({ summary }: RawCall, type: string): Data | undefined =>
  summary.svc.feedback.findLast(({ feedback_type }) => feedback_type === type)?.payload;

describe('a guess finds what the raw calls have:', () => {
  const found: readonly (readonly [string, object, (call: RawCall) => boolean, string?])[] = [
    ['what failed', { query: equals('status', 'error') }, failed],
    [
      'calls of a tool',
      { query: equals('tool', planted.tool) },
      (call) => call.attributes.tool?.name === planted.tool,
    ],
    ['slow calls', { query: compare('$gt', 'ms', 9000) }, (call) => call.summary.svc.latency_ms > 9000],
    ['a user', { query: equals('end_user', 'marta') }, (call) => call.attributes.user?.id === 'marta'],
    ['a kind', { query: equals('kind', 'model') }, (call) => call.attributes.kind === 'model'],
    [
      'values as texts',
      { query: JSON.stringify(equals('release', '1.4.0')), limit: '1000', columns: 'id' },
      (call) => call.attributes.release === '1.4.0',
    ],
    [
      'an operation in other letters',
      { filter: { op_names: 'Handle_Request' } },
      (call) => call.op_name.includes('handle_request'),
    ],
    [
      'dislikes',
      { query: equals('feedback.thumbs.up', false) },
      (call) => feedbackOf(call, 'thumbs')?.up === false,
    ],
    [
      'a verdict',
      { query: equals('feedback.[evaluation.grounded].value', false) },
      (call) => feedbackOf(call, 'evaluation.grounded')?.value === false,
    ],
    ['a range up to now', { start: 'now-3d', end: 'now', query: equals('status', 'error') }, failed],
    [
      'a command that failed',
      { query: { $expr: { $and: [equals('tool', 'exec_command').$expr, equals('status', 'error').$expr] } } },
      failed,
      codex,
    ],
    [
      'who waited for a person',
      { query: compare('$gt', 'waited_ms', 0) },
      (call) => (call.summary.svc.waited_ms ?? 0) > 0,
      graph,
    ],
    [
      'a sub-agent',
      { query: equals('agent', 'policy-reader') },
      (call) => call.attributes.agent?.name === 'policy-reader',
      claude,
    ],
  ];
  it.each(found.map(([name, ...rest]) => [name, rest] as const))('%s', async (_, rest) => {
    await finds(...rest);
  });

  it('how often each tool failed, and each user and release', async () => {
    for (const [group, column, name] of [
      ['tool_name', 'tool', (call: RawCall) => call.attributes.tool?.name],
      ['end_user', 'end_user', (call: RawCall) => call.attributes.user?.id],
      ['release', 'attributes.release', (call: RawCall) => call.attributes.release],
    ] as const) {
      const rows = toRows(await ask('get_stats', { group_by: group, call_metrics: ['error_count'] }));
      const counts = rows.map((row) => [row[column], row.sum_error_count]).filter(([, count]) => count !== 0);
      expect(Object.fromEntries(counts)).toEqual(countBy(callsOf().filter(failed), name));
    }
  });

  it('statistics and agents of seven days, as lists have them', async () => {
    expect(toRows(await ask('get_stats', {}))).toMatchObject([{ sum_call_count: callsOf().length }]);
    const tools = toRows(await ask('get_agents', {}), 'tools');
    expect(Object.fromEntries(tools.flatMap(({ tool, errors }) => (errors ? [[tool, errors]] : [])))).toEqual(
      countBy(
        callsOf().filter((call) => failed(call) && call.attributes.kind === 'tool'),
        (call) => call.attributes.tool?.name,
      ),
    );
  });

  it('the dearest trace, verdicts beside answers, and a call by its ref', async () => {
    const roots = { ...days, filter: { trace_roots_only: true } };
    const [dearest] = toRows(await ask('query_calls', { ...roots, sort_by: 'trace_cost_usd', limit: 1 }));
    expect(dearest?.thread_id).toBe(planted.dearest);
    const path = 'feedback.[evaluation.grounded].payload.value';
    const rows = toRows(
      await ask('query_calls', { filter: { thread_ids: ['gate'] }, columns: ['id', path] }),
    );
    expect(rows.filter((row) => row[path] !== null).map(({ id }) => id)).toEqual(
      callsOf().flatMap((call) =>
        feedbackOf(call, 'evaluation.grounded')?.value === false ? [call.id] : [],
      ),
    );
    const judged = rows.find((row) => row[path] === false)?.id;
    const call_id = `svc:///${trips}/call/${judged}`;
    expect(JSON.stringify(await ask('get_call', { call_id, columns: ['feedback'] }))).toContain(planted.gate);
    expect(await ask('get_call', { call_id, path: 'feedback.[evaluation.grounded].payload' })).toMatchObject({
      value: { value: false },
    });
  });

  it('tokens by agent of a workflow with parallel agents', async () => {
    const stats = await ask('get_stats', {
      ...november,
      project_id: adk,
      group_by: ['agent'],
      usage_metrics: ['total_tokens'],
    });
    const used = new Map<unknown, number>();
    for (const { attributes, summary } of callsOf(adk))
      for (const { total_tokens } of Object.values(summary.usage ?? {}))
        used.set(attributes.agent?.name, (used.get(attributes.agent?.name) ?? 0) + total_tokens);
    const told = toRows(stats, 'usage');
    for (const [agent, tokens] of used)
      expect([
        agent,
        told.filter((row) => row.agent === agent).map(({ sum_total_tokens }) => sum_total_tokens),
      ]).toEqual([agent, [tokens]]);
  });
});

describe('a guess that finds nothing names what was meant:', () => {
  const contains = (substr: string) => ({
    $expr: { $contains: { input: { $getField: 'exception' }, substr: { $literal: substr } } },
  });
  const misses: readonly (readonly [tool: string, args: object, ...words: string[]])[] = [
    ['query_calls', { filter: { op_names: ['flights.book'] } }, 'it is an attributes.tool.name'],
    [
      'query_calls',
      { filter: { tool_names: ['flights.book'] } },
      'ask for it by query',
      'attributes.tool.name',
    ],
    ['query_calls', { query: equals('exception', planted.cause) }, '$contains', 'such as c'],
    ['query_calls', { query: contains('seatlockexpired') }, '"case_insensitive": true'],
    ['query_calls', { query: compare('$gt', 'ms', '9000') }, 'is compared with the number 9000'],
    ['get_stats', { query: compare('$gt', 'ms', '9000') }, 'is compared with the number 9000'],
    ['query_calls', { query: equals('inputs.traveler', 'Marta') }, '$contains'],
    ['query_calls', { query: equals('model', 'gpt') }, 'did you mean `gpt-4o`?'],
    ['query_calls', { query: equals('feedback.[thumbs].payload.up', 'false') }, 'is boolean, and not string'],
    ['query_calls', { query: equals('duration', 3) }, 'summary.svc.latency_ms has milliseconds'],
    ['query_calls', { query: { 'attributes.kind': 'tool' } }, 'should be like {"$expr"'],
    ['query_calls', { query: equals('status', 'descendant_error') }, '{"trace_roots_only": true}'],
    ['get_stats', { query: equals('status', 'descendant_error') }, 'query_calls knows it'],
    [
      'query_calls',
      { start: '-90d', filter: { trace_roots_only: true }, query: equals('status', 'descendant_error') },
      'of at most 31 days',
    ],
    [
      'query_calls',
      { start: undefined, filter: { thread_ids: ['trip_dear'] } },
      'there is no thread `trip_dear`',
    ],
    ['get_stats', { filter: { trace_ids: ['trip-dear'] } }, 'it is a thread: get_thread'],
    ['query_calls', { query: equals('thread_id', 'trip-Dear') }, 'did you mean `trip-dear`?'],
    ['query_calls', { query: equals('trace_id', 'trip-dear') }, 'it is a thread'],
    ['get_trace', { start: undefined, trace_id: 'c0394' }, 'it is a call, of the trace t-trip-dear-4'],
    ['get_call', { start: undefined, call_id: 't-trip-dear-4' }, 'it is a trace: get_trace'],
    ['get_thread', { start: undefined, thread_id: 't-trip-dear-4' }, 'it is a trace: get_trace'],
    ['query_calls', { project_id: 'guesses' }, `did you mean \`${trips}\`?`],
    ['query_calls', { project_id: undefined }, 'this field is required; there are'],
    ['get_stats', { group_by_feedback: { feedback_type: 'thumb', path: 'up' } }, 'did you mean `thumbs`?'],
    [
      'get_stats',
      { group_by_feedback: { feedback_type: 'thumbs', path: 'ups' } },
      'did you mean `payload.up`?',
    ],
    ['get_stats', { group_by: ['model'] }, 'usage by model'],
    ['query_calls', { sort_by: ['attributes.sead'] }, 'did you mean `attributes.seat`?'],
    ['query_calls', { sort_by: ['cost_usd'] }, 'get_stats adds up costs'],
    ['query_calls', { columns: ['id', 'attributes.usr.id'] }, 'did you mean `attributes.user.id`?'],
    [
      'query_calls',
      {
        query: {
          $expr: { $or: [equals('attributes.usr.id', 'zoe').$expr, equals('end_user', 'zoe').$expr] },
        },
      },
      'did you mean `attributes.user.id`?',
    ],
    ['search_text', { text: 'voucher Friday' }, 'word for word', '`voucher`, `Friday`'],
    ['search_text', { text: 'SUN.*' }, 'it is no pattern', '`SUN`'],
    ['search_text', { text: 'sun-44', case_sensitive: true }, 'word for word', '`sun-44`'],
    ['find_issues', { state: 'Open' }, '"open", "resolved"'],
    ['find_issues', { filter: { assignees: ['nobody'] } }, 'in another state or not of the filter'],
    [
      'query_calls',
      { project_id: claude, ...november, query: equals('tool', 'mcp__orders__refund') },
      '`orders.refund`',
    ],
    [
      'query_calls',
      { project_id: claude, ...november, query: equals('tool', 'bash') },
      'did you mean `Bash`?',
    ],
    ['query_calls', { project_id: claude, ...november, query: equals('tool', 'Task') }, 'there are `Agent`'],
    [
      'query_calls',
      { project_id: claude, ...november, query: equals('model', 'claude-sonnet') },
      '`claude-sonnet-4-5`',
    ],
    [
      'query_calls',
      { project_id: adk, ...november, query: equals('model', 'gpt-5-mini') },
      '`openai/gpt-5-mini`',
    ],
    ['query_calls', { project_id: graph, ...november, query: equals('user', 'Keeper-7') }, '`keeper-7`'],
  ];
  it.each(misses.map(([name, args, ...words]) => [name, args, words] as const))(
    '%s %j',
    async (name, args, words) => {
      const text = await said(name, { ...days, ...args });
      for (const word of words) expect(text).toContain(word);
    },
  );
});
