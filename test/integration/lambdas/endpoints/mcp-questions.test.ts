import { beforeAll, describe, expect, it } from 'vitest';
import { toReports } from '../../../../examples/shop/conversations.ts';
import { daysOfCalls, feedbackOn } from '../../../../examples/shop/days.ts';
import { mcpHeaders, toolCall } from '../../../support/endpoints/agents.ts';
import { end, noise, report, start } from '../../../support/endpoints/scenario.ts';
import { type SharedService, sharedService } from '../../../support/service/service.ts';

const project = 'acme/questions';
type Row = Readonly<Record<string, unknown>>;
type Data = Readonly<Record<string, unknown>>;

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
  const calls = daysOfCalls(Date.now());
  const batch = calls.flatMap((call, at) => toReports(project, call, at));
  for (let at = 0; at < batch.length; at += 200)
    expect((await service.post('/call/upsert_batch', { batch: batch.slice(at, at + 200) })).status).toBe(200);
  await service.post('/feedback/batch/create', { batch: feedbackOn(project, calls) });
});

/** Asks tools one after the other, as an agent does, and counts what that takes. */
class Agent {
  calls = 0;
  characters = 0;

  async ask(name: string, args: object, most = 20_000): Promise<Data> {
    const answer = await service.post('/mcp', toolCall(name, { project_id: project, ...args }), {
      headers: { authorization: `Bearer ${service.key}`, ...mcpHeaders },
    });
    const { result } = (await answer.json()) as { result: { structuredContent?: Data; isError?: boolean } };
    this.calls++;
    const size = JSON.stringify(result).length;
    expect(size).toBeLessThanOrEqual(most);
    this.characters += size;
    expect([name, result.isError ?? false]).toEqual([name, false]);
    return result.structuredContent ?? {};
  }
}

/** The rows of a table as objects, and rows as they are. */
const getRows = (data: Data, name = 'calls'): readonly Row[] => {
  if (Array.isArray(data[name])) return data[name];
  const { columns, rows } = data[name] as { columns: string[]; rows: unknown[][] };
  return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
};
const toObjects = getRows;
const first = (rows: readonly Row[]): Row => rows[0] ?? {};

const equals = (field: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});
const slowest = [{ field: 'summary.svc.latency_ms', direction: 'desc' }];

const questions: readonly (readonly [question: string, ask: (agent: Agent) => Promise<void>])[] = [
  [
    'Which tool fails most since yesterday, and with what message?',
    async (agent) => {
      const stats = await agent.ask('get_stats', {
        start: '-1d',
        query: equals('attributes.kind', 'tool'),
        call_metrics: [{ metric: 'error_count' }],
        group_by: ['op_name'],
      });
      const { op_name } = first(toObjects(stats, 'calls'));
      const query = equals('summary.svc.status', 'error');
      const failed = await agent.ask('query_calls', { filter: { op_names: [op_name] }, query, limit: 3 });
      expect(first(getRows(failed)).output_preview).toMatch(/no order/);
    },
  ],
  [
    "Why was the parcel thread's last turn slow?",
    async (agent) => {
      const contains = { input: { $getField: 'thread_id' }, substr: { $literal: 'parcel' } };
      const found = await agent.ask('query_calls', {
        filter: { trace_roots_only: true },
        query: { $expr: { $contains: contains } },
        limit: 1,
      });
      const turn = first(getRows(found));
      const trace = await agent.ask('get_trace', { trace_id: turn.trace_id });
      const below = getRows(trace).slice(1);
      const longest = below.toSorted((a, b) => Number(b.ms) - Number(a.ms))[0];
      expect([longest?.kind, Number(longest?.ms) > 0]).toEqual(['model', true]);
    },
  ],
  [
    'Which prompt version costs more?',
    async (agent) => {
      const stats = await agent.ask('get_stats', {
        start: '-3d',
        usage_metrics: [{ metric: 'total_cost', aggregations: ['avg'] }],
        group_by: ['attributes.prompt.version'],
      });
      const rows = toObjects(stats, 'usage').filter(({ model }) => model === 'gpt-4o-mini');
      expect(rows.map((row) => row['attributes.prompt.version']).toSorted()).toEqual(['1', '2']);
      const described = await agent.ask('describe_project', { start: '-3d' });
      expect(described).toHaveProperty('of_newest_calls.prompts.shop-support');
    },
  ],
  [
    'Which model is used most, and what did it cost?',
    async (agent) => {
      const described = await agent.ask('describe_project', {});
      expect(first(getRows(described, 'models'))).toMatchObject({
        model: expect.any(String),
        cost_usd: expect.any(Number),
      });
    },
  ],
  [
    'What did people dislike, and what had been answered?',
    async (agent) => {
      const described = await agent.ask('describe_project', { start: '-3d' });
      expect(getRows(described, 'fields')).toContainEqual(
        expect.objectContaining({ path: 'feedback.[thumbs].payload.up', types: 'boolean' }),
      );
      const roots = await agent.ask('query_calls', {
        filter: { trace_roots_only: true },
        start: '-3d',
        limit: 5,
      });
      const call = await agent.ask('get_call', { call_id: first(getRows(roots)).id });
      expect(call.call).toMatchObject({ inputs: expect.anything() });
    },
  ],
  [
    'Did models become slower since yesterday?',
    async (agent) => {
      const stats = await agent.ask('get_stats', {
        start: '-2d',
        granularity: 21_600,
        query: equals('attributes.kind', 'model'),
        call_metrics: [{ metric: 'latency_ms', aggregations: [], percentiles: [50] }],
      });
      const medians = toObjects(stats, 'calls').map((row) => Number(row.p50_latency_ms));
      expect(medians.at(-2)).toBeGreaterThan(Number(medians[1]));
    },
  ],
  [
    'Which conversation failed last, and what was said in it?',
    async (agent) => {
      const query = equals('summary.svc.status', 'error');
      const failed = await agent.ask('query_calls', { query, limit: 1 });
      const thread = await agent.ask('get_thread', { thread_id: first(getRows(failed)).thread_id });
      expect(first(getRows(thread, 'turns'))).toMatchObject({ asked: expect.any(String) });
    },
  ],
  [
    'What is the slowest request to a model, and what was it asked?',
    async (agent) => {
      const query = equals('attributes.kind', 'model');
      const found = await agent.ask('query_calls', { query, sort_by: slowest, limit: 1 });
      const call = await agent.ask('get_call', { call_id: first(getRows(found)).id, path: 'inputs' });
      expect(call.value).toMatchObject({ model: expect.any(String) });
    },
  ],
  [
    'What differs between the slowest turn and an ordinary one?',
    async (agent) => {
      const filter = { trace_roots_only: true };
      const slow = await agent.ask('query_calls', { filter, sort_by: slowest, limit: 1 });
      const usual = await agent.ask('query_calls', { filter, limit: 2 });
      const compared = await agent.ask('compare_calls', {
        a: getRows(usual)[1]?.id,
        b: first(getRows(slow)).id,
      });
      expect(compared.operations).toBeDefined();
      expect(getRows(compared, 'differences').length).toBeGreaterThan(0);
    },
  ],
  [
    'Which trace cost most, and which traces had an error somewhere?',
    async (agent) => {
      const filter = { trace_roots_only: true };
      const sort_by = [{ field: 'summary.svc.trace_totals.total_cost', direction: 'desc' }];
      const dear = await agent.ask('query_calls', { filter, sort_by, limit: 3 });
      const costs = getRows(dear).map(({ trace_cost_usd: cost }) => Number(cost));
      expect(costs).toEqual(costs.toSorted((a, b) => b - a));
      const query = equals('summary.svc.status', 'descendant_error');
      const failed = await agent.ask('query_calls', { filter, query, limit: 3 });
      expect(Number(first(getRows(failed)).trace_errors)).toBeGreaterThan(0);
    },
  ],
  [
    'Is anything still running?',
    async (agent) => {
      const query = equals('summary.svc.status', 'running');
      const found = await agent.ask('query_calls', { query, columns: ['inputs'] });
      expect(JSON.stringify(found.calls)).toContain('winter tyres');
    },
  ],
];

describe('on the days of the shop, within four calls and 40,000 characters,', () => {
  it.each(questions)('%s', async (_, ask) => {
    const agent = new Agent();
    await ask(agent);
    expect(agent.calls).toBeLessThanOrEqual(4);
    expect(agent.characters).toBeLessThanOrEqual(40_000);
  });
});

describe('what is large', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 9, 1) + second * 1000).toISOString();

  it('such as a trace of 10,000 calls has a skeleton with what failed, and folds the rest', async () => {
    const item = (i: number) => [
      start(project, `w${i}`, {
        trace_id: 'wide',
        thread_id: null,
        turn_id: null,
        inputs: {},
        started_at: at(i),
        ...(i > 0 && { parent_id: i % 100 === 1 ? 'w0' : `w${i - ((i - 1) % 100)}` }),
        op_name: i % 100 === 1 ? 'group' : 'step',
      }),
      end(project, `w${i}`, { ended_at: at(i + 1), ...(i === 7654 && { exception: 'Error: out of stock' }) }),
    ];
    const all = Array.from({ length: 10_000 }, (_, i) => item(i)).flat();
    for (let i = 0; i < all.length; i += 5000) {
      const { path, body } = report(...all.slice(i, i + 5000));
      expect((await service.post(path, body)).status).toBe(200);
    }
    const agent = new Agent();
    const trace = await agent.ask('get_trace', { trace_id: 'wide' });
    expect(trace.totals).toMatchObject({ calls: 10_000, errors: 1 });
    const rows = getRows(trace);
    expect(rows.find(({ status }) => status === 'error')).toMatchObject({ id: 'w7654', depth: 2 });
    expect(trace.missing).toEqual([
      expect.stringMatching(/of 10000 calls: get_trace with the cursor, or with call_id/),
    ]);
    const folded = rows.find((row) => (row.folded ?? null) !== null && row.depth === 1);
    const below = await agent.ask('get_trace', { trace_id: 'wide', call_id: folded?.id });
    expect(getRows(below)[0]).toMatchObject({ id: folded?.id, depth: 0 });
  });

  it('such as an input of 4 MB is shown in part, and read on from where it was cut', async () => {
    const text = noise(4_000_000, 'large');
    const { path, body } = report(
      start(project, 'large', { trace_id: 'large', inputs: { q: 'short', text } }),
    );
    expect((await service.post(path, body)).status).toBe(200);
    const agent = new Agent();
    const { call, missing } = await agent.ask('get_call', { call_id: 'large' });
    const { inputs } = call as { inputs: { q: string; text: string } };
    expect([inputs.q, inputs.text.length > 2000]).toEqual(['short', true]);
    const [, offset = ''] = /get_call with path inputs\.text and offset (\d+)/.exec(String(missing)) ?? [];
    expect(text.startsWith(inputs.text.slice(0, -1))).toBe(true);
    const rest = await agent.ask('get_call', {
      call_id: 'large',
      path: 'inputs.text',
      offset: Number(offset),
    });
    expect(rest.value).toBe(text.slice(Number(offset), Number(rest.next_offset)));
    const last = { call_id: 'large', path: 'inputs.text', offset: text.length - 5 };
    expect(await agent.ask('get_call', last)).toMatchObject({ value: text.slice(-5) });
  });

  it('keeps to the least budget as well', async () => {
    const agent = new Agent();
    for (const [name, args] of [
      ['get_call', { call_id: 'large' }],
      ['get_trace', { trace_id: 'wide' }],
      ['query_calls', {}],
      ['describe_project', {}],
    ] as const)
      await agent.ask(name, { ...args, max_characters: 1000 }, 1000);
  });
});
