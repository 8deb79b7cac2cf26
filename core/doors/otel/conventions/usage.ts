import { usageCounts } from '../../../../api/shared/usage.ts';
import type { Span } from '../span.ts';
import { isDict, structured, toCount } from '../values.ts';
import type { Kind, Translation, Usage, UsageByModel } from './convention.ts';
import { agentIn } from './names.ts';
import { type Counts, SpanReader } from './reader.ts';

/** The counts of a usage object, by whatever names; undefined when it counts no tokens. */
export const parseCounts = (usage: unknown, model: string | undefined): Counts | undefined => {
  const body = structured(usage);
  if (!isDict(body)) return undefined;
  const { requests: _one, ...counts } = usageCounts(body, toCount);
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
export const toUsage = (counts: Counts, fallback: string | undefined): UsageByModel | undefined => {
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
export const getResponseId = (span: SpanReader): string | undefined =>
  span.peekText(...responseIds) ?? answerId.exec(span.peekText('output.value') ?? '')?.[1];

/** A span of an export and what it says. */
export interface Entry {
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

/** Below an agent, a tool and the like, other requests begin. */
const boundaries: ReadonlySet<Kind> = new Set([
  'agent',
  'workflow',
  'tool',
  'retriever',
  'plan',
  'memory',
  'guardrail',
  'evaluator',
]);

/** A span's key among those of all traces. */
export const toSpanKey = (traceId: string, spanId: string): string => `${traceId}:${spanId}`;

/**
 * For each span that counts tokens, the nearest one around it that does too, if nothing but steps
 * lie between. Each step is looked at once, however many requests are below it.
 */
const enclosingRequests = (entries: readonly Entry[]): ReadonlyMap<Entry, Entry | undefined> => {
  const byId = new Map(entries.map((entry) => [toSpanKey(entry.span.traceId, entry.span.spanId), entry]));
  const known = new Map<Entry, Entry | undefined>();
  for (const entry of entries) {
    const path: Entry[] = [];
    let found: Entry | undefined;
    for (let at: Entry | undefined = entry; at && !known.has(at); ) {
      known.set(at, undefined);
      path.push(at);
      const { traceId, parentSpanId }: Span = at.span;
      const parent: Entry | undefined =
        parentSpanId === undefined ? undefined : byId.get(toSpanKey(traceId, parentSpanId));
      if (!parent || boundaries.has(parent.translation.kind)) break;
      found = parent.translation.usage ? parent : known.get(parent);
      at = found ? undefined : parent;
    }
    for (const step of path) known.set(step, found);
  }
  return new Map([...known].filter(([{ translation }]) => translation.usage));
};

/** Every span after all that are in it. Spans that are parents of each other are left out. */
const innermostFirst = (enclosing: ReadonlyMap<Entry, Entry | undefined>): readonly Entry[] => {
  const waiting = new Map<Entry, number>();
  for (const outer of enclosing.values()) if (outer) waiting.set(outer, (waiting.get(outer) ?? 0) + 1);
  const order = [...enclosing.keys()].filter((entry) => !waiting.has(entry));
  // The list grows while it is walked.
  for (const entry of order) {
    const outer = enclosing.get(entry);
    const left = outer && (waiting.get(outer) ?? 0) - 1;
    if (!outer || left === undefined) continue;
    waiting.set(outer, left);
    if (left === 0) order.push(outer);
  }
  return order;
};

const hasMessages = ({ translation }: Entry): boolean => translation.inputs.messages !== undefined;

const model = ({ translation }: Entry): string => Object.keys(translation.usage ?? {})[0] ?? '';

/** Whether one name of a model is the other, perhaps with a version behind it or a provider before it. */
const isSameModel = (a: string, b: string): boolean => {
  const [short = '', long = ''] = [a, b]
    .map((name) => name.replace(/^.*\//, ''))
    .sort((x, y) => x.length - y.length);
  return long.startsWith(short);
};

const usageIn = ({ translation }: Entry): Usage | undefined => Object.values(translation.usage ?? {})[0];

/** Whether two counts of a prompt are one. One library leaves out what was cached. */
const isSamePrompt = (a: Usage | undefined, b: Usage | undefined): boolean => {
  const [more, less] = (a?.input_tokens ?? 0) >= (b?.input_tokens ?? 0) ? [a, b] : [b, a];
  const difference = (more?.input_tokens ?? 0) - (less?.input_tokens ?? 0);
  const cached = (more?.cache_read_input_tokens ?? 0) + (more?.cache_creation_input_tokens ?? 0);
  return difference === 0 || difference === cached;
};

/** Whether the times of one span lie within those of the other. */
const isWithin = (inner: Span, outer: Span): boolean =>
  outer.startTimeUnixNano <= inner.startTimeUnixNano && inner.endTimeUnixNano <= outer.endTimeUnixNano;

/** Whether two libraries saw the same answer. Made-up ids can be the same for many. */
const haveOneAnswer = ({ span: a, projectId: p }: Entry, { span: b, projectId: q }: Entry): boolean =>
  p === q &&
  a.scope.name !== b.scope.name &&
  a.startTimeUnixNano <= b.endTimeUnixNano &&
  b.startTimeUnixNano <= a.endTimeUnixNano;

/**
 * Whether two libraries saw the same request side by side: below one parent, one within the other's
 * time, with the same model and tokens, and not with two answers.
 */
const areOneRequest = (a: Entry, b: Entry): boolean =>
  a.projectId === b.projectId &&
  a.span.scope.name !== b.span.scope.name &&
  (a.translation.responseId === undefined || b.translation.responseId === undefined) &&
  (isWithin(a.span, b.span) || isWithin(b.span, a.span)) &&
  isSameModel(model(a), model(b)) &&
  usageIn(a)?.output_tokens === usageIn(b)?.output_tokens &&
  isSamePrompt(usageIn(a), usageIn(b));

/** The most requests that one is compared with: those of one answer, or of one parent. */
const maxCompared = 64;

/**
 * Requests that another span tells more of: it counts more tokens, or it has the messages, or it is
 * in the larger trace. A provider's SDK that traces itself does not know of another library's span,
 * and loses the trace when it streams.
 */
const repeatedElsewhere = (entries: readonly Entry[]): ReadonlySet<Entry> => {
  const sizes = new Map<string, number>();
  for (const { span } of entries) sizes.set(span.traceId, (sizes.get(span.traceId) ?? 0) + 1);
  const isBetter = (a: Entry, b: Entry): boolean => {
    const [[tokensA = 0, ...restA], [tokensB = 0, ...restB]] = [a, b].map((entry) => [
      tokens(entry.translation.usage ?? {}),
      hasMessages(entry) ? 1 : 0,
      sizes.get(entry.span.traceId) ?? 0,
    ]) as [number[], number[]];
    const differences = [tokensA - tokensB, ...restA.map((tokens, i) => tokens - (restB[i] ?? 0))];
    return (differences.find((difference) => difference !== 0) ?? 0) > 0;
  };
  const groups = new Map<string, Entry[]>();
  const repeated = new Set<Entry>();
  /** Compares a request with those of its group, each of which has one repetition at most. */
  const compare = (key: string, entry: Entry, isSame: (a: Entry, b: Entry) => boolean): void => {
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    const other = group.slice(-maxCompared).find((candidate) => isSame(entry, candidate));
    if (!other) {
      group.push(entry);
      return;
    }
    if (isBetter(entry, other)) {
      group.splice(group.indexOf(other), 1, entry);
      repeated.add(other);
    } else repeated.add(entry);
  };
  const requests = entries.filter(({ translation }) => translation.usage !== undefined);
  for (const entry of requests)
    if (entry.translation.responseId !== undefined)
      compare(`answer ${entry.translation.responseId}`, entry, haveOneAnswer);
  const paired = new Set<Entry>();
  for (const entry of requests) {
    const { traceId, parentSpanId } = entry.span;
    if (repeated.has(entry) || parentSpanId === undefined) continue;
    compare(`parent ${toSpanKey(traceId, parentSpanId)}`, entry, (a, b) => {
      const isSame = !paired.has(b) && areOneRequest(a, b);
      if (isSame) paired.add(a).add(b);
      return isSame;
    });
  }
  return repeated;
};

/**
 * Takes the usage off spans whose tokens other spans of the export count too. Two instrumentations
 * of one program, of a framework and of the provider's SDK, report each request twice. Of a span
 * and the requests in it, whichever count more keep their usage, and those in it if both count the
 * same, unless they are of one answer and it lacks the messages. The innermost are judged first. Two requests beside each other are one if the provider's id
 * of the answer is the same, or else their parent, model, times and tokens.
 *
 * @param entries the spans of one export, with their translations, in any order
 * @returns the same entries in their order
 */
export const withoutRepeats = <E extends Entry>(entries: readonly E[]): readonly E[] => {
  const enclosing = enclosingRequests(entries);
  const order = innermostFirst(enclosing);
  const inside = new Map<Entry, { readonly sum: number; readonly all: readonly Entry[] }>();
  const counting = new Set<Entry>();
  for (const entry of order) {
    const own = tokens(entry.translation.usage ?? {});
    const inner = inside.get(entry);
    const [only, ...others] = inner?.all ?? [];
    // A provider's SDK that traces itself has the tokens of the answer, and not what was said.
    const { responseId } = entry.translation;
    const isAnswer = responseId !== undefined && only?.translation.responseId === responseId;
    const tellsMore = only && isAnswer && others.length === 0 && hasMessages(entry) && !hasMessages(only);
    if (!inner || own > inner.sum || (own === inner.sum && tellsMore)) counting.add(entry);
    const outer = enclosing.get(entry);
    if (!outer) continue;
    const beside = inside.get(outer);
    inside.set(outer, {
      sum: (beside?.sum ?? 0) + Math.max(own, inner?.sum ?? 0),
      // Two are as many as it takes to know that it is more than one.
      all: [...(beside?.all ?? []), entry].slice(0, 2),
    });
  }
  const repeated = new Set<Entry>();
  const covered = new Set<Entry>();
  for (const entry of order.toReversed()) {
    const outer = enclosing.get(entry);
    if (outer && (counting.has(outer) || covered.has(outer))) covered.add(entry);
    if (covered.has(entry) || !counting.has(entry)) repeated.add(entry);
  }
  const left = entries.map((entry) => (repeated.has(entry) ? withoutUsage(entry) : entry));
  const elsewhere = repeatedElsewhere(left);
  return left.map((entry) => (elsewhere.has(entry) ? withoutUsage(entry) : entry));
};

const readAgent = (span: Span): Pick<Translation, 'agent'> => {
  const agent = agentIn(new SpanReader(span));
  return agent === undefined ? {} : { agent };
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
        ? [toSpanKey(span.traceId, span.parentSpanId)]
        : [],
    ),
  );
  if (around.size === 0) return entries;
  return entries.map((entry) =>
    entry.translation.kind === 'other' && around.has(toSpanKey(entry.span.traceId, entry.span.spanId))
      ? {
          ...entry,
          translation: {
            ...entry.translation,
            kind: 'agent',
            ...(entry.translation.agent === undefined && readAgent(entry.span)),
          },
        }
      : entry,
  );
};
