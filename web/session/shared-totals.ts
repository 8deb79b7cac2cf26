import { type AgentCall, findAgents, type OwnUsage } from '../../api/shared/agents.ts';
import { calledTools, divideContext, inDollars, inputCost, sumTokens } from '../../api/shared/context.ts';
import { type CallRow, getAgent, getStatus, getTool, getWait, opText, parseTime } from '../api/calls.ts';
import type { Answer } from '../api/contract.ts';
import { getKind } from '../api/kind.ts';
import { isObject, valueAt } from '../data/values.ts';

/*
 * What a trace of a public link adds up to, worked out from the calls that the link brought, as the service works it
 * out for who has a key.
 */

const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null;

/** Microseconds since 1970. */
const toMicros = (time: string): number => Math.round(parseTime(time) * 1000);

const toAgentCall = (call: CallRow): AgentCall => {
  const { id, parent_id, op_name, display_name, started_at, ended_at } = call;
  const kind = textOf(call.attributes?.kind) ?? getKind(call);
  const tool = getTool(call);
  const name = display_name ?? opText(op_name);
  const agent = getAgent(call) ?? (kind === 'agent' ? name : undefined);
  const wait = getWait(call);
  return {
    id,
    parentId: parent_id ?? null,
    name: tool ?? name,
    kind,
    agent:
      agent === undefined
        ? undefined
        : { name: agent, version: textOf(valueAt(call.attributes, 'agent.version')) },
    tool: kind === 'tool' ? (tool ?? name) : null,
    start: toMicros(started_at),
    end: ended_at ? toMicros(ended_at) : undefined,
    isError: getStatus(call) === 'error',
    waitedMs: typeof wait === 'number' ? wait : 0,
  };
};

const costsOf = ({ summary }: CallRow) => summary?.svc?.costs ?? {};

const usageOf = (call: CallRow): OwnUsage => {
  const { usage } = call.summary ?? {};
  const costs = inDollars(costsOf(call));
  return {
    byModel: isObject(usage) ? usage : {},
    costUsd:
      costs.length === 0
        ? null
        : costs.reduce(
            (sum, cost) => sum + cost.prompt_tokens_total_cost + cost.completion_tokens_total_cost,
            0,
          ),
  };
};

/** A trace by agents and tools: an answer of `/trace/agents`. */
export const toTraceAgents = (trace: string, calls: readonly CallRow[]): Answer<'/trace/agents'> => {
  const byId = new Map(calls.map((call) => [call.id, call]));
  const usages = new Map(calls.map((call) => [call.id, usageOf(call)]));
  const { agents, tools } = findAgents(calls.map(toAgentCall), usages);
  const withIds = agents.map(({ agent, named }) => ({
    ...agent,
    id: textOf(valueAt(byId.get(named ?? '')?.attributes, 'agent.id')),
  }));
  return { traces: [{ trace_id: trace, agents: withIds, tools: [...tools] }] };
};

/** What filled the window of a request to a model: an answer of `/call/context`; undefined for any other call. */
export const toContext = (call: CallRow) => {
  const { id, inputs, output, summary } = call;
  const context = divideContext(inputs, sumTokens(summary?.usage), inputCost(costsOf(call)));
  return context && { id, ...context, parts: [...context.parts], tool_calls: calledTools(inputs, output) };
};
