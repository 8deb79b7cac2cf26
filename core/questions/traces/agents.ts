import { guessKindByName } from '../../../api/shared/header-fields.ts';
import { readTokens, type Tokens } from '../../../api/shared/usage.ts';
import type { TraceAgents } from '../../../api/traces.ts';
import type { JsonObject, Micros } from '../../../foundations/wire/index.ts';
import { isJsonObject } from '../../../foundations/wire/index.ts';
import { type CallHeader, shortAttribute, traceName } from '../../records/calls/index.ts';

/*
 * Which agents worked in a trace, what each did and used, and who handed over to whom. Pure: it takes the
 * headers of the calls, which tell all of it but the ids of agents.
 */

/** An agent, as calls name it; null stands for what is outside of agents. */
interface AgentName {
  readonly name: string | null;
  readonly version: string | null;
  /** What tells it from others. */
  readonly key: string;
}

/** What a call used, and what that cost in US dollars; null without a price. */
export interface OwnUsage {
  readonly byModel: JsonObject;
  readonly costUsd: number | null;
}

type Agent = TraceAgents['agents'][number];
type Tool = TraceAgents['tools'][number];

const toAgent = (name: string | null, version: string | null): AgentName => ({
  name,
  version,
  key: JSON.stringify([name, version]),
});

const outside = toAgent(null, null);

/** What a call stands for: what it says, or what its name and its usage suggest. */
export const kindOf = (call: CallHeader): string | undefined => {
  const { start, end } = call;
  const said = shortAttribute(start, 'kind');
  if (said !== null) return said;
  if (shortAttribute(start, 'tool.name') !== null) return 'tool';
  return guessKindByName(traceName(call)) ?? (end?.usage ? 'model' : undefined);
};

/** The agent that a call names itself; undefined if that is for the calls above it to say. */
export const ownAgent = (call: CallHeader, kind: string | undefined): AgentName | undefined => {
  const name = shortAttribute(call.start, 'agent.name') ?? (kind === 'agent' ? traceName(call) : null);
  return name === null ? undefined : toAgent(name, shortAttribute(call.start, 'agent.version'));
};

/** The name of the tool that was called; null for a call of no tool. */
export const toolOf = (call: CallHeader, kind = kindOf(call)): string | null =>
  kind === 'tool' ? (shortAttribute(call.start, 'tool.name') ?? traceName(call)) : null;

/** A call of a trace, with its agent. */
interface Member {
  readonly call: CallHeader;
  readonly kind: string | undefined;
  readonly parent: Member | undefined;
  readonly agent: AgentName;
  /** Whether it names the agent itself. */
  readonly isNaming: boolean;
}

/** A stretch in which an agent ran, in microseconds since 1970. */
type Stretch = readonly [start: Micros, end: Micros];

/** How long stretches are together. Where they overlap counts once. */
const lengthOf = (stretches: readonly Stretch[]): number => {
  let sum = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const [start, end] of stretches.toSorted(([a], [b]) => a - b)) {
    if (end <= until) continue;
    sum += end - Math.max(start, until);
    until = end;
  }
  return sum;
};

const within = ([start, end]: Stretch, [from, to]: Stretch): Stretch[] => {
  const cut = [Math.max(start, from), Math.min(end, to)] as const;
  return cut[0] < cut[1] ? [cut] : [];
};

/** Finds the parents and the agents of calls. Parents that form a circle, or are elsewhere, count as none. */
const toMembers = (calls: readonly CallHeader[]): Member[] => {
  const byId = new Map(calls.map((call) => [call.id, call]));
  const members = new Map<string, Member>();
  for (const call of calls) {
    // The calls above it that are not known yet, the nearest first.
    const above: CallHeader[] = [];
    const met = new Set<string>();
    for (let at: CallHeader | undefined = call; at && !members.has(at.id) && !met.has(at.id); ) {
      met.add(at.id);
      above.push(at);
      at = at.start.parentId === null ? undefined : byId.get(at.start.parentId);
    }
    for (const member of above.reverse()) {
      const kind = kindOf(member);
      const parent = member.start.parentId === null ? undefined : members.get(member.start.parentId);
      const own = ownAgent(member, kind);
      const agent = own ?? parent?.agent ?? outside;
      members.set(member.id, { call: member, kind, parent, agent, isNaming: own !== undefined });
    }
  }
  return [...members.values()];
};

const byStart = (a: Member, b: Member): number => a.call.start.startedAt - b.call.start.startedAt;

/** Calls by which an agent gives control to another, by what frameworks call them. */
const handsOver = ({ call }: Member): boolean =>
  /^(?:execute_tool )?(?:hand[-_ ]?off|transfer_to_)/i.test(
    shortAttribute(call.start, 'tool.name') ?? traceName(call),
  );

/**
 * Who handed over to the runs of agents that begin beside the agent before: the hand-off that came last before
 * each. A hand-off leads to one run.
 */
const handOffs = (members: readonly Member[], runs: readonly Member[]): Map<Member, AgentName> => {
  const found = new Map<Member, AgentName>();
  const inOrder = runs.toSorted(byStart);
  for (const handOff of members.filter(handsOver).sort(byStart)) {
    const { startedAt } = handOff.call.start;
    const next = inOrder.find(
      (run) =>
        !found.has(run) && run.call.start.startedAt >= startedAt && run.agent.key !== handOff.agent.key,
    );
    if (next && handOff.agent.name !== null) found.set(next, handOff.agent);
  }
  return found;
};

/** Where an agent begins to run: a call whose parent is another's, or nobody's. */
const isRun = ({ agent, parent }: Member): boolean =>
  agent.name !== null && (!parent || parent.agent.key !== agent.key);

const stretchOf = ({ call: { start, end } }: Member): Stretch | undefined =>
  end ? [start.startedAt, end.endedAt] : undefined;

/** How long agents ran themselves, by key: their runs without those of other agents below, in microseconds. */
const ownTimes = (runs: readonly Member[]): Map<string, number> => {
  // The nearest runs below each: those of other agents that it called.
  const below = new Map<Member, Stretch[]>();
  const isARun = new Set(runs);
  for (const run of runs) {
    const stretch = stretchOf(run);
    let above = run.parent;
    while (above && !isARun.has(above)) above = above.parent;
    if (above && stretch) below.set(above, [...(below.get(above) ?? []), stretch]);
  }
  const times = new Map<string, number>();
  for (const run of runs) {
    const stretch = stretchOf(run);
    if (!stretch) continue;
    const others = (below.get(run) ?? []).flatMap((other) => within(other, stretch));
    const own = lengthOf([stretch]) - lengthOf(others);
    times.set(run.agent.key, (times.get(run.agent.key) ?? 0) + own);
  }
  return times;
};

const newAgent = ({ name, version }: AgentName): Agent => ({
  name,
  id: null,
  version,
  calls: 0,
  model_requests: 0,
  tool_calls: 0,
  errors: 0,
  usage: {
    input_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
  },
  cost_usd: null,
  own_ms: 0,
  waited_ms: 0,
  called_by: [],
});

const addTokens = (usage: Agent['usage'], tokens: Tokens): void => {
  usage.input_tokens += tokens.prompt;
  usage.cache_read_tokens += tokens.cacheRead;
  usage.cache_write_tokens += tokens.cacheWrite;
  usage.output_tokens += tokens.completion;
  usage.reasoning_tokens += tokens.reasoning;
};

const addCall = (agent: Agent, { call, kind }: Member, used: OwnUsage | undefined): void => {
  agent.calls++;
  if (call.end?.status === 'error') agent.errors++;
  if (kind === 'tool') agent.tool_calls++;
  if (typeof call.end?.waited === 'number') agent.waited_ms += call.end.waited;
  const models = Object.values(used?.byModel ?? {})
    .filter(isJsonObject)
    .map((own) => readTokens(own));
  for (const tokens of models) addTokens(agent.usage, tokens);
  // A request that failed, or that runs, has no usage.
  agent.model_requests +=
    models.length > 0 ? models.reduce((sum, { requests }) => sum + requests, 0) : Number(kind === 'model');
  if (used && used.costUsd !== null) agent.cost_usd = (agent.cost_usd ?? 0) + used.costUsd;
};

const toTools = (members: readonly Member[]): Tool[] => {
  const tools = new Map<string, { -readonly [K in keyof Tool]: Tool[K] }>();
  for (const { call, kind } of members) {
    const { start, end } = call;
    const name = toolOf(call, kind);
    if (name === null) continue;
    const tool = tools.get(name) ?? { name, calls: 0, errors: 0, total_ms: 0 };
    tools.set(name, tool);
    tool.calls++;
    if (end?.status === 'error') tool.errors++;
    if (end) tool.total_ms += (end.endedAt - start.startedAt) / 1000;
  }
  return [...tools.values()].map((tool) => ({ ...tool, total_ms: Math.round(tool.total_ms) }));
};

/** An agent of a trace, with the call that names it first: its payload has the agent's id. */
export interface FoundAgent {
  readonly agent: Agent;
  readonly named: CallHeader | undefined;
}

/** What the calls of one trace say of its agents and tools. */
export interface FoundAgents {
  /** In the order in which they began. */
  readonly agents: readonly FoundAgent[];
  readonly tools: readonly Tool[];
}

/**
 * Adds up a trace by agents and tools.
 *
 * @param calls of the trace, in the order of their start
 * @param usages what each call used itself, by its id
 */
export const findAgents = (
  calls: readonly CallHeader[],
  usages: ReadonlyMap<string, OwnUsage>,
): FoundAgents => {
  const members = toMembers(calls);
  const runs = members.filter(isRun);
  const given = handOffs(members, runs);
  const times = ownTimes(runs);
  const agents = new Map<string, { readonly agent: Agent; named: CallHeader | undefined }>();
  const calledBy = new Map<string, Map<string | null, number>>();
  for (const member of members) {
    const { key } = member.agent;
    const found = agents.get(key) ?? { agent: newAgent(member.agent), named: undefined };
    agents.set(key, found);
    if (member.isNaming) found.named ??= member.call;
    addCall(found.agent, member, usages.get(member.call.id));
  }
  for (const run of runs) {
    const caller = given.get(run) ?? run.parent?.agent;
    if (!caller) continue;
    const { key } = run.agent;
    const counts = calledBy.get(key) ?? new Map<string | null, number>();
    calledBy.set(key, counts.set(caller.name, (counts.get(caller.name) ?? 0) + 1));
  }
  return {
    agents: [...agents].map(([key, { agent, named }]) => ({
      agent: {
        ...agent,
        own_ms: Math.round((times.get(key) ?? 0) / 1000),
        called_by: [...(calledBy.get(key) ?? [])].map(([name, count]) => ({ name, count })),
      },
      named,
    })),
    tools: toTools(members),
  };
};
