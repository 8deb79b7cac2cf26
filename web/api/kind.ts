import { type CallRow, opText, usageByModel } from './calls.ts';

/** What a call stands for, as `attributes.kind` has it. */
export const kinds = ['agent', 'model', 'tool', 'retriever', 'embedding', 'other'] as const;

export type Kind = (typeof kinds)[number];

/** What operations of each kind are called, where nobody says the kind. */
const named: readonly (readonly [Kind, RegExp])[] = [
  ['embedding', /embed/i],
  ['retriever', /retriev|rerank|vector/i],
  ['tool', /^tools?\b|execute_tool|tool[_ .]call|mcp/i],
  ['agent', /agent|\bturn\b/i],
  ['model', /\b(chat|completions?|messages\.create|llm|generate(_content)?|converse)\b/i],
];

/** The kind of a call: what it says itself, or what its usage and the name of its operation suggest. */
export const kindOf = (call: CallRow): Kind => {
  const said = kinds.find((kind) => kind === call.attributes?.kind);
  if (said) return said;
  const guess = named.find(([, name]) => name.test(opText(call.op_name)))?.[0];
  return guess ?? (usageByModel(call).size > 0 ? 'model' : 'other');
};

/** What a call was about, in a line each. */
export type Preview = NonNullable<CallRow['preview']>;
