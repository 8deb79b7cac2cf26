import { findAgents, type OwnUsage } from '../../../api/shared/agents.ts';
import {
  type Context,
  calledTools,
  divideContext,
  inDollars,
  inputCost,
  sumTokens,
} from '../../../api/shared/context.ts';
import type { CallContext, TraceAgents } from '../../../api/traces.ts';
import { mapConcurrent, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import {
  invalidAt,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  notFound,
  type ProjectId,
} from '../../../foundations/wire/index.ts';
import {
  type CallHeader,
  foldCall,
  PayloadReader,
  readCall,
  readParts,
  type StoredCall,
} from '../../records/calls/index.ts';
import { type Costs, sumCost } from '../../records/costs/index.ts';
import type { Lookups } from '../query/index.ts';
import { readTrace, readUsages } from '../stats/index.ts';
import { toAgentCall } from './agents.ts';

/** How many traces are read at once. */
const concurrency = 8;

/** The id of the agent that a call's attributes name. */
const agentId = (attributes: string): string | null => {
  const { agent } = JSON.parse(attributes) as { agent?: JsonValue };
  const id = isJsonObject(agent ?? null) ? (agent as JsonObject).id : null;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : null;
};

/**
 * Adds up traces by agents and tools. Of each agent one payload is read, for its id; else headers tell all.
 *
 * @returns those that have calls, in the order of their ids
 * @throws ServiceError 503 when storage does not give something in time
 */
export const readTraceAgents = async (
  store: Store,
  projectId: ProjectId,
  traceIds: readonly string[],
  budget: RequestBudget,
  lookups: Pick<Lookups, 'costs'>,
): Promise<TraceAgents[]> => {
  const computeCosts = await lookups.costs(projectId, budget);
  const payloads = new PayloadReader(store, projectId, budget);
  const price = (byModel: JsonObject, startedAt: Micros): OwnUsage => {
    const costs = inDollars(computeCosts(byModel, startedAt) as Costs);
    return {
      byModel,
      costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + sumCost(cost), 0),
    };
  };
  const traces = await mapConcurrent(traceIds, concurrency, async (traceId) => {
    const calls = await readTrace(store, projectId, traceId, budget);
    if (calls.length === 0) return [];
    const usages = await readUsages(store, projectId, calls, budget);
    const starts = new Map(calls.map(({ id, start }) => [id, start.startedAt]));
    const priced = new Map(
      [...usages].map(([id, usage]) => [id, price(usage, starts.get(id) ?? 0)] as const),
    );
    const { agents, tools } = findAgents(calls.map(toAgentCall), priced);
    const byId = new Map(calls.map((call) => [call.id, call]));
    const read = await payloads.read(agents.flatMap(({ named }) => byId.get(named ?? '') ?? []));
    const ids = new Map(read.map(({ header, payload }) => [header.id, agentId(payload.attributes)]));
    return {
      trace_id: traceId,
      agents: agents.map(({ agent, named }) => ({ ...agent, id: (named && ids.get(named)) ?? null })),
      tools: [...tools],
    };
  });
  return traces.flat();
};

type ComputeCosts = Awaited<ReturnType<Lookups['costs']>>;

const contextOf = ({ payload, header }: StoredCall, computeCosts: ComputeCosts): Context | undefined => {
  const { usage = null } = JSON.parse(payload.summary) as { usage?: JsonValue };
  const used = isJsonObject(usage) ? usage : {};
  const costs = computeCosts(used, header.start.startedAt) as Costs;
  return divideContext(JSON.parse(payload.inputs), sumTokens(used), inputCost(costs));
};

/**
 * Tells how the input tokens of a request to a model divide.
 *
 * @throws ServiceError 404 for an unknown call; 422 for one that is no request to a model
 */
export const readContext = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
  lookups: Pick<Lookups, 'costs'>,
): Promise<Context> => {
  const [call, computeCosts] = await Promise.all([
    readCall(store, projectId, id, budget),
    lookups.costs(projectId, budget),
  ]);
  if (!call) throw notFound(['body', 'id'], 'there is no such call in this project, or no start of it yet');
  const context = contextOf(call, computeCosts);
  if (context) return context;
  throw invalidAt(
    ['body', 'id'],
    'is no request to a model: it has no messages and no usage. Ask for a model call below it',
  );
};

/** So many bytes of payloads are in memory at once, about. */
const windowBytes = 16 * 1024 * 1024;

const bytesOf = ({ start, end }: CallHeader): number => start.payload.length + (end?.payload.length ?? 0);

/** Calls in stretches whose payloads are read together. */
const inWindows = (calls: readonly CallHeader[]): CallHeader[][] => {
  const windows: CallHeader[][] = [];
  let left = 0;
  for (const call of calls) {
    left -= bytesOf(call);
    const last = windows.at(-1);
    if (last && left >= 0) last.push(call);
    else {
      windows.push([call]);
      left = windowBytes - bytesOf(call);
    }
  }
  return windows;
};

/**
 * Tells how the inputs of several requests divide, and which tools their answers call. Reads may miss a call
 * of the last milliseconds.
 *
 * @param ids without duplicates
 * @returns those that are requests to models, in the order of their ids
 * @throws ServiceError 503 when storage does not give something in time
 */
export const readContexts = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
  lookups: Pick<Lookups, 'costs'>,
): Promise<CallContext[]> => {
  const [parts, computeCosts] = await Promise.all([
    readParts(store, projectId, ids, ['S', 'E'], budget, { consistent: false }),
    lookups.costs(projectId, budget),
  ]);
  const byId = Map.groupBy(parts, ({ id }) => id);
  // Calls that are near in time share segments, which the reader keeps for a while.
  const calls = [...byId]
    .flatMap(([id, own]) => foldCall({ projectId, id }, own) ?? [])
    .sort((a, b) => a.start.startedAt - b.start.startedAt);
  const payloads = new PayloadReader(store, projectId, budget);
  const found = new Map<string, CallContext>();
  for (const window of inWindows(calls))
    for (const call of await payloads.read(window)) {
      const context = contextOf(call, computeCosts);
      if (!context) continue;
      const { inputs, output } = call.payload;
      const tools = calledTools(JSON.parse(inputs), JSON.parse(output));
      found.set(call.header.id, {
        id: call.header.id,
        ...context,
        parts: [...context.parts],
        tool_calls: tools,
      });
    }
  return ids.flatMap((id) => found.get(id) ?? []);
};
