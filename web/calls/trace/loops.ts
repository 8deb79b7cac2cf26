import { type ContentPart, toolParts } from '../../../api/shared/conversation.ts';
import { type CallRow, getAgent } from '../../api/calls.ts';
import type { TreeLine } from './tree.ts';

/*
 * Where an agent goes in circles: it calls a tool again and again with the same arguments, or gets the same
 * answer. What calls took and gave is compared by their previews, and by their payloads where previews are cut.
 */

/** An agent at work, or what is outside of agents. */
export interface AgentRun {
  /** @default - outside of agents */
  readonly name: string | undefined;
  /** The id of the call with which it began to run; empty outside of agents. */
  readonly run: string;
}

const outside: AgentRun = { name: undefined, run: '' };

/** Which agent each call of a trace is of: the nearest at or above it. @param lines those of the whole tree */
export const findAgentRuns = (lines: readonly TreeLine[]): ReadonlyMap<string, AgentRun> => {
  const found = new Map<string, AgentRun>();
  const above: AgentRun[] = [];
  for (const { node, depth } of lines) {
    const within = depth === 0 ? outside : (above[depth - 1] ?? outside);
    const name = getAgent(node.call) ?? (node.kind === 'agent' ? node.name : undefined);
    const own = name === undefined || name === within.name ? within : { name, run: node.call.id };
    above[depth] = own;
    found.set(node.call.id, own);
  }
  return found;
};

/** What calls of a tool have in common. */
export type Same = 'arguments' | 'answer' | 'both';

/** Calls of a tool by one run of an agent that are alike. */
export interface Loop {
  readonly tool: string;
  readonly same: Same;
  /** The ids of its calls in their order. The first stands for all while the loop is folded. */
  readonly calls: readonly string[];
}

/** What a call took and gave, as texts that can be compared; null for what is not known. */
export interface Told {
  readonly took: string | null;
  readonly gave: string | null;
}

/** So many calls that are alike are a loop. */
export const leastAlike = 3;

const alike = (ids: readonly string[], read: (id: string) => string | null | undefined): string[][] =>
  [...Map.groupBy(ids, read)].flatMap(([text, same]) =>
    text !== null && text !== undefined && text !== '' && same.length >= leastAlike ? [same] : [],
  );

/** Calls of one tool by one run of an agent, if they are enough for a loop. */
export const findRepeated = (lines: readonly TreeLine[]): (readonly TreeLine[])[] => {
  const tools = lines.filter(({ node }) => node.kind === 'tool');
  if (tools.length < leastAlike) return [];
  const runs = findAgentRuns(lines);
  const byTool = Map.groupBy(tools, ({ node }) => `${runs.get(node.call.id)?.run ?? ''}\n${node.name}`);
  return [...byTool.values()].filter(({ length }) => length >= leastAlike);
};

/**
 * Finds loops. Calls with the same arguments come first; of the others, those with the same answer.
 *
 * @param repeated calls by tool and run, as {@link findRepeated} has them
 * @param told what calls took and gave, by id
 */
export const findLoops = (
  repeated: readonly (readonly TreeLine[])[],
  told: ReadonlyMap<string, Told>,
): Loop[] =>
  repeated.flatMap((lines) => {
    const tool = lines[0]?.node.name ?? '';
    const ids = lines.map(({ node }) => node.call.id);
    const byArguments = alike(ids, (id) => told.get(id)?.took).map((calls): Loop => {
      const answers = new Set(calls.map((id) => told.get(id)?.gave));
      const isBoth = answers.size === 1 && ![null, undefined, ''].includes([...answers][0]);
      return { tool, same: isBoth ? 'both' : 'arguments', calls };
    });
    const taken = new Set(byArguments.flatMap(({ calls }) => calls));
    const others = ids.filter((id) => !taken.has(id));
    const byAnswer = alike(others, (id) => told.get(id)?.gave).map(
      (calls): Loop => ({ tool, same: 'answer', calls }),
    );
    return [...byArguments, ...byAnswer];
  });

const sameTexts: Readonly<Record<Same, string>> = {
  arguments: 'the same arguments',
  answer: 'the same answer',
  both: 'the same arguments and answer',
};

/** A loop in words: `5 × the same arguments`. */
export const loopText = ({ calls, same }: Loop): string => `${calls.length} × ${sameTexts[same]}`;

/** The calls that are hidden while their loops are folded: all but the first of each. */
export const findHidden = (loops: readonly Loop[], unfolded: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(loops.flatMap(({ calls: [first = '', ...others] }) => (unfolded.has(first) ? [] : others)));

/** The most calls that are compared, and those of them whose payloads are read. */
export const maxCompared = 3000;
const maxWhole = 300;
/** So many calls are read at once. */
const batchSize = 500;

/** Calls in the batches in which they are read. */
export const inBatches = (calls: readonly CallRow[]): CallRow[][] =>
  Array.from({ length: Math.ceil(calls.length / batchSize) }, (_, at) =>
    calls.slice(at * batchSize, (at + 1) * batchSize),
  );

const isCut = (text: string | null | undefined): boolean => text?.endsWith('…') === true;

/** What parts of a tool's call say, without ids and names. */
const wordsOf = (parts: readonly ContentPart[]): string | null => {
  const words = parts.map((part) => {
    if (part.kind === 'call') return part.input;
    return part.kind === 'result' ? part.output : part;
  });
  try {
    return words.length === 0 ? null : JSON.stringify(words);
  } catch {
    // It is nested too deeply to be compared.
    return null;
  }
};

/** What a call took and gave: by its preview, or where that is cut by its payload, if that was read. */
export const toldOf = (row: CallRow | undefined, whole: CallRow | undefined): Told => {
  const { input = null, output = null } = row?.preview ?? {};
  const parts = whole && toolParts('', { inputs: whole.inputs ?? {}, output: whole.output ?? null });
  return {
    took: isCut(input) ? (parts ? wordsOf(parts.took) : null) : input,
    gave: isCut(output) ? (parts ? wordsOf(parts.gave) : null) : output,
  };
};

/** The calls whose previews are alike as far as they go: their payloads tell. */
export const findUnsure = (
  repeated: readonly (readonly TreeLine[])[],
  previews: ReadonlyMap<string, CallRow>,
): CallRow[] => {
  const unsure = repeated.flatMap((lines) => {
    const calls = lines.map(({ node }) => node.call);
    return (['input', 'output'] as const).flatMap((side) =>
      [...Map.groupBy(calls, ({ id }) => previews.get(id)?.preview?.[side])].flatMap(([text, same]) =>
        isCut(text) && same.length >= leastAlike ? same : [],
      ),
    );
  });
  return [...new Set(unsure)].slice(0, maxWhole);
};
