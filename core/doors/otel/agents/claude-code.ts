import { isJsonObject, type JsonObject, type Micros } from '../../../../foundations/wire/index.ts';
import { callIdOf, idFrom } from '../calls.ts';
import type { Counts } from '../conventions/reader.ts';
import { asInputs, get, present, textOf } from '../values.ts';
import type { Fact } from './facts.ts';
import { digestOf, message, type Operation, shown } from './operation.ts';

/*
 * Claude Code tells of each operation by log records, and by spans too if they are switched on. The
 * records name the span around the operation: the turn's, or that of the execution of the tool
 * `Agent` for what a sub-agent does. A request is known by `request_id`, a tool's run by
 * `tool_use_id`, a sub-agent by `agent_id`.
 * Source: https://code.claude.com/docs/en/monitoring-usage, and its versions 2.1 themselves.
 */

const scopePrefix = 'com.anthropic.claude_code';

/** Whether a scope is of Claude Code's telemetry. */
export const isClaudeScope = (scope: { readonly name: string }): boolean =>
  scope.name.startsWith(scopePrefix);

/** Events that are of use. Others are passed over. */
export const claudeEvents: ReadonlySet<string> = new Set(
  [
    'user_prompt',
    'api_request',
    'api_error',
    'assistant_response',
    'tool_decision',
    'tool_result',
    'subagent_completed',
    'compaction',
  ].map((event) => `claude_code.${event}`),
);

const event = {
  prompt: 'claude_code.user_prompt',
  request: 'claude_code.api_request',
  error: 'claude_code.api_error',
  response: 'claude_code.assistant_response',
  decision: 'claude_code.tool_decision',
  result: 'claude_code.tool_result',
  completed: 'claude_code.subagent_completed',
} as const;

const span = {
  turn: 'claude_code.interaction',
  model: 'claude_code.llm_request',
  tool: 'claude_code.tool',
  execution: 'claude_code.tool.execution',
  blocked: 'claude_code.tool.blocked_on_user',
  spawn: 'claude_code.subagent.spawn',
} as const;

/** A compaction of the conversation is told by a record and by a span of one name. */
const compaction = 'claude_code.compaction';

/** Spans within a tool's, which say of the tool what it says itself. */
const withinTool: ReadonlySet<string> = new Set([
  span.execution,
  span.blocked,
  span.spawn,
  'claude_code.mcp.rpc',
  'claude_code.bash.subprocess',
]);

const agentName = 'claude-code';

/** Records of one request or failure, and its span, are at most this far apart: a second. */
const nearMicros = 1_000_000;

const sessionOf = (fact: Fact): string => {
  const text = fact.text('session.id');
  return (text && idFrom(text)) ?? 'unknown';
};

/**
 * Prompts that the program itself makes: `<task-notification>` and others of such names. A person
 * may well begin with a tag of another.
 */
const ofProgram = /^\s*<(?:[a-z]+-)*(?:notification|reminder|message|caveat)[\s>]/;

/** Where requests come from that speak for the main agent. */
const mainSources = /^(?:sdk|main|repl_main_thread)/;

const first = <T>(facts: readonly Fact[], read: (fact: Fact) => T | undefined): T | undefined => {
  for (const fact of facts) {
    const found = read(fact);
    if (found !== undefined) return found;
  }
  return undefined;
};

const startOf = (facts: readonly Fact[]): Micros => Math.min(...facts.map(({ startedAt }) => startedAt));
const endOf = (facts: readonly Fact[]): Micros => Math.max(...facts.map(({ endedAt }) => endedAt));

const named =
  (...names: readonly string[]) =>
  ({ name }: Fact): boolean =>
    names.includes(name);

/** The name of an MCP tool, after that of its server. Records call all of them `mcp_tool`. */
const toolName = (facts: readonly Fact[]): string | undefined => {
  const parameters = first(facts, (fact) => {
    const value = fact.json('tool_parameters');
    return isJsonObject(value) ? value : undefined;
  });
  const server =
    textOf(get(parameters, 'mcp_server_name')) ??
    first(facts, (fact) => fact.text('anthropic.mcp.server.name'));
  const tool =
    textOf(get(parameters, 'mcp_tool_name')) ??
    first(facts.filter(named(span.tool)), (fact) => fact.text('gen_ai.tool.name'));
  if (server !== undefined && tool !== undefined) return `${server}.${tool}`;
  const whole = first(facts.filter(named(span.tool, event.result, event.decision)), (fact) =>
    fact.text('tool_name'),
  );
  const [, ofServer, ofTool] = /^mcp__(.+?)__(.+)$/.exec(whole ?? '') ?? [];
  return ofServer && ofTool ? `${ofServer}.${ofTool}` : whole;
};

/** What `tool_parameters` say of a tool's arguments. Of MCP tools they say the name alone. */
const argumentsIn = (fact: Fact): JsonObject | undefined => {
  const { mcp_server_name, mcp_tool_name, ...parameters } = asInputs(fact.json('tool_parameters')) ?? {};
  return asInputs(parameters) as JsonObject | undefined;
};

/** Names of the tool that starts a sub-agent, now and formerly. */
const spawning: ReadonlySet<string> = new Set(['Agent', 'Task']);

interface Turn {
  readonly id: string;
  readonly traceId: string;
  /** Whether a person asked; not the program itself. */
  readonly isUsers: boolean;
}

/** Facts of one operation, with what it is known by. */
interface Group {
  readonly kind: 'model' | 'tool' | 'other';
  readonly identity: string;
  readonly facts: Fact[];
}

const toolSpanOf = ({ facts }: Group): string | undefined =>
  first(facts, (fact) => {
    if (fact.name === span.tool) return fact.spanId;
    return fact.name === span.execution || fact.name === span.blocked ? fact.parentSpanId : undefined;
  });

const ownSpanOf = (group: Group): string | undefined =>
  group.kind === 'tool'
    ? toolSpanOf(group)
    : first(group.facts, (fact) => (fact.isSpan ? fact.spanId : undefined));

const agentOf = (facts: readonly Fact[]): string | undefined => first(facts, (fact) => fact.text('agent_id'));

/** Gathers facts that are about one request, one run of a tool, or one thing that stands by itself. */
const groupsOf = (facts: readonly Fact[]): Group[] => {
  const groups = new Map<string, Group>();
  const add = (kind: Group['kind'], identity: string, fact: Fact): void => {
    const key = `${kind} ${identity}`;
    const group = groups.get(key) ?? { kind, identity, facts: [] };
    group.facts.push(fact);
    groups.set(key, group);
  };
  // What fails, and compactions, have no id in both a record and a span. Their ends are close.
  const alone: { readonly kind: 'model' | 'other'; readonly fact: Fact }[] = [];
  const toolOfSpan = new Map<string, string>();
  for (const fact of facts) {
    const use = fact.text('tool_use_id');
    const toolSpan = fact.name === span.tool ? fact.spanId : fact.parentSpanId;
    if (use !== undefined && toolSpan !== undefined && named(span.tool, span.execution)(fact))
      toolOfSpan.set(toolSpan, use);
  }
  for (const fact of facts) {
    const use = fact.text('tool_use_id');
    const request = fact.text('request_id');
    switch (fact.name) {
      case event.request:
      case event.response:
      case event.error:
      case span.model:
        if (request !== undefined) add('model', request, fact);
        else alone.push({ kind: 'model', fact });
        break;
      case event.result:
      case event.decision:
      case span.tool:
      case span.execution:
        if (use !== undefined) add('tool', use, fact);
        else if (fact.name === event.result) add('tool', fact.key, fact);
        else if (fact.name === span.tool) add('tool', `span ${fact.spanId}`, fact);
        break;
      case span.blocked: {
        const parent = fact.parentSpanId ?? '';
        add('tool', toolOfSpan.get(parent) ?? `span ${parent}`, fact);
        break;
      }
      case compaction:
        alone.push({ kind: 'other', fact });
        break;
      default:
        if (fact.isSpan && fact.name !== span.turn && !withinTool.has(fact.name))
          add('other', `span ${fact.spanId}`, fact);
    }
  }
  const spans = alone.filter(({ fact }) => fact.isSpan);
  const taken = new Set<Fact>();
  for (const { kind, fact } of alone.filter((each) => !each.fact.isSpan)) {
    const near = spans.filter(
      (each) =>
        each.kind === kind &&
        !taken.has(each.fact) &&
        each.fact.text('model') === fact.text('model') &&
        Math.abs(each.fact.endedAt - fact.endedAt) <= nearMicros,
    );
    const [best] = near.toSorted(
      (a, b) => Math.abs(a.fact.endedAt - fact.endedAt) - Math.abs(b.fact.endedAt - fact.endedAt),
    );
    add(kind, fact.key, fact);
    if (!best) continue;
    taken.add(best.fact);
    add(kind, fact.key, best.fact);
  }
  for (const { kind, fact } of spans) if (!taken.has(fact)) add(kind, `span ${fact.spanId}`, fact);
  return [...groups.values()];
};

/** Finds the turns of some facts, and the turn and the calls around each. */
class Session {
  readonly #spans: ReadonlyMap<string, Fact>;
  /** The span of each prompt's turn. */
  readonly #spanOfPrompt = new Map<string, string>();
  readonly #turnSpans = new Set<string>();
  /** The span that is a sub-agent's run: the execution of the tool that started it. */
  readonly #spanOfAgent = new Map<string, string>();
  readonly #turns = new Map<string, Turn>();
  readonly #facts: readonly Fact[];

  constructor(facts: readonly Fact[]) {
    this.#facts = facts;
    this.#spans = new Map(
      facts.flatMap((fact) =>
        fact.isSpan && fact.spanId !== undefined ? [[fact.spanId, fact] as const] : [],
      ),
    );
    for (const fact of facts) this.#note(fact);
    for (const fact of facts.filter(named(event.prompt, span.turn))) this.#noteTurn(fact);
  }

  #note(fact: Fact): void {
    const { name, isSpan, spanId, parentSpanId } = fact;
    const agent = fact.text('agent_id');
    const promptId = fact.text('prompt.id');
    const isMain = agent === undefined;
    if (name === span.turn && spanId !== undefined) this.#turnSpans.add(spanId);
    if (!isSpan && spanId !== undefined && name !== event.decision) {
      if (isMain) {
        if (promptId !== undefined && (name === event.prompt || !this.#spanOfPrompt.has(promptId)))
          this.#spanOfPrompt.set(promptId, spanId);
        this.#turnSpans.add(spanId);
      } else if (!this.#spanOfAgent.has(agent)) this.#spanOfAgent.set(agent, spanId);
    }
    if (isSpan && parentSpanId !== undefined && named(span.model, span.tool)(fact)) {
      if (!isMain && !this.#spanOfAgent.has(agent)) this.#spanOfAgent.set(agent, parentSpanId);
      if (isMain && !this.#spans.has(parentSpanId)) this.#turnSpans.add(parentSpanId);
    }
  }

  #noteTurn(fact: Fact): void {
    const key = this.#keyOf(fact);
    const turn = key === undefined ? undefined : this.#turn(key, fact);
    if (key === undefined || !turn) return;
    const text = fact.text('prompt') ?? fact.text('user_prompt');
    const isUsers = text === undefined || !ofProgram.test(text);
    this.#turns.set(key, { ...turn, isUsers: isUsers && (this.#turns.get(key)?.isUsers ?? true) });
  }

  #turn(key: string, { traceId }: Fact): Turn {
    const known = this.#turns.get(key);
    if (known) return known;
    const spanId = key.startsWith('span ') ? key.slice(5) : undefined;
    const id = spanId !== undefined && traceId !== undefined ? callIdOf(traceId, spanId) : key;
    return { id, traceId: traceId ?? digestOf(sessionOf(this.#facts[0] as Fact), id), isUsers: true };
  }

  /** What tells a fact's turn from others; undefined if that is not known. */
  #keyOf(fact: Fact): string | undefined {
    const promptId = fact.text('prompt.id');
    if (promptId !== undefined) {
      const spanId = this.#spanOfPrompt.get(promptId);
      return spanId === undefined ? digestOf(sessionOf(fact), `agent ${promptId}`) : `span ${spanId}`;
    }
    for (let at = fact.spanId; at !== undefined; at = this.#spans.get(at)?.parentSpanId)
      if (this.#turnSpans.has(at)) return `span ${at}`;
    if (fact.isSpan || fact.spanId !== undefined) {
      const [only, ...others] = this.#turnSpans;
      return only !== undefined && others.length === 0 ? `span ${only}` : undefined;
    }
    // Older versions name no prompt: the last one before it.
    const before = this.#facts.findLast(
      (each) =>
        each.name === event.prompt && each.endedAt <= fact.endedAt && sessionOf(each) === sessionOf(fact),
    );
    const own = before ?? (fact.name === event.prompt ? fact : undefined);
    return own && digestOf(sessionOf(own), `agent ${own.endedAt}`);
  }

  /** The turn of a fact, whether or not its prompt is known; undefined if the turn is not known. */
  turnOf(fact: Fact): Turn | undefined {
    const key = this.#keyOf(fact);
    return key === undefined ? undefined : this.#turn(key, fact);
  }

  spanOfAgent(agent: string): string | undefined {
    return this.#spanOfAgent.get(agent);
  }

  isSpanOfAgent(spanId: string): boolean {
    return [...this.#spanOfAgent.values()].includes(spanId);
  }

  /** The span that is the call around one: spans within a tool's are none. */
  callAround(spanId: string | undefined): string | undefined {
    let at = spanId;
    for (let fact = at === undefined ? undefined : this.#spans.get(at); fact; ) {
      if (!withinTool.has(fact.name) || (at !== undefined && this.isSpanOfAgent(at))) return at;
      at = fact.parentSpanId;
      fact = at === undefined ? undefined : this.#spans.get(at);
    }
    return at;
  }

  span(spanId: string | undefined): Fact | undefined {
    return spanId === undefined ? undefined : this.#spans.get(spanId);
  }
}

/** A sub-agent's run. */
interface SubAgent {
  readonly id: string;
  readonly agentId: string;
  readonly name: string | undefined;
  readonly facts: readonly Fact[];
}

const claudeCounts = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_creation_tokens'] as const;

const countsOf = (facts: readonly Fact[]): Counts | undefined => {
  const fact = facts
    .filter(named(event.request, span.model))
    .find((each) => each.count('input_tokens') !== undefined);
  if (!fact) return undefined;
  const [input, output, cacheRead, cacheWrite] = claudeCounts.map((key) => fact.count(key));
  return {
    model: fact.text('model') ?? fact.text('gen_ai.request.model'),
    // As Anthropic counts them, cached tokens are beside those of the prompt.
    input: (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output,
    cacheRead,
    cacheWrite,
  };
};

const errorOf = (facts: readonly Fact[]): string | undefined =>
  first([...facts.filter(named(event.error)), ...facts], (fact) => {
    if (fact.name === event.error)
      return [fact.text('status_code'), fact.text('error')].filter(Boolean).join(': ') || 'error';
    if (fact.isSpan ? fact.error === undefined && !fact.failed : !fact.failed) return undefined;
    return fact.text('error') ?? fact.error ?? fact.text('error_type') ?? fact.text('error.type') ?? 'error';
  });

/**
 * Whether an agent is done: the last model that it asked wanted no tool. Nothing says so by itself
 * where there are no spans.
 */
const isDone = (facts: readonly Fact[]): boolean => {
  const asked = facts.findLast(named(event.request, event.error, span.model));
  if (!asked) return false;
  const request = asked.text('request_id');
  return !facts.some(
    (fact) =>
      named(event.decision, event.result, span.tool)(fact) &&
      (fact.endedAt > asked.endedAt || (request !== undefined && fact.text('request_id') === request)),
  );
};

/** What became of a tool that nobody allowed to run. */
const refusalOf = (facts: readonly Fact[]): string | undefined =>
  first(facts.filter(named(event.decision, span.blocked)), (fact) =>
    fact.text('decision') === 'reject'
      ? `not allowed to run: ${fact.text('source') ?? 'rejected'}`
      : undefined,
  );

/** Who decided is a person; settings, hooks and classifiers are none. */
const byPerson = /^user/;

const waitOf = (facts: readonly Fact[]): number =>
  facts
    .filter((fact) => fact.name === span.blocked && byPerson.test(fact.text('source') ?? ''))
    .reduce(
      (sum, fact) => sum + (fact.count('duration_ms') ?? Math.round((fact.endedAt - fact.startedAt) / 1000)),
      0,
    );

/**
 * When a person began to be asked, as far as records show it: the model had answered, and the tools
 * before it had run. undefined if nobody was asked.
 */
const askedAt = (of: readonly Fact[], facts: readonly Fact[]): Micros | undefined => {
  const decision = of.find(
    (fact) => fact.name === event.decision && byPerson.test(fact.text('source') ?? ''),
  );
  if (!decision || of.some(({ name }) => name === span.blocked)) return undefined;
  const agent = decision.text('agent_id');
  const before = facts.filter(
    (fact) =>
      named(event.request, event.result)(fact) &&
      fact.text('agent_id') === agent &&
      sessionOf(fact) === sessionOf(decision) &&
      fact.endedAt <= decision.endedAt,
  );
  return before.length > 0 ? endOf(before) : undefined;
};

const outputOf = (facts: readonly Fact[]): JsonObject['x'] | undefined =>
  first(facts.filter(named(span.tool)), (fact) => {
    const output = fact.events.findLast(({ name }) => name === 'tool.output')?.attributes.get('output');
    return output === undefined ? undefined : (output as JsonObject['x']);
  });

/** Whether there is enough of it to be a call. */
const isCall = ({ kind, facts }: Group): boolean =>
  kind !== 'tool' ||
  facts.some(named(span.tool, span.execution, event.result)) ||
  refusalOf(facts) !== undefined;

/** Makes operations of what Claude Code said in one place. */
export const operationsOfClaudeCode = (facts: readonly Fact[]): Operation[] => {
  const session = new Session(facts);
  const groups = groupsOf(facts).filter(isCall);

  const idOf = (group: Group): string => {
    const spanId = ownSpanOf(group);
    const traceId = first(group.facts, (fact) => fact.traceId);
    if (spanId !== undefined && traceId !== undefined) return callIdOf(traceId, spanId);
    const [fact] = group.facts;
    return digestOf(fact ? sessionOf(fact) : '', `${group.kind} ${group.identity}`);
  };
  const ids = new Map(groups.map((group) => [group, idOf(group)]));

  // Sub-agents
  const spawnedBy = new Map<string, Group>();
  const byAgent = Map.groupBy(
    facts.filter((fact) => fact.text('agent_id') !== undefined && sessionOf(fact) !== fact.text('agent_id')),
    (fact) => fact.text('agent_id') ?? '',
  );
  const spawners = groups.filter(
    (group) => group.kind === 'tool' && spawning.has(toolName(group.facts) ?? ''),
  );
  const typeOf = (group: Group): string | undefined =>
    first(group.facts, (fact) => {
      const input = fact.json('tool_input');
      const parameters = fact.json('tool_parameters');
      return (
        textOf(get(input, 'subagent_type')) ??
        textOf(get(parameters, 'subagent_type')) ??
        fact.text('subagent_type')
      );
    });
  const nameOf = (of: readonly Fact[]): string | undefined =>
    first(of, (fact) => fact.text('agent.name') ?? fact.text('agent_type'));
  const agents = [...byAgent].map(([agentId, of]): SubAgent => {
    const spanId = session.spanOfAgent(agentId);
    const traceId = first(of, (fact) => fact.traceId);
    const [fact] = of;
    return {
      id:
        spanId !== undefined && traceId !== undefined
          ? callIdOf(traceId, spanId)
          : digestOf(fact ? sessionOf(fact) : '', `subagent ${agentId} ${fact?.text('prompt.id') ?? ''}`),
      agentId,
      name: nameOf(of),
      facts: of,
    };
  });
  const free = new Set(spawners);
  const ordered = agents.toSorted(
    (a, b) => startOf(a.facts) - startOf(b.facts) || (a.agentId < b.agentId ? -1 : 1),
  );
  for (const agent of ordered) {
    const toolSpan = session.span(session.spanOfAgent(agent.agentId))?.parentSpanId;
    const found = [...free].find((group) => toolSpan !== undefined && toolSpanOf(group) === toolSpan);
    if (!found) continue;
    spawnedBy.set(agent.agentId, found);
    free.delete(found);
  }
  for (const agent of ordered.filter(({ agentId }) => !spawnedBy.has(agentId))) {
    const caller = first(agent.facts, (fact) => fact.text('parent_agent_id'));
    const found = [...free]
      .filter((group) => caller === undefined || agentOf(group.facts) === caller)
      .filter((group) => agentOf(group.facts) !== agent.agentId)
      .filter((group) => agent.name === undefined || (typeOf(group) ?? agent.name) === agent.name)
      .filter((group) => startOf(group.facts) <= startOf(agent.facts))
      .sort((a, b) => startOf(a.facts) - startOf(b.facts))[0];
    if (!found) continue;
    spawnedBy.set(agent.agentId, found);
    free.delete(found);
  }
  const agentsById = new Map(
    agents.map((agent) => {
      const spawner = spawnedBy.get(agent.agentId);
      return [agent.agentId, { ...agent, name: agent.name ?? (spawner && typeOf(spawner)) }];
    }),
  );

  /** The call of a sub-agent or of the turn, by what a fact says of its agent. */
  const aroundOf = (of: readonly Fact[], turn: Turn | undefined): string | null =>
    agentsById.get(agentOf(of) ?? '')?.id ?? turn?.id ?? null;

  const agentAttribute = (of: readonly Fact[]): JsonObject => {
    const agentId = agentOf(of);
    const sub = agentId === undefined ? undefined : agentsById.get(agentId);
    if (sub) return present({ name: sub.name ?? 'subagent', id: sub.agentId }) as JsonObject;
    const version = first(of, ({ resource }) => textOf(resource.get('service.version')));
    return present({ name: agentName, version }) as JsonObject;
  };

  const common = (of: readonly Fact[], turn: Turn | undefined) => {
    const [fact] = of;
    const threadId = fact ? sessionOf(fact) : 'unknown';
    return {
      threadId,
      turnId: turn?.isUsers ? turn.id : null,
      traceId: first(of, (each) => each.traceId) ?? turn?.traceId ?? digestOf(threadId, ''),
      agent: agentAttribute(of),
      facts: of,
    };
  };
  const turnOf = (of: readonly Fact[]): Turn | undefined => first(of, (fact) => session.turnOf(fact));

  const operations = groups.map((group): Operation => {
    const { kind } = group;
    const turn = turnOf(group.facts);
    const spanId = ownSpanOf(group);
    const parent = session.callAround(session.span(spanId)?.parentSpanId);
    const traceId = first(group.facts, (fact) => fact.traceId);
    const spans = group.facts.filter((fact) => fact.isSpan && fact.spanId === spanId);
    const [whole] = spans;
    const timed = kind === 'tool' ? group.facts.filter(({ name }) => name !== event.decision) : group.facts;
    const times = whole ? spans : timed.length > 0 ? timed : group.facts;
    const error = errorOf(group.facts);
    const base = {
      ...common(group.facts, turn),
      id: ids.get(group) ?? '',
      parentId:
        parent !== undefined && traceId !== undefined
          ? callIdOf(traceId, parent)
          : aroundOf(group.facts, turn),
      startedAt: startOf(times),
      endedAt: endOf(times),
    };
    if (kind === 'model') {
      const cost = first(group.facts, (fact) => {
        const value = Number(fact.attributes.get('cost_usd') ?? Number.NaN);
        return Number.isFinite(value) ? value : undefined;
      });
      const model = first(group.facts, (fact) => fact.text('model') ?? fact.text('gen_ai.request.model'));
      const text = first(group.facts.filter(named(event.response)), (fact) => shown(fact.text('response')));
      return {
        ...base,
        kind: 'model',
        opName: span.model,
        name: model,
        inputs: present({ model }) as JsonObject | undefined,
        output: message('assistant', text) ?? null,
        exception: error,
        counts: countsOf(group.facts),
        ...(cost !== undefined && { summary: { cost_usd: cost } }),
        used: [
          'model',
          'response',
          'error',
          'status_code',
          'cost_usd',
          'gen_ai.request.model',
          ...claudeCounts,
        ],
      };
    }
    if (kind === 'tool') {
      const name = toolName(group.facts);
      const input = first(
        [...group.facts.filter(named(event.result)), ...group.facts],
        (fact) => asInputs(fact.json('tool_input')) ?? undefined,
      );
      const parameters = first(group.facts, argumentsIn);
      const asked = askedAt(group.facts, facts);
      const decided = group.facts.find(named(event.decision))?.endedAt;
      const waited =
        asked === undefined || decided === undefined
          ? waitOf(group.facts)
          : Math.round((decided - asked) / 1000);
      const output = outputOf(group.facts);
      const ran = group.facts.some(named(event.result, span.execution));
      return {
        ...base,
        startedAt: whole ? base.startedAt : Math.min(base.startedAt, asked ?? base.startedAt),
        kind: 'tool',
        opName: span.tool,
        name,
        tool: name,
        inputs: (input as JsonObject | undefined) ?? parameters,
        output: output ?? null,
        exception: error ?? (ran ? undefined : refusalOf(group.facts)),
        ...(waited > 0 && { summary: { waited_ms: waited } }),
        used: ['tool_input', 'tool_parameters', 'error', 'output'],
      };
    }
    const opName = group.facts[0]?.name ?? compaction;
    return {
      ...base,
      kind: 'other',
      opName,
      name: first(group.facts, (fact) => fact.text('hook_name')) ?? opName.replace('claude_code.', ''),
      exception: error,
      used: ['error'],
    };
  });

  const responses = facts.filter(named(event.response));
  const answerOf = (of: readonly Fact[]): string | undefined => shown(of.at(-1)?.text('response'));

  const subAgents = [...agentsById.values()].map((agent): Operation => {
    const own = session.span(session.spanOfAgent(agent.agentId));
    const spawner = spawnedBy.get(agent.agentId);
    const turn = turnOf(agent.facts);
    const caller = first(agent.facts, (fact) => fact.text('parent_agent_id'));
    const toolSpan = session.callAround(own?.parentSpanId);
    const input = spawner && first(spawner.facts, (fact) => asInputs(fact.json('tool_input')));
    const question = shown(textOf(get(input, 'prompt')));
    const completed = agent.facts.filter(named(event.completed));
    const about = completed.length > 0 ? completed : agent.facts.slice(0, 1);
    const times = own ? [own, ...agent.facts] : agent.facts;
    return {
      ...common(agent.facts, turn),
      facts: about,
      id: agent.id,
      kind: 'agent',
      opName: 'claude_code.subagent',
      name: agent.name,
      parentId:
        toolSpan !== undefined && own?.traceId !== undefined
          ? callIdOf(own.traceId, toolSpan)
          : ((spawner && ids.get(spawner)) ?? agentsById.get(caller ?? '')?.id ?? turn?.id ?? null),
      startedAt: startOf(times),
      endedAt: completed.length > 0 || isDone(agent.facts) ? endOf(times) : undefined,
      inputs: message('user', question),
      output: message(
        'assistant',
        answerOf(responses.filter((fact) => fact.text('agent_id') === agent.agentId)),
      ),
      exception: errorOf(completed),
      used:
        completed.length > 0
          ? ['model', 'error']
          : [...about.flatMap(({ attributes }) => [...attributes.keys()])].filter((key) => !shared.has(key)),
    };
  });

  const turns = Map.groupBy(
    facts.filter(named(event.prompt, span.turn)),
    (fact) => session.turnOf(fact)?.id ?? '',
  );
  const prompts = [...turns].flatMap(([id, of]): Operation[] => {
    const turn = turnOf(of);
    if (!turn) return [];
    const below = facts.filter((fact) => agentOf([fact]) === undefined && session.turnOf(fact)?.id === id);
    const whole = of.filter(({ isSpan }) => isSpan);
    const later = below.filter((fact) => !of.includes(fact));
    const prompt = first(of, (fact) => shown(fact.text('prompt') ?? fact.text('user_prompt')));
    const said = responses.filter((fact) => below.includes(fact));
    const main = said.filter((fact) => mainSources.test(fact.text('query_source') ?? 'main'));
    const times = whole.length > 0 ? whole : of;
    return [
      {
        ...common(of, turn),
        id,
        kind: 'agent',
        opName: span.turn,
        name: agentName,
        parentId: parentOfTurn(whole),
        startedAt: startOf(times),
        endedAt: whole.length > 0 ? endOf(whole) : isDone(later) ? endOf(later) : undefined,
        inputs: message('user', prompt),
        output: message('assistant', answerOf(main.length > 0 ? main : said)) ?? null,
        exception: whole.length > 0 ? errorOf(whole) : undefined,
        used: ['prompt', 'prompt_text', 'user_prompt'],
      },
    ];
  });
  return [...prompts, ...subAgents, ...operations];
};

/** Attributes of a sub-agent's operation that hold for the sub-agent, too. */
const shared: ReadonlySet<string> = new Set([
  'session.id',
  'user.id',
  'user.email',
  'organization.id',
  'prompt.id',
  'agent_id',
]);

/** The call around a turn: that of a traced program that runs the agent. */
const parentOfTurn = (spans: readonly Fact[]): string | null =>
  first(spans, ({ traceId, parentSpanId }) =>
    traceId !== undefined && parentSpanId !== undefined ? callIdOf(traceId, parentSpanId) : undefined,
  ) ?? null;
