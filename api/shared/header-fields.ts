/*
 * What headers hold of calls, and what calls stand for. Nothing is imported here, since browsers load
 * this as it is.
 */

/** What a call stands for, as `attributes.kind` says. Clients may say others. */
export const kinds = [
  'agent',
  'workflow',
  'model',
  'tool',
  'retriever',
  'embedding',
  'plan',
  'memory',
  'guardrail',
  'evaluator',
  'other',
] as const;
export type Kind = (typeof kinds)[number];

/** What operations of each kind are called, where nobody says the kind. */
const named: readonly (readonly [Kind, RegExp])[] = [
  ['embedding', /embed/i],
  ['retriever', /retriev|rerank|vector/i],
  ['tool', /^tools?\b|execute_tool|tool[_ .]call|mcp/i],
  ['guardrail', /guardrail/i],
  ['agent', /agent|\bturn\b/i],
  ['workflow', /workflow/i],
  ['model', /\b(chat|completions?|messages\.create|llm|generate(_content)?|converse)\b/i],
];

/** The kind that the name of an operation suggests, without its version; undefined for none. */
export const guessKindByName = (name: string): Kind | undefined =>
  named.find(([, pattern]) => pattern.test(name))?.[0];

/** Who made a call, as `attributes.source` says. Calls that say none of these are production's. */
export const sources = ['production', 'evaluation', 'judge', 'trial', 'playground', 'test'] as const;
export type CallSource = (typeof sources)[number];

/** The source that a value of `attributes.source` names; undefined if it names none. */
export const readSource = (value: unknown): CallSource | undefined =>
  sources.find((source) => source === value);

/**
 * Fields of a start's attributes that headers hold, so queries and statistics know them without
 * reading payloads: the end user, what a call stands for, where and of which version the program
 * ran, the tool, agent and prompt of the call, and who made it (production, an evaluation, a test).
 * Stored headers hold their places: append only, never change.
 */
export const headerAttributes = [
  'user.id',
  'kind',
  'environment',
  'release',
  'tool.name',
  'agent.name',
  'agent.version',
  'prompt.name',
  'prompt.version',
  'source',
] as const;
export type HeaderAttribute = (typeof headerAttributes)[number];

/** Fields that the service adds to each call's summary, under its own name, from the header alone. */
export const headerSummaryFields = ['status', 'latency_ms', 'trace_name', 'waited_ms', 'waiting'] as const;
export type HeaderSummaryField = (typeof headerSummaryFields)[number];

/** Columns that take more than headers. */
const otherColumns: readonly string[] = [
  'attributes',
  'inputs',
  'output',
  'exception',
  'summary',
  'preview',
  'total_storage_size_bytes',
  'feedback',
];

const headerPaths: ReadonlySet<string> = new Set([
  ...headerAttributes.map((name) => `attributes.${name}`),
  ...['svc', 'weave'].flatMap((service) => headerSummaryFields.map((name) => `summary.${service}.${name}`)),
]);

/**
 * Whether queries know a path into calls from headers, in either dialect. Of attributes they do as far
 * as these are short texts.
 */
export const isHeaderPath = (path: string): boolean =>
  headerPaths.has(path) || !otherColumns.includes(path.split('.', 1)[0] ?? '');
