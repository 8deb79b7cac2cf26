import { guessKindByName, type Kind, kinds } from '../../api/shared/header-fields.ts';
import { type CallRow, getTool, opText, usageByModel } from './calls.ts';

export type { Kind };

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

/** The kind that the name of an operation suggests; undefined for none. */
export const guessKind = (op: string): Kind | undefined => guessKindByName(opText(op));

/** The kind of a call: what it says itself, or what its usage and the name of its operation suggest. */
export const getKind = (call: CallRow): Kind => {
  const kind = kinds.find((kind) => kind === call.attributes?.kind);
  if (kind) return kind;
  if (getTool(call) !== undefined) return 'tool';
  return guessKind(call.op_name) ?? (usageByModel(call).size > 0 ? 'model' : 'other');
};

/** What a call was about, in a line each. */
export type Preview = NonNullable<CallRow['preview']>;
