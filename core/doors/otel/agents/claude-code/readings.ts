import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  nonEmptyString,
} from '../../../../../foundations/wire/index.ts';
import type { Counts } from '../../conventions/reader.ts';
import { asInputs, get, plain, toJson } from '../../values.ts';
import type { Fact } from '../facts.ts';
import { event, first, getEnd, getSession, named, span } from './telemetry.ts';

/** The name of an MCP tool, after that of its server. Records call all of them `mcp_tool`. */
export const toolName = (facts: readonly Fact[]): string | undefined => {
  const parameters = first(facts, (fact) => {
    const value = fact.json('tool_parameters');
    return isJsonObject(value) ? value : undefined;
  });
  const server =
    nonEmptyString(get(parameters, 'mcp_server_name')) ??
    first(facts, (fact) => fact.text('anthropic.mcp.server.name'));
  const tool =
    nonEmptyString(get(parameters, 'mcp_tool_name')) ??
    first(facts.filter(named(span.tool)), (fact) => fact.text('gen_ai.tool.name'));
  if (server !== undefined && tool !== undefined) return `${server}.${tool}`;
  const whole = first(facts.filter(named(span.tool, event.result, event.decision)), (fact) =>
    fact.text('tool_name'),
  );
  const [, ofServer, ofTool] = /^mcp__(.+?)__(.+)$/.exec(whole ?? '') ?? [];
  return ofServer && ofTool ? `${ofServer}.${ofTool}` : whole;
};

/** What `tool_parameters` say of a tool's arguments. Of MCP tools they say the name alone. */
export const argumentsIn = (fact: Fact): JsonObject | undefined => {
  const { mcp_server_name, mcp_tool_name, ...parameters } = asInputs(fact.json('tool_parameters')) ?? {};
  return asInputs(parameters) as JsonObject | undefined;
};

export const claudeCounts = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_creation_tokens',
] as const;

export const readCounts = (facts: readonly Fact[]): Counts | undefined => {
  const fact = facts.find((candidate) => candidate.count('input_tokens') !== undefined);
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

export const readError = (facts: readonly Fact[]): string | undefined =>
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
export const isDone = (facts: readonly Fact[]): boolean => {
  const requestFact = facts.findLast(named(event.request, event.error, span.model));
  if (!requestFact) return false;
  const request = requestFact.text('request_id');
  return !facts.some(
    (fact) =>
      named(event.decision, event.result, span.tool)(fact) &&
      (fact.endedAt > requestFact.endedAt || (request !== undefined && fact.text('request_id') === request)),
  );
};

/** What became of a tool that nobody allowed to run. */
export const readRefusal = (facts: readonly Fact[]): string | undefined =>
  first(facts.filter(named(event.decision, span.blocked)), (fact) =>
    fact.text('decision') === 'reject'
      ? `not allowed to run: ${fact.text('source') ?? 'rejected'}`
      : undefined,
  );

/** Who decided is a person; settings, hooks and classifiers are none. */
const byPerson = /^user/;

export const sumWaits = (facts: readonly Fact[]): number =>
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
export const askedAt = (requestFacts: readonly Fact[], facts: readonly Fact[]): Micros | undefined => {
  const decision = requestFacts.find(
    (fact) => fact.name === event.decision && byPerson.test(fact.text('source') ?? ''),
  );
  if (!decision || requestFacts.some(({ name }) => name === span.blocked)) return undefined;
  const agent = decision.text('agent_id');
  const before = facts.filter(
    (fact) =>
      named(event.request, event.result)(fact) &&
      fact.text('agent_id') === agent &&
      getSession(fact) === getSession(decision) &&
      fact.endedAt <= decision.endedAt,
  );
  return before.length > 0 ? getEnd(before) : undefined;
};

/** Changes of a file as `diff -u` writes them. What has another form stays. */
const toPatch = (changes: JsonValue): JsonValue => {
  const hunks = Array.isArray(changes) ? changes : [changes];
  const texts = hunks.map((hunk) => {
    const lines = get(hunk, 'lines');
    const [before, beforeLines, after, afterLines] = ['oldStart', 'oldLines', 'newStart', 'newLines'].map(
      (key) => get(hunk, key),
    );
    return (
      Array.isArray(lines) && [`@@ -${before},${beforeLines} +${after},${afterLines} @@`, ...lines].join('\n')
    );
  });
  return texts.includes(false) ? changes : texts.join('\n');
};

/**
 * What a tool gave: what a command or an MCP tool said, the file that was read, or what changed in
 * one. Other tools tell nothing, and what `Write` wrote is its argument.
 */
export const readOutput = (facts: readonly Fact[]): JsonValue | undefined =>
  first(facts.filter(named(span.tool)), (fact) => {
    const told = fact.events.findLast(({ name }) => name === 'tool.output')?.attributes;
    const content = fact.text('tool_name') === 'Write' ? undefined : told?.get('content');
    const text = told?.get('output') ?? content;
    const diff = told?.get('diff');
    if (text !== undefined) return plain(text);
    return diff === undefined ? undefined : toPatch(toJson(diff));
  });
