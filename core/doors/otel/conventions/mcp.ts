import type { Convention } from './convention.ts';
import type { SpanReader } from './reader.ts';

const methodKey = 'mcp.method.name';
const callsTool = 'tools/call';

/** How clients and servers name the span of a tool's call. */
const callName = /\btools\/call (.+)$/;

/** What clients and servers settle with each other, which is no work of a program. */
const protocol =
  /^(initialize|ping|server\/discover|notifications\/.+|.+\/list|logging\/setLevel|resources\/(un)?subscribe|subscriptions\/listen)$/;

const getMethod = (span: SpanReader): string | undefined => span.peekText(methodKey);

/** Whether the span is the call of a tool as a client or server of MCP sees it. */
export const isMcpCall = (attributes: ReadonlyMap<string, unknown>): boolean =>
  attributes.get(methodKey) === callsTool;

/** Whether the span is of a message of the protocol alone, such as the list of tools. */
export const isMcpProtocol = (attributes: ReadonlyMap<string, unknown>): boolean => {
  const method = attributes.get(methodKey);
  return typeof method === 'string' && protocol.test(method);
};

/**
 * Clients and servers of the Model Context Protocol. A tool's call has a span of each, below that of
 * the agent's tool.
 * Source: semantic-conventions-genai, `docs/gen-ai/mcp.md`; modelcontextprotocol/python-sdk and
 * jlowin/fastmcp, `telemetry.py`.
 */
export const mcp: Convention = {
  matches: (span) => span.has(methodKey),
  kind: (span) => (getMethod(span) === callsTool ? 'tool' : 'other'),
  tool: (span) => {
    const name = span.peekText('gen_ai.tool.name') ?? callName.exec(span.span.name)?.[1];
    const server = span.peekText('mcp.server.name', 'fastmcp.server.name');
    return name === undefined || server === undefined ? name : `${server}.${name}`;
  },
};
