import * as z from 'zod/mini';
import { field, id, listSchema, nullish, problem, record } from '../foundations/wire/schema.ts';
import { endpoint, oneAnswer } from './endpoint.ts';
import { project } from './fields.ts';

/** The most traces of one request. */
const maxTraces = 100;

const count = z.int().check(z.minimum(0));
const dollars = z.number().check(z.minimum(0));

/** What these endpoints share, and `/calls/usage` with them: one function answers them. */
const common = {
  handler: 'traces',
  shape: oneAnswer,
  stores: { calls: 'find', payloads: 'read', costs: 'read' },
  tag: 'traces',
} as const;

const agentUsage = () =>
  z.object({
    input_tokens: field(count, 'Tokens of prompts, cached ones included.'),
    cache_read_tokens: field(count, "Those that were read from the provider's cache."),
    cache_write_tokens: field(count, "Those that were written to the provider's cache."),
    output_tokens: field(count, 'Tokens of answers, reasoning included.'),
    reasoning_tokens: field(count, 'Those of reasoning.'),
  });

const agent = () =>
  z.object({
    name: field(z.nullable(z.string()), 'Its name; null for calls outside of agents.'),
    id: field(z.nullable(z.string()), 'Its id, if a call names one.'),
    version: field(z.nullable(z.string()), 'Its version, if a call names one.'),
    calls: field(count, 'Its calls, those that stand for the agent itself included.'),
    model_requests: field(count, 'Requests to models.'),
    tool_calls: field(count, 'Calls of tools.'),
    errors: field(count, 'Calls that failed themselves.'),
    usage: field(agentUsage(), 'What its requests to models used.'),
    cost_usd: field(z.nullable(dollars), 'What they cost in US dollars; null if no model has a price.'),
    own_ms: field(count, 'How long it ran, without the agents that it called. Running calls are left out.'),
    waited_ms: field(count, 'How long it waited for a person, a part of the time that it ran.'),
    called_by: field(
      z.array(
        z.object({
          name: field(z.nullable(z.string()), 'The other agent; null for a call outside of agents.'),
          count: field(count, 'How many times.'),
        }),
      ),
      'Who called it or handed over to it.',
    ),
  });

const tool = () =>
  z.object({
    name: field(z.string(), 'Its name; of an MCP server `<server>.<tool>`.'),
    calls: field(count, 'How often it was called.'),
    errors: field(count, 'How often it failed.'),
    total_ms: field(count, 'How long its calls took together.'),
  });

const traceAgentsAnswer = () =>
  z.object({
    trace_id: field(z.string(), 'The trace.'),
    agents: field(z.array(agent()), 'In the order in which they began.'),
    tools: field(z.array(tool()), 'In the order of their first calls.'),
  });

/** A trace by agents and tools. */
export type TraceAgents = z.output<ReturnType<typeof traceAgentsAnswer>>;

export const traceAgents = /* @__PURE__ */ endpoint({
  ...common,
  path: '/trace/agents',
  name: 'TraceAgents',
  summary: 'Sum up traces by agent',
  description:
    'Who did what in traces: calls, requests to models, tools, errors, tokens, cost, time and hand-offs by agent. The agent of a call is the nearest agent at or above it in its trace: a call with `attributes.agent.name`, or of the kind `agent`. Traces without calls are left out.',
  request: () =>
    record(
      {
        project_id: project,
        trace_ids: field(listSchema(id, maxTraces, { least: 1 }), 'The traces, each once.'),
      },
      {},
      ({ trace_ids }) => ({ traceIds: [...new Set(trace_ids)] as readonly string[] }),
    ),
  answer: () => z.object({ traces: field(z.array(traceAgentsAnswer()), 'In the order of the request.') }),
  examples: {
    turn: {
      summary: 'A turn of an agent',
      body: { project_id: 'acme/shop', trace_ids: ['trace-1'] },
      answer: {
        traces: [
          {
            trace_id: 'trace-1',
            agents: [
              {
                name: null,
                id: null,
                version: null,
                calls: 1,
                model_requests: 1,
                tool_calls: 0,
                errors: 0,
                usage: {
                  input_tokens: 1200,
                  cache_read_tokens: 0,
                  cache_write_tokens: 0,
                  output_tokens: 12,
                  reasoning_tokens: 0,
                },
                cost_usd: 0.00312,
                own_ms: 0,
                waited_ms: 0,
                called_by: [],
              },
            ],
            tools: [],
          },
        ],
      },
    },
  },
});

/** What a part of a request's input is. */
const contextParts = [
  'system',
  'tools',
  'user',
  'assistant',
  'tool_results',
  'reasoning',
  'media',
  'other',
] as const;
export type ContextPart = (typeof contextParts)[number];

const part = () =>
  z.object({
    part: field(z.enum(contextParts), 'What it is.'),
    name: field(z.optional(z.string()), 'The tool, as `<name>` or `<MCP server>.<name>`, or the file.'),
    characters: field(count, 'The length of its text; 0 of what is no text.'),
    tokens: field(count, 'Its share of the input tokens.'),
    cost_usd: field(
      z.optional(dollars),
      'Its share of what the input cost in US dollars, if the model has a price. Tokens read from a cache are the beginning of the input.',
    ),
  });

const contextFields = () =>
  ({
    input_tokens: field(count, 'All tokens of the input, cached ones included.'),
    cache_read_tokens: field(count, "Those that were read from the provider's cache."),
    estimated: field(z.literal(true), 'How parts divide is always estimated.'),
    counted: field(
      z.boolean(),
      'Whether the model counted `input_tokens`. Otherwise the call has no usage, and they are estimated, too.',
    ),
    parts: field(z.array(part()), 'Added up by part and name, the largest first.'),
  }) as const;

const contextOfMany = () =>
  z.object({
    id: field(z.string(), 'The call.'),
    ...contextFields(),
    tool_calls: field(
      z.array(z.string()),
      'The tools that its answer calls, each once, as `parts` name them.',
    ),
  });

/** What filled the window of one of several requests. */
export type CallContext = z.output<ReturnType<typeof contextOfMany>>;

/** The most requests whose windows are told at once. */
export const maxContexts = 100;

const idOrIds = z.check<{
  readonly id?: string | null | undefined;
  readonly ids?: readonly string[] | null | undefined;
}>(({ value, issues }) => {
  if ((typeof value.id === 'string') === Array.isArray(value.ids))
    issues.push(problem('should have exactly one of id and ids', value));
});

export const callContext = /* @__PURE__ */ endpoint({
  ...common,
  path: '/call/context',
  name: 'CallContext',
  summary: 'Tell what filled the window of a model',
  description:
    'How the input tokens of a request to a model divide: system prompt, definitions of tools, messages by who said them, results of tools, files. Models tell one number for all of it. Parts are estimated by their text, and scaled to that number: the tokens of all parts add up to it. With `ids` it answers `contexts`, which leaves out unknown calls and those that are no requests to models.',
  request: () =>
    record(
      {
        project_id: project,
        id: field(nullish(id), 'The call.'),
        ids: field(
          nullish(listSchema(id, maxContexts, { least: 1 })),
          'Several calls, such as those of a trace, instead of `id`. What they share in storage is read once.',
        ),
      },
      {},
      ({ ids }) => ({ ids: ids ? ([...new Set(ids)] as readonly string[]) : null }),
      idOrIds as never,
    ),
  answer: () =>
    z.union([
      z.object(contextFields()),
      z.object({
        contexts: field(z.array(contextOfMany()), 'In the order of the request; with `ids`, alone.'),
      }),
    ]),
  errors: [404],
  examples: {
    request: {
      summary: 'A request to a model',
      body: { project_id: 'acme/shop', id: 'turn-1' },
      answer: {
        input_tokens: 1200,
        cache_read_tokens: 0,
        estimated: true,
        counted: true,
        parts: [{ part: 'other', characters: 0, tokens: 1200, cost_usd: 0.003 }],
      },
    },
    requests: {
      summary: 'Several requests',
      body: { project_id: 'acme/shop', ids: ['turn-1', 'unknown'] },
      answer: {
        contexts: [
          {
            id: 'turn-1',
            input_tokens: 1200,
            cache_read_tokens: 0,
            estimated: true,
            counted: true,
            parts: [{ part: 'other', characters: 0, tokens: 1200, cost_usd: 0.003 }],
            tool_calls: [],
          },
        ],
      },
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const traceRoutes = [callContext, traceAgents] as const;
