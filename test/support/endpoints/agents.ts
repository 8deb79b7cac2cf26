import type { Sent } from '../in-process.ts';
import { callRef, type Fixture } from './fixture.ts';
import { queryCalls } from './queries.ts';
import { calls, noise, report } from './scenario.ts';
import { readTables } from './tables.ts';

/** What clients of the specifications of 2025 send with each message. */
export const mcpHeaders = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-06-18',
} as const;

/** The message that calls a tool. */
export const toolCall = (name: string, args: object) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name, arguments: args },
});

const calling = (name: string, args: object): Sent => ({
  ...{ path: '/mcp', body: toolCall(name, args), headers: mcpHeaders },
});

/** What a tool answers that refuses its arguments. */
const refusedFor = (text: string): string =>
  JSON.stringify({
    result: { content: [{ type: 'text', text }], isError: true },
    ...{ jsonrpc: '2.0', id: 1 },
  });

/** Calls, feedback and prices. */
const before = (p: string): Sent[] => [
  report(...calls(p, 12)),
  {
    path: '/feedback/create',
    body: {
      ...{ project_id: p, id: 'f', svc_ref: callRef(p, '1'), feedback_type: 'note' },
      payload: { text: noise(3000) },
    },
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
      'feedback/index/by_type: Query',
      'bucket/feedback/*: GetObject PutObject DeleteObject',
      'objects: BatchGetItem',
      'bucket/objects/*: GetObject',
      ...readTables,
      'rollups: BatchWriteItem Query UpdateItem',
    ],
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
      'feedback on a call': (p, { call }) =>
        toolCall('add_feedback', { project_id: p, call_id: call, note: 'hello' }),
    },
    scenarios: [
      {
        name: 'the newest calls',
        before,
        request: (p) => calling('query_calls', { project_id: p, start: '2026-09-30', end: '2026-10-02' }),
      },
    ],
  },
} as const satisfies Readonly<Record<string, Fixture>>;
