import { type JsonObject, nonEmptyString } from '../../../../../foundations/wire/index.ts';
import { toCallId } from '../../span.ts';
import { asInputs, get, present } from '../../values.ts';
import type { Fact } from '../facts.ts';
import { hashParts, message, type Operation, shown } from '../operation.ts';
import { findOwnSpan, findToolSpan, type Group, toGroups } from './groups.ts';
import {
  argumentsIn,
  askedAt,
  claudeCounts,
  isDone,
  readCounts,
  readError,
  readOutput,
  readRefusal,
  sumWaits,
  toolName,
} from './readings.ts';
import { Session, type Turn } from './session.ts';
import {
  compaction,
  event,
  first,
  getAgent,
  getEnd,
  getSession,
  getStart,
  named,
  span,
} from './telemetry.ts';

export { claudeEvents, isClaudeScope } from './telemetry.ts';

const agentName = 'claude-code';

/** Where requests come from that speak for the main agent. */
const mainSources = /^(?:sdk|main|repl_main_thread)/;

/** Names of the tool that starts a sub-agent, now and formerly. */
const spawning: ReadonlySet<string> = new Set(['Agent', 'Task']);

/** A sub-agent's run. */
interface SubAgent {
  readonly id: string;
  readonly agentId: string;
  readonly name: string | undefined;
  readonly facts: readonly Fact[];
}

/** Whether there is enough of it to be a call. */
const isCall = ({ kind, facts }: Group): boolean =>
  kind !== 'tool' ||
  facts.some(named(span.tool, span.execution, event.result)) ||
  readRefusal(facts) !== undefined;

/** Makes operations of what Claude Code said in one place. */
export const operationsOfClaudeCode = (facts: readonly Fact[]): Operation[] => {
  const session = new Session(facts);
  const groups = toGroups(facts).filter(isCall);

  const getId = (group: Group): string => {
    const spanId = findOwnSpan(group);
    const traceId = first(group.facts, (fact) => fact.traceId);
    if (spanId !== undefined && traceId !== undefined) return toCallId(traceId, spanId);
    const [fact] = group.facts;
    return hashParts(fact ? getSession(fact) : '', `${group.kind} ${group.identity}`);
  };
  const ids = new Map(groups.map((group) => [group, getId(group)]));

  // Sub-agents
  const spawnedBy = new Map<string, Group>();
  const byAgent = Map.groupBy(
    facts.filter((fact) => fact.text('agent_id') !== undefined && getSession(fact) !== fact.text('agent_id')),
    (fact) => fact.text('agent_id') ?? '',
  );
  const spawners = groups.filter(
    (group) => group.kind === 'tool' && spawning.has(toolName(group.facts) ?? ''),
  );
  const getAgentType = (group: Group): string | undefined =>
    first(group.facts, (fact) => {
      const input = fact.json('tool_input');
      const parameters = fact.json('tool_parameters');
      return (
        nonEmptyString(get(input, 'subagent_type')) ??
        nonEmptyString(get(parameters, 'subagent_type')) ??
        fact.text('subagent_type')
      );
    });
  const getAgentName = (facts: readonly Fact[]): string | undefined =>
    first(facts, (fact) => fact.text('agent.name') ?? fact.text('agent_type'));
  const agents = [...byAgent].map(([agentId, agentFacts]): SubAgent => {
    const spanId = session.spanOfAgent(agentId);
    const traceId = first(agentFacts, (fact) => fact.traceId);
    const [fact] = agentFacts;
    return {
      id:
        spanId !== undefined && traceId !== undefined
          ? toCallId(traceId, spanId)
          : hashParts(fact ? getSession(fact) : '', `subagent ${agentId} ${fact?.text('prompt.id') ?? ''}`),
      agentId,
      name: getAgentName(agentFacts),
      facts: agentFacts,
    };
  });
  const free = new Set(spawners);
  const ordered = agents.toSorted(
    (a, b) => getStart(a.facts) - getStart(b.facts) || (a.agentId < b.agentId ? -1 : 1),
  );
  for (const agent of ordered) {
    const toolSpan = session.span(session.spanOfAgent(agent.agentId))?.parentSpanId;
    const found = [...free].find((group) => toolSpan !== undefined && findToolSpan(group) === toolSpan);
    if (!found) continue;
    spawnedBy.set(agent.agentId, found);
    free.delete(found);
  }
  for (const agent of ordered.filter(({ agentId }) => !spawnedBy.has(agentId))) {
    const caller = first(agent.facts, (fact) => fact.text('parent_agent_id'));
    const found = [...free]
      .filter((group) => caller === undefined || getAgent(group.facts) === caller)
      .filter((group) => getAgent(group.facts) !== agent.agentId)
      .filter((group) => agent.name === undefined || (getAgentType(group) ?? agent.name) === agent.name)
      .filter((group) => getStart(group.facts) <= getStart(agent.facts))
      .sort((a, b) => getStart(a.facts) - getStart(b.facts))[0];
    if (!found) continue;
    spawnedBy.set(agent.agentId, found);
    free.delete(found);
  }
  const agentsById = new Map(
    agents.map((agent) => {
      const spawner = spawnedBy.get(agent.agentId);
      return [agent.agentId, { ...agent, name: agent.name ?? (spawner && getAgentType(spawner)) }];
    }),
  );

  /** The call of a sub-agent or of the turn, by what a fact says of its agent. */
  const findParent = (facts: readonly Fact[], turn: Turn | undefined): string | null =>
    agentsById.get(getAgent(facts) ?? '')?.id ?? turn?.id ?? null;

  const agentAttribute = (facts: readonly Fact[]): JsonObject => {
    const agentId = getAgent(facts);
    const sub = agentId === undefined ? undefined : agentsById.get(agentId);
    if (sub) return present({ name: sub.name ?? 'subagent', id: sub.agentId }) as JsonObject;
    const version = first(facts, ({ resource }) => nonEmptyString(resource.get('service.version')));
    return present({ name: agentName, version }) as JsonObject;
  };

  const common = (facts: readonly Fact[], turn: Turn | undefined) => {
    const [fact] = facts;
    const threadId = fact ? getSession(fact) : 'unknown';
    return {
      threadId,
      turnId: turn?.isUsers ? turn.id : null,
      traceId: first(facts, (fact) => fact.traceId) ?? turn?.traceId ?? hashParts(threadId, ''),
      agent: agentAttribute(facts),
      facts,
    };
  };
  const findTurn = (facts: readonly Fact[]): Turn | undefined =>
    first(facts, (fact) => session.getTurn(fact));

  const operations = groups.map((group): Operation => {
    const { kind } = group;
    const turn = findTurn(group.facts);
    const spanId = findOwnSpan(group);
    const parent = session.callAround(session.span(spanId)?.parentSpanId);
    const traceId = first(group.facts, (fact) => fact.traceId);
    const spans = group.facts.filter((fact) => fact.isSpan && fact.spanId === spanId);
    const [whole] = spans;
    const timed = kind === 'tool' ? group.facts.filter(({ name }) => name !== event.decision) : group.facts;
    const times = whole ? spans : timed.length > 0 ? timed : group.facts;
    const error = readError(group.facts);
    const base = {
      ...common(group.facts, turn),
      id: ids.get(group) ?? '',
      parentId:
        parent !== undefined && traceId !== undefined
          ? toCallId(traceId, parent)
          : findParent(group.facts, turn),
      startedAt: getStart(times),
      endedAt: getEnd(times),
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
        counts: readCounts(group.facts),
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
      const requestedAt = askedAt(group.facts, facts);
      const decided = group.facts.find(named(event.decision))?.endedAt;
      const waited =
        requestedAt === undefined || decided === undefined
          ? sumWaits(group.facts)
          : Math.round((decided - requestedAt) / 1000);
      const output = readOutput(group.facts);
      const ran = group.facts.some(named(event.result, span.execution));
      return {
        ...base,
        startedAt: whole ? base.startedAt : Math.min(base.startedAt, requestedAt ?? base.startedAt),
        kind: 'tool',
        opName: span.tool,
        name,
        tool: name,
        inputs: (input as JsonObject | undefined) ?? parameters,
        output: output ?? null,
        exception: error ?? (ran ? undefined : readRefusal(group.facts)),
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
  const getAnswer = (facts: readonly Fact[]): string | undefined => shown(facts.at(-1)?.text('response'));

  const subAgents = [...agentsById.values()].map((agent): Operation => {
    const own = session.span(session.spanOfAgent(agent.agentId));
    const spawner = spawnedBy.get(agent.agentId);
    const turn = findTurn(agent.facts);
    const caller = first(agent.facts, (fact) => fact.text('parent_agent_id'));
    const toolSpan = session.callAround(own?.parentSpanId);
    const input = spawner && first(spawner.facts, (fact) => asInputs(fact.json('tool_input')));
    const question = shown(nonEmptyString(get(input, 'prompt')));
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
          ? toCallId(own.traceId, toolSpan)
          : ((spawner && ids.get(spawner)) ?? agentsById.get(caller ?? '')?.id ?? turn?.id ?? null),
      startedAt: getStart(times),
      endedAt: completed.length > 0 || isDone(agent.facts) ? getEnd(times) : undefined,
      inputs: message('user', question),
      output: message(
        'assistant',
        getAnswer(responses.filter((fact) => fact.text('agent_id') === agent.agentId)),
      ),
      exception: readError(completed),
      used:
        completed.length > 0
          ? ['model', 'error']
          : [...about.flatMap(({ attributes }) => [...attributes.keys()])].filter((key) => !shared.has(key)),
    };
  });

  const turns = Map.groupBy(
    facts.filter(named(event.prompt, span.turn)),
    (fact) => session.getTurn(fact)?.id ?? '',
  );
  const mainFacts = Map.groupBy(
    facts.filter((fact) => getAgent([fact]) === undefined),
    (fact) => session.getTurn(fact)?.id,
  );
  const prompts = [...turns].flatMap(([id, promptFacts]): Operation[] => {
    const turn = findTurn(promptFacts);
    if (!turn) return [];
    const below = mainFacts.get(id) ?? [];
    const whole = promptFacts.filter(({ isSpan }) => isSpan);
    const later = below.filter((fact) => !promptFacts.includes(fact));
    const prompt = first(promptFacts, (fact) => shown(fact.text('prompt') ?? fact.text('user_prompt')));
    const responses = below.filter(named(event.response));
    const main = responses.filter((fact) => mainSources.test(fact.text('query_source') ?? 'main'));
    const times = whole.length > 0 ? whole : promptFacts;
    return [
      {
        ...common(promptFacts, turn),
        id,
        kind: 'agent',
        opName: span.turn,
        name: agentName,
        parentId: parentOfTurn(whole),
        startedAt: getStart(times),
        endedAt: whole.length > 0 ? getEnd(whole) : isDone(later) ? getEnd(later) : undefined,
        inputs: message('user', prompt),
        output: message('assistant', getAnswer(main.length > 0 ? main : responses)) ?? null,
        exception: whole.length > 0 ? readError(whole) : undefined,
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
    traceId !== undefined && parentSpanId !== undefined ? toCallId(traceId, parentSpanId) : undefined,
  ) ?? null;
