import { appendFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import {
  type AgentCapture,
  type AnsweredCall,
  agentCaptureNames,
  type Fact,
  Judgement,
  readAgentCapture,
} from '../../../../support/otel/agent-captures.ts';
import { type SharedService, sharedService } from '../../../../support/service/service.ts';
import { bearer } from '../../../security/credentials.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const send = async (requests: AgentCapture['requests'], project: string): Promise<void> => {
  for (const { path, body, headers } of requests) {
    const { 'content-type': type = '', 'content-encoding': encoding } = headers;
    const answer = await fetch(`${service.url}/otel${path.replace('/agents/otel', '')}`, {
      method: 'POST',
      headers: {
        'content-type': type,
        ...(encoding && { 'content-encoding': encoding }),
        authorization: bearer(service.key),
        project_id: project,
      },
      body: new Uint8Array(body),
    });
    expect([path, answer.status]).toEqual([path, 200]);
  }
};

const lines = async <T>(path: string, body: object): Promise<T[]> => {
  const answer = await service.post(path, body);
  return (await answer.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
};

const judge = async (capture: AgentCapture, project: string): Promise<Fact[]> => {
  const calls = await lines<AnsweredCall>('/calls/stream_query', {
    project_id: project,
    include_feedback: true,
  });
  const threads = await lines<{ thread_id: string }>('/threads/stream_query', { project_id: project });
  return new Judgement(capture, calls).facts(threads.map(({ thread_id }) => thread_id));
};

const problemsIn = (facts: readonly Fact[]): string[] =>
  facts.flatMap(({ kind, what, problems }) => problems.map((problem) => `${kind}: ${what}: ${problem}`));

const orders = {
  'as it was sent': (capture: AgentCapture) => capture.requests,
  'in the other order': (capture: AgentCapture) => capture.requests.toReversed(),
  'sent twice': (capture: AgentCapture) => [...capture.requests, ...capture.requests],
} as const;

describe.each(agentCaptureNames)('the export of %s', (name) => {
  it.each(Object.entries(orders))('says what a person expects, %s', async (order, requestsIn) => {
    const capture = readAgentCapture(name);
    const project = `acme/agents-${name}-${Object.keys(orders).indexOf(order)}`;
    await send(requestsIn(capture), project);
    const facts = await judge(capture, project);
    if (process.env.SCORE) appendFileSync(process.env.SCORE, `${JSON.stringify({ name, order, facts })}\n`);
    expect(problemsIn(facts)).toEqual([]);
  });
});

interface AnsweredTrace {
  readonly trace_id: string;
  readonly agents: readonly {
    readonly name: string | null;
    readonly model_requests: number;
    readonly tool_calls: number;
    readonly errors: number;
    readonly calls: number;
    readonly usage: Readonly<Record<string, number>>;
    readonly own_ms: number;
    readonly called_by: readonly { readonly name: string | null; readonly count: number }[];
  }[];
}

/** How many operations of a kind each agent has, by what a person expects. */
const countExpected = ({ operations }: AgentCapture, wanted: string): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { agent, kind } of operations)
    if (agent && kind === wanted) counts[agent] = (counts[agent] ?? 0) + 1;
  return counts;
};

describe.each(agentCaptureNames)('the traces of %s', (name) => {
  it('add up by agent to what a person counts', async () => {
    const capture = readAgentCapture(name);
    const project = `acme/by-agent-${name}`;
    await send(capture.requests, project);
    const calls = await lines<AnsweredCall & { trace_id: string }>('/calls/stream_query', {
      project_id: project,
    });
    const ids = [...new Set(calls.map(({ trace_id }) => trace_id))];
    const answer = await service.post('/trace/agents', { project_id: project, trace_ids: ids });
    const { traces } = (await answer.json()) as { traces: AnsweredTrace[] };
    const agents = traces.flatMap((trace) => trace.agents);
    expect(agents.reduce((sum, agent) => sum + agent.calls, 0)).toBe(calls.length);
    const sums = (count: (agent: (typeof agents)[number]) => number) => {
      const counts: Record<string, number> = {};
      for (const agent of agents)
        if (agent.name !== null && count(agent) > 0)
          counts[agent.name] = (counts[agent.name] ?? 0) + count(agent);
      return counts;
    };
    // What an export tells of more than a person has to see is in its calls, too.
    const expectedModels = countExpected(capture, 'model');
    const expectedTools = countExpected(capture, 'tool');
    expect(sums(({ model_requests }) => model_requests)).toMatchObject(expectedModels);
    expect(sums(({ tool_calls }) => tool_calls)).toMatchObject(expectedTools);
    const tokens = calls.flatMap(({ summary }) => Object.values(summary.usage ?? {}));
    expect(agents.reduce((sum, { usage }) => sum + (usage.output_tokens ?? 0), 0)).toBe(
      tokens.reduce((sum, { output_tokens = 0 }) => sum + output_tokens, 0),
    );
  });
});

it('tells the hand-off of one agent to another beside it', async () => {
  const project = 'acme/by-agent-hand-off';
  await send(readAgentCapture('openai-agents-handoff').requests, project);
  const calls = await lines<{ trace_id: string }>('/calls/stream_query', { project_id: project });
  const ids = [...new Set(calls.map(({ trace_id }) => trace_id))];
  const answer = await service.post('/trace/agents', { project_id: project, trace_ids: ids });
  const { traces } = (await answer.json()) as { traces: AnsweredTrace[] };
  const called = traces.flatMap(({ agents }) =>
    agents.flatMap(({ name, called_by }) => called_by.map((by) => `${by.name} > ${name}`)),
  );
  expect(called).toEqual(expect.arrayContaining(['Front desk > Seats', 'Seats > Timetables']));
});

it('tells two sub-agents apart that ran at once, with what the model handed out to each', async () => {
  const project = 'acme/by-agent-at-once';
  await send(readAgentCapture('claude-code-parallel-agents').requests, project);
  const calls = await lines<AnsweredCall & { trace_id: string }>('/calls/stream_query', {
    project_id: project,
  });
  const ids = [...new Set(calls.map(({ trace_id }) => trace_id))];
  const answer = await service.post('/trace/agents', { project_id: project, trace_ids: ids });
  const { traces } = (await answer.json()) as { traces: AnsweredTrace[] };
  const seen = traces.map(({ agents }) =>
    agents.map((agent) => ({
      agent: agent.name,
      did: [agent.model_requests, agent.tool_calls, agent.errors],
      tokens: ['input', 'cache_read', 'cache_write', 'output'].map((kind) => agent.usage[`${kind}_tokens`]),
      by: agent.called_by.map(({ name, count }) => `${name} ${count}`),
    })),
  );
  const main = { agent: 'claude-code', by: [] };
  expect(seen).toEqual([
    [
      { ...main, did: [5, 5, 0], tokens: [100_738, 74_922, 19_941, 375] },
      { agent: 'code-reader', did: [5, 5, 0], tokens: [15_422, 9766, 2751, 145], by: ['claude-code 1'] },
      { agent: 'almanac-clerk', did: [4, 4, 1], tokens: [18_767, 11_247, 4090, 178], by: ['claude-code 1'] },
    ],
    [{ ...main, did: [1, 0, 0], tokens: [21_006, 19_258, 462, 96] }],
  ]);
  const ofTool = await service.post('/calls/stats', {
    project_id: project,
    start: '2026-11-28',
    end: '2026-11-29',
    granularity: 86_400,
    group_by: ['agent', 'tool'],
    call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }],
  });
  const { call_buckets: buckets } = (await ofTool.json()) as { call_buckets: JsonObject[] };
  const counted = buckets.map((of) => `${of.agent} ${of.tool} ${of.sum_call_count} ${of.sum_error_count}`);
  expect(counted.sort()).toEqual([
    'almanac-clerk Read 1 0',
    'almanac-clerk ToolSearch 1 0',
    'almanac-clerk almanac.high_water 2 1',
    'claude-code Agent 2 0',
    'claude-code Bash 1 0',
    'claude-code Edit 1 0',
    'claude-code Read 1 0',
    'code-reader Bash 1 0',
    'code-reader Grep 1 0',
    'code-reader Read 1 0',
    'code-reader ToolSearch 1 0',
    'code-reader almanac.list_stations 1 0',
  ]);
});
