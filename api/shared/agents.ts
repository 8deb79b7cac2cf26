import type { TraceAgents } from '../traces.ts';
import { readTokens, type Tokens } from './usage.ts';
import { isObject } from './values.ts';

/*
 * Which agents worked in a trace, what each did and used, and who handed over to whom. The service adds up what
 * headers say, and the page what a public link brought.
 */

/** An agent, as calls name it. */
export interface AgentName {
  readonly name: string;
  readonly version: string | null;
}

/** A call of a trace, as far as it tells of agents and tools. Times are in microseconds since 1970. */
export interface AgentCall {
  readonly id: string;
  readonly parentId: string | null;
  /** That of its tool, or else its own. */
  readonly name: string;
  readonly kind: string | undefined;
  /** The agent that it names itself; undefined if that is for the calls above it to say. */
  readonly agent: AgentName | undefined;
  /** The tool that was called; null for a call of no tool. */
  readonly tool: string | null;
  readonly start: number;
  /** Undefined while it runs. */
  readonly end: number | undefined;
  readonly isError: boolean;
  readonly waitedMs: number;
}

/** What a call used, and what that cost in US dollars; null without a price. */
export interface OwnUsage {
  readonly byModel: Readonly<Record<string, unknown>>;
  readonly costUsd: number | null;
}

type Agent = TraceAgents['agents'][number];
type Tool = TraceAgents['tools'][number];

/** An agent, or with null what is outside of agents. */
interface KeyedAgent {
  readonly name: string | null;
  readonly version: string | null;
  /** What tells it from others. */
  readonly key: string;
}

const toKeyed = ({ name, version }: Pick<KeyedAgent, 'name' | 'version'>): KeyedAgent => ({
  name,
  version,
  key: JSON.stringify([name, version]),
});

const outside = toKeyed({ name: null, version: null });

/** A call of a trace, with its agent. */
interface Member {
  readonly call: AgentCall;
  readonly parent: Member | undefined;
  readonly agent: KeyedAgent;
}

/** A stretch in which an agent ran, in microseconds since 1970. */
type Stretch = readonly [start: number, end: number];

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
const toMembers = (calls: readonly AgentCall[]): Member[] => {
  const byId = new Map(calls.map((call) => [call.id, call]));
  const members = new Map<string, Member>();
  for (const call of calls) {
    // The calls above it that are not known yet, the nearest first.
    const above: AgentCall[] = [];
    const met = new Set<string>();
    for (let at: AgentCall | undefined = call; at && !members.has(at.id) && !met.has(at.id); ) {
      met.add(at.id);
      above.push(at);
      at = byId.get(at.parentId ?? '');
    }
    for (const member of above.reverse()) {
      const parent = members.get(member.parentId ?? '');
      const agent = member.agent ? toKeyed(member.agent) : (parent?.agent ?? outside);
      members.set(member.id, { call: member, parent, agent });
    }
  }
  return [...members.values()];
};

const byStart = (a: Member, b: Member): number => a.call.start - b.call.start;

/** Calls by which an agent gives control to another, by what frameworks call them. */
const handsOver = ({ call }: Member): boolean =>
  /^(?:execute_tool )?(?:hand[-_ ]?off|transfer_to_)/i.test(call.name);

/**
 * Who handed over to the runs of agents that begin beside the agent before: the hand-off that came last before
 * each. A hand-off leads to one run.
 */
const handOffs = (members: readonly Member[], runs: readonly Member[]): Map<Member, KeyedAgent> => {
  const found = new Map<Member, KeyedAgent>();
  const inOrder = runs.toSorted(byStart);
  for (const handOff of members.filter(handsOver).sort(byStart)) {
    const { start } = handOff.call;
    const next = inOrder.find(
      (run) => !found.has(run) && run.call.start >= start && run.agent.key !== handOff.agent.key,
    );
    if (next && handOff.agent.name !== null) found.set(next, handOff.agent);
  }
  return found;
};

/** Where an agent begins to run: a call whose parent is another's, or nobody's. */
const isRun = ({ agent, parent }: Member): boolean =>
  agent.name !== null && (!parent || parent.agent.key !== agent.key);

const stretchOf = ({ call: { start, end } }: Member): Stretch | undefined =>
  end === undefined ? undefined : [start, end];

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

const newAgent = ({ name, version }: KeyedAgent): Agent => ({
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

const addCall = (agent: Agent, { call }: Member, used: OwnUsage | undefined): void => {
  agent.calls++;
  if (call.isError) agent.errors++;
  if (call.kind === 'tool') agent.tool_calls++;
  agent.waited_ms += call.waitedMs;
  const models = Object.values(used?.byModel ?? {})
    .filter(isObject)
    .map((own) => readTokens(own));
  for (const tokens of models) addTokens(agent.usage, tokens);
  // A request that failed, or that runs, has no usage.
  agent.model_requests +=
    models.length > 0
      ? models.reduce((sum, { requests }) => sum + requests, 0)
      : Number(call.kind === 'model');
  if (used && used.costUsd !== null) agent.cost_usd = (agent.cost_usd ?? 0) + used.costUsd;
};

const toTools = (members: readonly Member[]): Tool[] => {
  const tools = new Map<string, { -readonly [K in keyof Tool]: Tool[K] }>();
  for (const { call } of members) {
    const { tool: name, start, end = start, isError } = call;
    if (name === null) continue;
    const tool = tools.get(name) ?? { name, calls: 0, errors: 0, total_ms: 0 };
    tools.set(name, tool);
    tool.calls++;
    if (isError) tool.errors++;
    tool.total_ms += (end - start) / 1000;
  }
  return [...tools.values()].map((tool) => ({ ...tool, total_ms: Math.round(tool.total_ms) }));
};

/** An agent of a trace, with the id of the call that names it first: its attributes have the agent's id. */
interface FoundAgent {
  readonly agent: Agent;
  readonly named: string | undefined;
}

/** What the calls of one trace say of its agents and tools. */
interface FoundAgents {
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
  calls: readonly AgentCall[],
  usages: ReadonlyMap<string, OwnUsage>,
): FoundAgents => {
  const members = toMembers(calls);
  const runs = members.filter(isRun);
  const given = handOffs(members, runs);
  const times = ownTimes(runs);
  const agents = new Map<string, { readonly agent: Agent; named: string | undefined }>();
  const calledBy = new Map<string, Map<string | null, number>>();
  for (const member of members) {
    const { key } = member.agent;
    const found = agents.get(key) ?? { agent: newAgent(member.agent), named: undefined };
    agents.set(key, found);
    if (member.call.agent) found.named ??= member.call.id;
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
