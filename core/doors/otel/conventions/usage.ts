import { usageCounts } from '../../../../api/usage.ts';
import type { Span } from '../span.ts';
import { countOf, isDict, structured } from '../values.ts';
import type { Kind, Translation, Usage, UsageByModel } from './convention.ts';
import type { Counts, SpanReader } from './reader.ts';

/** The counts of a usage object, by whatever names; undefined when it counts no tokens. */
export const countsOf = (usage: unknown, model: string | undefined): Counts | undefined => {
  const body = structured(usage);
  if (!isDict(body)) return undefined;
  const { requests: _one, ...counts } = usageCounts(body, countOf);
  return counts.input === undefined && counts.output === undefined ? undefined : { model, ...counts };
};

/** Names that a model has no other name for. */
const unnamed = 'unknown';

/**
 * Counts as `summary.usage` has them. Some libraries count cached tokens beside the prompt's; then
 * they are added. It shows when they are more than the prompt's, or when the total has them too.
 *
 * @returns undefined when nothing is counted
 */
export const usageOf = (counts: Counts, fallback: string | undefined): UsageByModel | undefined => {
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = counts;
  if (input === undefined && output === undefined) return undefined;
  const cached = cacheRead + cacheWrite;
  const apart = (input ?? 0) + (output ?? 0) + cached;
  const prompt = input !== undefined && (cached > input || counts.total === apart) ? input + cached : input;
  const sum = (prompt ?? 0) + (output ?? 0);
  const usage: Usage = {
    requests: 1,
    ...(prompt !== undefined && { input_tokens: prompt }),
    ...(output !== undefined && { output_tokens: output }),
    total_tokens: Math.max(sum, counts.total ?? 0),
    ...(cacheRead > 0 && { cache_read_input_tokens: cacheRead }),
    ...(cacheWrite > 0 && { cache_creation_input_tokens: cacheWrite }),
    ...(cached > 0 && { input_tokens_details: { cached_tokens: cacheRead } }),
    ...(reasoning > 0 && { output_tokens_details: { reasoning_tokens: reasoning } }),
  };
  return Object.fromEntries([[counts.model ?? fallback ?? unnamed, usage]]);
};

/** Keys of the id that a provider gives an answer. */
const responseIds = ['gen_ai.response.id', 'ai.response.id', 'response_id'] as const;

/** How OpenAI's and Anthropic's ids of answers look, in the JSON of an answer. */
const answerId = /"((?:chatcmpl-|cmpl-|resp_|msg_)[\w-]{8,200})"/;

/** The provider's id of the answer, which two spans of one request share. */
export const responseIdOf = (span: SpanReader): string | undefined =>
  span.peekText(...responseIds) ?? answerId.exec(span.peekText('output.value') ?? '')?.[1];

interface Entry {
  readonly span: Span;
  readonly translation: Translation;
  readonly projectId?: string;
}

const tokens = (usage: UsageByModel): number =>
  Object.values(usage).reduce(
    (sum, { input_tokens = 0, output_tokens = 0 }) => sum + input_tokens + output_tokens,
    0,
  );

const withoutUsage = <E extends Entry>(entry: E): E => ({
  ...entry,
  translation: { ...entry.translation, usage: undefined },
});

/** Below an agent or a tool, other requests begin. */
const boundaries: ReadonlySet<Kind> = new Set(['agent', 'tool', 'retriever']);

const keyOf = (traceId: string, spanId: string): string => `${traceId}:${spanId}`;

/**
 * For each span that counts tokens, the nearest one around it that does too, if nothing but steps
 * lie between. Each step is looked at once, however many requests are below it.
 */
const enclosingRequests = (entries: readonly Entry[]): ReadonlyMap<Entry, Entry | undefined> => {
  const byId = new Map(entries.map((entry) => [keyOf(entry.span.traceId, entry.span.spanId), entry]));
  const known = new Map<Entry, Entry | undefined>();
  for (const entry of entries) {
    const path: Entry[] = [];
    let found: Entry | undefined;
    for (let at: Entry | undefined = entry; at && !known.has(at); ) {
      known.set(at, undefined);
      path.push(at);
      const { traceId, parentSpanId }: Span = at.span;
      const parent: Entry | undefined =
        parentSpanId === undefined ? undefined : byId.get(keyOf(traceId, parentSpanId));
      if (!parent || boundaries.has(parent.translation.kind)) break;
      found = parent.translation.usage ? parent : known.get(parent);
      at = found ? undefined : parent;
    }
    for (const step of path) known.set(step, found);
  }
  return new Map([...known].filter(([{ translation }]) => translation.usage));
};

/** Every span after all that are in it. Spans that are parents of each other are left out. */
const innermostFirst = (outerOf: ReadonlyMap<Entry, Entry | undefined>): readonly Entry[] => {
  const waiting = new Map<Entry, number>();
  for (const outer of outerOf.values()) if (outer) waiting.set(outer, (waiting.get(outer) ?? 0) + 1);
  const order = [...outerOf.keys()].filter((entry) => !waiting.has(entry));
  // The list grows while it is walked.
  for (const entry of order) {
    const outer = outerOf.get(entry);
    const left = outer && (waiting.get(outer) ?? 0) - 1;
    if (!outer || left === undefined) continue;
    waiting.set(outer, left);
    if (left === 0) order.push(outer);
  }
  return order;
};

/** Whether two libraries saw the same request, each in a trace of its own. Made-up ids can be the same for many. */
const areOneRequest = ({ span: a, projectId: p }: Entry, { span: b, projectId: q }: Entry): boolean =>
  p === q &&
  a.traceId !== b.traceId &&
  a.scope.name !== b.scope.name &&
  a.startTimeUnixNano <= b.endTimeUnixNano &&
  b.startTimeUnixNano <= a.endTimeUnixNano;

/**
 * Spans whose answer a span of another trace has too: the one that counts fewer tokens, or the one in
 * the smaller trace if both count the same. A provider's SDK that traces itself loses the trace when
 * it streams.
 */
const repeatedElsewhere = (entries: readonly Entry[]): ReadonlySet<Entry> => {
  const sizes = new Map<string, number>();
  for (const { span } of entries) sizes.set(span.traceId, (sizes.get(span.traceId) ?? 0) + 1);
  const isBetter = (a: Entry, b: Entry): boolean => {
    const more = tokens(a.translation.usage ?? {}) - tokens(b.translation.usage ?? {});
    return (more || (sizes.get(a.span.traceId) ?? 0) - (sizes.get(b.span.traceId) ?? 0)) > 0;
  };
  const answers = new Map<string, Entry>();
  const repeated = new Set<Entry>();
  for (const entry of entries) {
    const { responseId, usage } = entry.translation;
    if (responseId === undefined || usage === undefined) continue;
    const other = answers.get(responseId);
    if (!other || !areOneRequest(entry, other)) answers.set(responseId, entry);
    else if (isBetter(entry, other)) {
      answers.set(responseId, entry);
      repeated.add(other);
    } else repeated.add(entry);
  }
  return repeated;
};

/**
 * Takes the usage off spans whose tokens other spans of the export count too. Two instrumentations
 * of one program, of a framework and of the provider's SDK, report each request twice. Of a span
 * and the requests in it, whichever count more keep their usage, and those in it if both count the
 * same. The innermost are judged first. Two requests of different traces are one if the provider's
 * id of the answer is the same.
 *
 * @param entries the spans of one export, with their translations, in any order
 * @returns the same entries in their order
 */
export const withoutRepeats = <E extends Entry>(entries: readonly E[]): readonly E[] => {
  const outerOf = enclosingRequests(entries);
  const order = innermostFirst(outerOf);
  const inside = new Map<Entry, number>();
  const counting = new Set<Entry>();
  for (const entry of order) {
    const own = tokens(entry.translation.usage ?? {});
    const inner = inside.get(entry);
    if (inner === undefined || own > inner) counting.add(entry);
    const outer = outerOf.get(entry);
    if (outer) inside.set(outer, (inside.get(outer) ?? 0) + Math.max(own, inner ?? 0));
  }
  const repeated = new Set<Entry>();
  const covered = new Set<Entry>();
  for (const entry of order.toReversed()) {
    const outer = outerOf.get(entry);
    if (outer && (counting.has(outer) || covered.has(outer))) covered.add(entry);
    if (covered.has(entry) || !counting.has(entry)) repeated.add(entry);
  }
  const left = entries.map((entry) => (repeated.has(entry) ? withoutUsage(entry) : entry));
  const elsewhere = repeatedElsewhere(left);
  return left.map((entry) => (elsewhere.has(entry) ? withoutUsage(entry) : entry));
};

/**
 * Makes agents of the runs around an agent's steps. LangChain.js reports them as chains.
 *
 * @param entries the spans of one export, in any order
 */
export const withAgents = <E extends Entry>(entries: readonly E[]): readonly E[] => {
  const around = new Set(
    entries.flatMap(({ span, translation }) =>
      translation.isAgentStep && span.parentSpanId !== undefined
        ? [keyOf(span.traceId, span.parentSpanId)]
        : [],
    ),
  );
  if (around.size === 0) return entries;
  return entries.map((entry) =>
    entry.translation.kind === 'other' && around.has(keyOf(entry.span.traceId, entry.span.spanId))
      ? { ...entry, translation: { ...entry.translation, kind: 'agent' } }
      : entry,
  );
};
