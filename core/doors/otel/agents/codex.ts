import type { JsonObject, JsonValue } from '../../../../foundations/wire/index.ts';
import { idFrom } from '../calls.ts';
import { asInputs, get, present } from '../values.ts';
import type { Fact } from './facts.ts';
import { hashParts, message, type Operation, shown } from './operation.ts';

/*
 * Codex tells of each operation by log records, some of which name a span. Its spans are those of
 * its own machinery, some hundred a turn, and say nothing of use that its records do not.
 * Source: openai/codex, `codex-rs/otel/src/events/session_telemetry.rs`.
 */

const event = {
  prompt: 'codex.user_prompt',
  request: 'codex.api_request',
  socket: 'codex.websocket_request',
  stream: 'codex.sse_event',
  decision: 'codex.tool_decision',
  result: 'codex.tool_result',
} as const;

/** Events that are of use. Others are passed over. */
export const codexEvents: ReadonlySet<string> = new Set(Object.values(event));

/** Whether an event of use says something: nearly all of a stream's do not. */
export const isOfUse = (fact: Fact): boolean =>
  fact.name !== event.stream ||
  fact.count('input_token_count') !== undefined ||
  getFailure(fact) !== undefined;

/** Whether spans of a scope are Codex's own. */
export const isCodexScope = (scope: { readonly name: string }): boolean => /^codex(?:_|$)/.test(scope.name);

const agentName = 'codex';

const getSession = (fact: Fact): string => {
  const text = fact.text('conversation.id');
  return (text && idFrom(text)) ?? 'unknown';
};

const lowestError = 400;

const getFailure = (fact: Fact): string | undefined => {
  const error = fact.text('error.message');
  const status = fact.count('http.response.status_code');
  if (error === undefined && (status ?? 0) < lowestError) return undefined;
  return [status, error].filter((part) => part !== undefined).join(': ');
};

/** The code with which a command ended, as its output begins; undefined if it says none. */
const parseExitCode = (fact: Fact): number | undefined => {
  const output = fact.json('output');
  const code = get(get(output, 'metadata'), 'exit_code');
  if (typeof code === 'number') return code;
  const [head = ''] = (typeof output === 'string' ? output : '').split('\nOutput:', 1);
  const [, digits] = /^(?:Process exited with code|Exit code:) (-?\d+)$/m.exec(head) ?? [];
  return digits === undefined ? undefined : Number(digits);
};

/** Why a tool failed: the code of a command, and what it printed. */
const getReason = (result: Fact, code: number | undefined): string => {
  const output = result.json('output');
  const text = result.text('output') ?? '';
  const nested = get(output, 'output');
  const printed = typeof nested === 'string' ? nested : text.slice(Math.max(0, text.indexOf('\nOutput:')));
  const message = printed.replace(/^\nOutput:/, '').trim();
  if (code === undefined) return message || 'error';
  return message === '' ? `exit code ${code}` : `exit code ${code}: ${message}`;
};

const toolName = (facts: readonly Fact[]): string | undefined => {
  for (const fact of facts) {
    const name = fact.text('tool_name');
    if (name === undefined) continue;
    const [, ofServer, ofTool = name] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
    const server = fact.text('mcp_server') ?? ofServer;
    return server === undefined ? name : `${server}.${ofTool}`;
  }
  return undefined;
};

/** A turn, and what came between its prompt and the next one. */
interface Turn {
  readonly id: string;
  readonly prompt: Fact | undefined;
  readonly facts: Fact[];
}

const toTurns = (session: string, facts: readonly Fact[]): Turn[] => {
  const turns: Turn[] = [];
  for (const fact of facts) {
    if (fact.name === event.prompt)
      turns.push({ id: hashParts(session, `agent ${fact.endedAt}`), prompt: fact, facts: [] });
    else if (turns.length === 0) turns.push({ id: '', prompt: undefined, facts: [fact] });
    else turns.at(-1)?.facts.push(fact);
  }
  return turns;
};

const counts = [
  'input_token_count',
  'output_token_count',
  'cached_token_count',
  'cache_write_token_count',
  'reasoning_token_count',
] as const;

const operationsOfTurn = (session: string, { id, prompt, facts }: Turn): Operation[] => {
  const turnId = prompt ? id : null;
  const [any] = prompt ? [prompt] : facts;
  const common = {
    traceId: hashParts(session, turnId ?? ''),
    threadId: session,
    turnId,
    agent: present({ name: agentName, version: any?.text('app.version') }) as JsonObject,
  };
  const operations: Operation[] = [];
  const model = (requestFacts: readonly Fact[], exception: string | undefined): void => {
    const [head, last = head] = requestFacts;
    if (!head || !last) return;
    const name = last.text('model') ?? head.text('model');
    const [input, output, cacheRead, cacheWrite, reasoning] = counts.map((key) => last.count(key));
    operations.push({
      ...common,
      id: hashParts(session, `model ${last.key}`),
      kind: 'model',
      opName: 'codex.request',
      name,
      parentId: turnId,
      startedAt: head.startedAt,
      endedAt: last.endedAt,
      inputs: present({ model: name }) as JsonObject | undefined,
      exception,
      counts: { model: name, input, output, cacheRead, cacheWrite, reasoning },
      facts: requestFacts,
      used: ['model', 'slug', 'error.message', 'duration_ms', ...counts],
    });
  };
  let request: Fact | undefined;
  /** When the turn last went on without a person. */
  let free = prompt?.endedAt;
  const tools = new Map<string, { readonly facts: Fact[]; waitedFrom?: number; waitedTo?: number }>();
  for (const fact of facts) {
    const failure = getFailure(fact);
    if (fact.name === event.request || fact.name === event.socket) {
      if (failure !== undefined) model([fact], failure);
      request = failure === undefined ? fact : undefined;
    } else if (fact.name === event.stream) {
      model(request ? [request, fact] : [fact], failure);
      request = undefined;
      free = fact.endedAt;
    } else {
      const call = fact.text('call_id') ?? fact.key;
      const tool = tools.get(call) ?? { facts: [] };
      tool.facts.push(fact);
      if (fact.name === event.decision && /^user/i.test(fact.text('source') ?? '') && free !== undefined) {
        tool.waitedFrom = free;
        tool.waitedTo = fact.endedAt;
      }
      if (fact.name === event.result) free = fact.endedAt;
      tools.set(call, tool);
    }
  }
  for (const [call, { facts: toolFacts, waitedFrom, waitedTo }] of tools) {
    const result = toolFacts.find(({ name }) => name === event.result);
    const denied = toolFacts.find((fact) => /^(?:denied|abort)/.test(fact.text('decision') ?? ''));
    if (!result && !denied) continue;
    const last = result ?? denied;
    if (!last) continue;
    const output = result && ((result.json('output') ?? null) as JsonValue);
    const code = result && parseExitCode(result);
    const failed = result?.failed || (code !== undefined && code !== 0);
    const waited =
      waitedFrom === undefined || waitedTo === undefined ? 0 : Math.round((waitedTo - waitedFrom) / 1000);
    const name = toolName(toolFacts);
    operations.push({
      ...common,
      id: hashParts(session, `tool ${call}`),
      kind: 'tool',
      opName: 'codex.tool',
      name,
      tool: name,
      parentId: turnId,
      startedAt: Math.min(last.startedAt, waitedFrom ?? last.startedAt),
      endedAt: last.endedAt,
      inputs: result && (asInputs(result.json('arguments')) as JsonObject | undefined),
      output: output ?? null,
      exception: result
        ? failed
          ? getReason(result, code)
          : undefined
        : `not allowed to run: ${denied?.text('source') ?? 'denied'}`,
      ...(waited > 0 && { summary: { waited_ms: waited } }),
      facts: toolFacts,
      used: ['arguments', 'output', 'model', 'slug', 'mcp_server', 'duration_ms'],
    });
  }
  if (!prompt) return operations;
  // Nothing says that a turn is done. It is once the model answers and wants no tool.
  const [last] = operations.toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  const isDone =
    last?.kind === 'model' &&
    !facts.some((fact) => fact.name === event.decision && fact.endedAt > (last.endedAt ?? 0));
  return [
    {
      ...common,
      id,
      kind: 'agent',
      opName: 'codex.turn',
      name: agentName,
      parentId: null,
      startedAt: prompt.endedAt,
      endedAt: isDone ? last.endedAt : undefined,
      inputs: message('user', shown(prompt.text('prompt'))),
      facts: [prompt],
      used: ['prompt'],
    },
    ...operations,
  ];
};

/** Makes operations of what Codex said in one place. */
export const operationsOfCodex = (facts: readonly Fact[]): Operation[] =>
  [...Map.groupBy(facts.filter(isOfUse), getSession)].flatMap(([session, sessionFacts]) =>
    toTurns(session, sessionFacts).flatMap((turn) => operationsOfTurn(session, turn)),
  );
