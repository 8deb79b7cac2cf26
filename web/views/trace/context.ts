import type { Usage } from '../../api/calls.ts';
import type { Answer } from '../../api/contract.ts';
import type { ContextOfMany } from '../../calls/data.ts';
import { percentText } from '../../calls/figures/figures.ts';
import { findAgentRuns } from '../../calls/trace/loops.ts';
import type { TreeLine, TreeNode } from '../../calls/trace/tree.ts';
import { costText, countedText } from '../../data/format.ts';

/*
 * What filled the windows of a trace's requests to models: how they grew, where they were compacted, what was
 * sent and paid again, and what would save most. Parts are estimates of the service.
 */

/** What filled the window of one request. */
export type Context = Extract<Answer<'/call/context'>, { readonly parts: unknown }>;

type Part = Context['parts'][number];
export type PartKind = Part['part'];

/** Parts in the order in which models read them, by their names. */
export const partTitles: Readonly<Record<PartKind, string>> = {
  tools: 'Definitions of tools',
  system: 'System prompt',
  user: 'User',
  assistant: 'Assistant',
  reasoning: 'Reasoning',
  tool_results: 'Results of tools',
  media: 'Images and files',
  other: 'Other',
};

export const partKinds = Object.keys(partTitles) as PartKind[];

/** The tokens of a request by kind of part. */
export const tokensByKind = ({ parts }: Pick<Context, 'parts'>): ReadonlyMap<PartKind, number> => {
  const sums = new Map<PartKind, number>();
  for (const { part, tokens } of parts) sums.set(part, (sums.get(part) ?? 0) + tokens);
  return sums;
};

/** Requests to a model that go on from each other: those of one run of an agent to the same model. */
export interface Conversation {
  readonly key: string;
  readonly title: string;
  /** In the order of their start. */
  readonly requests: readonly TreeNode[];
}

const modelOf = ({ call }: TreeNode): string => Object.keys(call.summary?.usage ?? {}).join(', ');

const inputOf = (usage: Usage | undefined): number => usage?.input ?? 0;

/** The requests of a trace by conversation, the one with the most tokens first. @param lines those of the whole tree */
export const findConversations = (lines: readonly TreeLine[]): Conversation[] => {
  // What wraps a request to a model says the same again.
  const requests = lines
    .map(({ node }) => node)
    .filter(({ kind, children }) => kind === 'model' && !children.some(({ firstModel }) => firstModel))
    .sort((a, b) => a.start - b.start);
  const runs = findAgentRuns(lines);
  const byKey = Map.groupBy(requests, (node) => `${runs.get(node.call.id)?.run ?? ''}\n${modelOf(node)}`);
  const sizes = new Map<string, number>();
  return [...byKey]
    .map(([key, own]) => {
      const [first] = own;
      const agent = first && runs.get(first.call.id)?.name;
      const title = [agent, first && (modelOf(first) || first.name), countedText(own.length, 'request')];
      sizes.set(
        key,
        own.reduce((sum, { usage }) => sum + inputOf(usage), 0),
      );
      return { key, title: title.filter(Boolean).join(' · '), requests: own };
    })
    .sort((a, b) => (sizes.get(b.key) ?? 0) - (sizes.get(a.key) ?? 0));
};

/** So many items of a list, evenly chosen, with the first and the last. */
export const evenly = <Item>(items: readonly Item[], most: number): Item[] =>
  items.length <= most
    ? [...items]
    : Array.from(
        { length: most },
        (_, i) => items[Math.round((i * (items.length - 1)) / (most - 1))],
      ).flatMap((item) => item ?? []);

/** A request among those of its conversation. */
export interface Growth {
  readonly context: ContextOfMany;
  /** About how many of its tokens the request before it sent as well. */
  readonly again: number;
  /** Those of them that were not read from a cache. */
  readonly paidAgain: number;
  /** How many tokens there were before the conversation was shortened; undefined if it was not. */
  readonly compactedFrom: number | undefined;
}

/** Below this share of the request before it, the window of a request was compacted. */
const compactedShare = 0.7;

const kept = (before: ContextOfMany, after: ContextOfMany): number => {
  const earlier = tokensByKind(before);
  const now = tokensByKind(after);
  return (['tools', 'system'] as const).reduce(
    (sum, kind) => sum + Math.min(earlier.get(kind) ?? 0, now.get(kind) ?? 0),
    0,
  );
};

/** How the window of a conversation grew. @param contexts in the order of the requests */
export const toGrowth = (contexts: readonly ContextOfMany[]): Growth[] =>
  contexts.map((context, i) => {
    const before = contexts[i - 1];
    if (!before) return { context, again: 0, paidAgain: 0, compactedFrom: undefined };
    const isCompacted = context.input_tokens < before.input_tokens * compactedShare;
    const again = isCompacted ? kept(before, context) : Math.min(before.input_tokens, context.input_tokens);
    return {
      context,
      again,
      paidAgain: Math.max(0, again - context.cache_read_tokens),
      compactedFrom: isCompacted ? before.input_tokens : undefined,
    };
  });

/** What could be saved of the input of some requests. */
export interface Saving {
  readonly what: string;
  readonly tokens: number;
  /** @default - not all requests have prices */
  readonly cost: number | undefined;
  /** The share of all tokens of the inputs. */
  readonly share: number;
}

/** What saves less than this share of the input, in money or else in tokens, is not worth a word. */
const leastSaving = 0.05;
/** Shorter beginnings are cached by no provider. */
const leastCached = 1024;
/** What a read from a cache costs less, at least. */
const cacheDiscount = 0.5;

/** The end of a tool's name: instrumentations leave out the MCP server here and there. */
const bareName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** Tokens and money that add up. */
class Sum {
  tokens = 0;
  cost = 0;
  readonly requests = new Set<string>();

  /** @param tokens how many of the part's count */
  add({ id }: ContextOfMany, part: Part, tokens = part.tokens): void {
    if (tokens <= 0) return;
    this.tokens += tokens;
    this.cost += part.tokens === 0 ? 0 : ((part.cost_usd ?? 0) * tokens) / part.tokens;
    this.requests.add(id);
  }
}

const unusedTools = (contexts: readonly ContextOfMany[], called: ReadonlySet<string>) => {
  const sum = new Sum();
  const names = new Set<string>();
  for (const context of contexts)
    for (const part of context.parts)
      if (part.part === 'tools' && part.name !== undefined && !called.has(bareName(part.name))) {
        sum.add(context, part);
        names.add(part.name);
      }
  const tools =
    names.size === 1
      ? `the schema of ${[...names][0]}, which was`
      : `the schemas of ${names.size} tools that were`;
  return { what: `${tools} never called`, sum, factor: 1 };
};

/** What was sent again of each result or file, by its name. */
const repeated = (conversations: readonly (readonly ContextOfMany[])[], kind: 'tool_results' | 'media') => {
  const sums = new Map<string, Sum>();
  for (const contexts of conversations)
    contexts.forEach((context, i) => {
      for (const part of context.parts) {
        if (part.part !== kind || part.name === undefined) continue;
        const before = contexts[i - 1]?.parts.find(
          (other) => other.part === kind && other.name === part.name,
        );
        if (!before) continue;
        const sum = sums.get(part.name) ?? new Sum();
        sums.set(part.name, sum);
        sum.add(context, part, Math.min(before.tokens, part.tokens));
      }
    });
  return [...sums].map(([name, sum]) => {
    const times = countedText(sum.requests.size, 'request');
    const what =
      kind === 'media' ? `${name}, sent again in ${times}` : `results of ${name}, repeated in ${times}`;
    return { what, sum, factor: 1 };
  });
};

const uncached = (conversations: readonly (readonly ContextOfMany[])[]) => {
  const sum = new Sum();
  for (const contexts of conversations)
    for (const context of contexts.slice(1)) {
      const fixed = context.parts.filter(({ part }) => part === 'system' || part === 'tools');
      const tokens = fixed.reduce((all, part) => all + part.tokens, 0);
      if (context.cache_read_tokens > 0 || tokens < leastCached) continue;
      for (const part of fixed) sum.add(context, part);
    }
  const times = countedText(sum.requests.size, 'request');
  return { what: `the system prompt and tools, not cached in ${times}`, sum, factor: cacheDiscount };
};

/**
 * What would save most of the input of a trace's requests; undefined if nothing would save enough.
 *
 * @param conversations the requests of each, in their order
 * @param tools the names of the tools that calls of the trace are of
 */
export const findSaving = (
  conversations: readonly (readonly ContextOfMany[])[],
  tools: Iterable<string>,
): Saving | undefined => {
  const contexts = conversations.flat();
  const parts = contexts.flatMap((context) => context.parts);
  const input = contexts.reduce((sum, { input_tokens }) => sum + input_tokens, 0);
  const isPriced = parts.length > 0 && parts.every(({ cost_usd }) => cost_usd !== undefined);
  const inputCost = parts.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0);
  const results = parts.filter(({ part }) => part === 'tool_results');
  const called = new Set(
    [
      ...tools,
      ...contexts.flatMap(({ tool_calls }) => tool_calls),
      ...results.flatMap(({ name }) => name ?? []),
    ].map(bareName),
  );
  const found = [
    // Results without a name may be of any tool.
    ...(results.every(({ name }) => name !== undefined) ? [unusedTools(contexts, called)] : []),
    ...repeated(conversations, 'tool_results'),
    ...repeated(conversations, 'media'),
    uncached(conversations),
  ];
  const worthOf = ({ sum, factor }: (typeof found)[number]): number =>
    isPriced && inputCost > 0 ? (sum.cost * factor) / inputCost : (sum.tokens * factor) / (input || 1);
  const [best] = found.sort((a, b) => worthOf(b) - worthOf(a));
  if (!best || worthOf(best) < leastSaving) return undefined;
  const { what, sum, factor } = best;
  return {
    what,
    tokens: sum.tokens,
    cost: isPriced ? sum.cost * factor : undefined,
    share: sum.tokens / (input || 1),
  };
};

/** A saving in words: `the schemas of 41 tools that were never called: 38 % of the input, $0.42 in this trace`. */
export const savingText = ({ what, share, cost }: Saving): string => {
  const money = cost === undefined ? '' : `, ${costText(cost)} in this trace`;
  return `${what}: ${percentText(share)} of the input${money}`;
};
