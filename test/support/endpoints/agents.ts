import type { Sent } from '../service/in-process.ts';
import { callRef, type Fixture, where } from './fixture.ts';
import { queryCalls } from './queries.ts';
import { calls, end, forBucket, noise, report, start, type Use } from './scenario.ts';

/** What clients of the specifications of 2025 send with each message. */
export const mcpHeaders = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-06-18',
} as const;

/** The message that calls a tool. */
export const toolCall = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

const calling = (name: string, args: object): Sent => ({
  path: '/mcp',
  body: toolCall(name, args),
  headers: mcpHeaders,
});

/** What a tool answers that refuses its arguments. */
const refusedFor = (text: string): string =>
  JSON.stringify({
    result: { content: [{ type: 'text', text }], isError: true },
    jsonrpc: '2.0',
    id: 1,
  });

/** The day of the calls. */
const span = { start: '2026-09-30', end: '2026-10-02' };

/** Calls, one of them in the bucket, and feedback whose payload is there, too. */
const before = (p: string): Sent[] => [
  report(...calls(p, 12)),
  report(start(p, 'c', { inputs: { q: noise(forBucket) } }), end(p, 'c')),
  {
    path: '/feedback/create',
    body: {
      project_id: p,
      id: 'f',
      svc_ref: callRef(p, '1'),
      feedback_type: 'note',
      payload: { text: noise(460_000) },
    },
  },
];

const savePrompt = (p: string, text: string, labels: readonly string[] = []): Sent =>
  calling('save_prompt', { project_id: p, name: 'support', text, labels });
const addCalls = (p: string, ...ids: readonly string[]): Sent =>
  calling('add_to_dataset', { project_id: p, dataset: 'orders', call_ids: ids });

/** What tools of prompts and datasets do to objects and tables. */
const ofObjects: readonly Use[] = [
  {
    name: 'a prompt in the bucket',
    request: (p) => savePrompt(p, noise(80_000), ['production']),
  },
  {
    name: 'the same, read',
    before: (p) => [savePrompt(p, noise(80_000), ['production'])],
    request: (p) => calling('get_prompt', { project_id: p, name: 'support' }),
  },
  {
    name: 'a label that is removed',
    before: (p) => [savePrompt(p, 'Be brief.', ['production'])],
    request: (p) =>
      calling('set_prompt_label', {
        project_id: p,
        name: 'support',
        label: 'production',
        version_index: null,
      }),
  },
  {
    name: 'large calls for a dataset',
    before: (p) => [...before(p), addCalls(p, '1')],
    request: (p) => addCalls(p, 'c', '1'),
  },
  {
    name: 'large calls that a dataset has',
    before: (p) => [...before(p), addCalls(p, 'c', '1')],
    request: (p) => addCalls(p, 'c', '2'),
  },
];

/** The route that coding agents ask. */
export const agentFixtures = {
  '/mcp': {
    permitted: [
      ...queryCalls,
      'costs: Query',
      'feedback: BatchGetItem PartiQLInsert PutItem',
      'feedback/index/by_ref: Query',
      'feedback/index/by_time: Query',
      'bucket/feedback/*: GetObject',
      'objects: BatchGetItem BatchWriteItem ConditionCheckItem DeleteItem PutItem Query',
      'bucket/objects/*: GetObject PutObject DeleteObject',
      'bucket/tables/*: GetObject PutObject',
      'bookkeeping: BatchWriteItem Query UpdateItem',
      'audit: PartiQLInsert',
    ],
    seldom: {
      'DeleteObject on bucket/objects/*':
        'of versions at once, those that do not get the index clear their values away',
      'Query on calls': 'a call whose end moved between the reading of index and item is looked up by its id',
      'BatchWriteItem on bookkeeping':
        'rollups are stored when the marks of the writes before are over, after minutes',
      'PutItem on feedback': 'a record that was replaced less than a day ago is given again',
    },
    headers: () => mcpHeaders,
    body: (p, { call }) => toolCall('get_call', { project_id: p, call_id: call }),
    answer: refusedFor('call_id: there is no call call-none in acme/shop; query_calls finds calls'),
    refusedInside: true,
    refusal: 'project_id: this key may not read the project acme/shop',
    probes: {
      'calls by their ids': (p, { call, child }) =>
        toolCall('query_calls', { project_id: p, filter: { call_ids: [call, child] } }),
      'a trace': (p, { trace }) => toolCall('get_trace', { project_id: p, trace_id: trace }),
      'a thread': (p, { thread }) => toolCall('get_thread', { project_id: p, thread_id: thread }),
      'two calls': (p, { call, child }) => toolCall('compare_calls', { project_id: p, a: call, b: child }),
      'a text in calls': (p, { thread }) =>
        toolCall('search_text', { project_id: p, text: 'hello', filter: { thread_ids: [thread] } }),
      'the agents of a trace': (p, { trace }) =>
        toolCall('get_agents', { project_id: p, trace_ids: [trace] }),
      'feedback on a call': (p, { call }) =>
        toolCall('add_feedback', { project_id: p, call_id: call, note: 'hello' }),
      'a prompt': (p, { object }) => toolCall('get_prompt', { project_id: p, name: object }),
      'a label': (p, { object, alias }) =>
        toolCall('set_prompt_label', { project_id: p, name: object, label: alias, version_index: 0 }),
      'calls for a dataset': (p, { call }) =>
        toolCall('add_to_dataset', { project_id: p, dataset: 'ours', call_ids: [call] }),
    },
    uses: ofObjects,
    scenarios: [
      {
        name: 'the projects',
        before,
        request: () => calling('list_projects', { limit: 1 }),
      },
      {
        name: 'what there is in a project',
        before,
        request: (p) => calling('describe_project', { project_id: p, ...span }),
      },
      {
        name: 'a call with the feedback on it',
        before,
        request: (p) => calling('get_call', { project_id: p, call_id: '1' }),
      },
      {
        name: 'a thread',
        before,
        request: (p) => calling('get_thread', { project_id: p, thread_id: 'thread' }),
      },
      {
        name: 'calls that failed',
        before,
        request: (p) =>
          calling('query_calls', { project_id: p, ...span, query: where('summary.svc.status', 'error') }),
      },
      {
        name: 'a note',
        before,
        request: (p) => calling('add_feedback', { project_id: p, call_id: '1', note: 'good' }),
        views: (p) => [{ path: '/feedback/query', body: { project_id: p } }],
        atomic: true,
      },
      {
        name: 'an operation by its name, and a text',
        before,
        request: (p) =>
          calling('search_text', {
            project_id: p,
            ...span,
            text: 'answer 1',
            filter: { op_names: ['answer'] },
          }),
      },
      {
        name: 'a tool that there is not',
        before,
        request: (p) =>
          calling('query_calls', { project_id: p, ...span, query: where('attributes.tool.name', 'lookup') }),
      },
      {
        name: 'issues',
        before,
        request: (p) => calling('find_issues', { project_id: p, ...span }),
      },
      {
        name: 'agents and tools',
        before,
        request: (p) => calling('get_agents', { project_id: p, ...span }),
      },
      {
        name: 'the newest calls',
        before,
        request: (p) => calling('query_calls', { project_id: p, ...span }),
      },
    ],
  },
} as const satisfies Readonly<Record<string, Fixture>>;
