import { kinds } from '../../api/shared/header-fields.ts';
import { type CallRow, getTool, opText, usageByModel } from './calls.ts';

export type Kind = (typeof kinds)[number];

/** The kinds of calls in words, as groups of them are called. */
export const kindTexts: Readonly<Record<Kind, string>> = {
  agent: 'Turns and agents',
  workflow: 'Workflows',
  model: 'Models',
  tool: 'Tools',
  retriever: 'Retrievers',
  embedding: 'Embeddings',
  plan: 'Plans',
  memory: 'Memory',
  guardrail: 'Guardrails',
  evaluator: 'Evaluators',
  other: 'Other',
};

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

/** The kind that the name of an operation suggests; undefined for none. */
export const guessKind = (op: string): Kind | undefined =>
  named.find(([, name]) => name.test(opText(op)))?.[0];

/** The kind of a call: what it says itself, or what its usage and the name of its operation suggest. */
export const getKind = (call: CallRow): Kind => {
  const kind = kinds.find((kind) => kind === call.attributes?.kind);
  if (kind) return kind;
  if (getTool(call) !== undefined) return 'tool';
  return guessKind(call.op_name) ?? (usageByModel(call).size > 0 ? 'model' : 'other');
};

/** What a call was about, in a line each. */
export type Preview = NonNullable<CallRow['preview']>;
