import type { AgentCall, AgentName } from '../../../api/shared/agents.ts';
import { guessKindByName } from '../../../api/shared/header-fields.ts';
import { type CallHeader, shortAttribute, traceName } from '../../records/calls/index.ts';

/* What headers say of the agents and tools of calls, which is all but the ids of agents. */

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
  return name === null ? undefined : { name, version: shortAttribute(call.start, 'agent.version') };
};

/** The name of the tool that was called; null for a call of no tool. */
export const toolOf = (call: CallHeader, kind = kindOf(call)): string | null =>
  kind === 'tool' ? (shortAttribute(call.start, 'tool.name') ?? traceName(call)) : null;

/** A call as its trace is added up by agents and tools. */
export const toAgentCall = (call: CallHeader): AgentCall => {
  const { id, start, end } = call;
  const kind = kindOf(call);
  return {
    id,
    parentId: start.parentId,
    name: shortAttribute(start, 'tool.name') ?? traceName(call),
    kind,
    agent: ownAgent(call, kind),
    tool: toolOf(call, kind),
    start: start.startedAt,
    end: end?.endedAt,
    isError: end?.status === 'error',
    waitedMs: typeof end?.waited === 'number' ? end.waited : 0,
  };
};
