import * as z from 'zod/mini';
import { field } from '../foundations/wire/schema.ts';
import { document, endpoint, longAnswer, openEndpoint } from './endpoint.ts';

const rpcRequest = () =>
  z.looseObject({
    jsonrpc: field(z.literal('2.0'), 'The version of JSON-RPC.'),
    id: field(z.optional(z.union([z.string(), z.int()])), 'The id of the request; a notification has none.'),
    method: field(z.string(), 'Such as `tools/list` or `tools/call`.'),
    params: field(z.optional(z.looseObject({})), 'What the method takes.'),
  });

const rpcAnswer = () =>
  z.looseObject({
    jsonrpc: field(z.literal('2.0'), 'The version of JSON-RPC.'),
    id: field(z.optional(z.nullable(z.union([z.string(), z.int()]))), 'The id of the request.'),
    result: field(z.optional(z.looseObject({})), 'What the method gives.'),
    error: field(z.optional(z.looseObject({})), 'What is wrong, with `code` and `message`.'),
  });

export const mcp = /* @__PURE__ */ endpoint({
  path: '/mcp',
  refuses: ['GET', 'DELETE'],
  scheme: 'any',
  shape: longAnswer,
  stores: {
    calls: 'query',
    payloads: 'read',
    costs: 'read',
    feedback: 'annotate',
    objects: 'serve',
    tables: 'update',
    audit: 'append',
    bookkeeping: 'serve',
  },
  tag: 'agents',
  name: 'Mcp',
  summary: 'The Model Context Protocol, for coding agents',
  description:
    'Streamable HTTP without sessions: one JSON-RPC message a request, and a JSON answer. Clients of the specification 2026-07-28 and of those of 2025 are served. The roles of the key hold for each project that a tool names. docs/agents.md has the tools.',
  form: 'rpc',
  request: rpcRequest,
  // The arguments of tools name the projects.
  projects: () => [],
  answer: rpcAnswer,
  examples: {
    ping: {
      summary: 'Whether the server is there',
      body: { jsonrpc: '2.0', id: 1, method: 'ping' },
      answer: { jsonrpc: '2.0', id: 1, result: {} },
    },
  },
});

export const agents = /* @__PURE__ */ openEndpoint({
  path: '/agents.md',
  handler: 'agents',
  shape: document,
  tag: 'agents',
  name: 'Agents',
  summary: 'How coding agents use this service',
  description:
    'Markdown with the URL and the version of this service: how to connect by MCP, to query, and to report. Takes no credentials.',
  form: 'markdown',
  answer: () => z.string(),
  examples: { text: { summary: 'The text', body: undefined, answer: '# pennytrace' } },
});

/** The endpoints of this file. Their examples run in this order. */
export const mcpRoutes = [mcp, agents] as const;
