import { parseMessage } from '../../../api/shared/conversation.ts';
import type { Call, Request } from '../../api/contract.ts';
import {
  asMessages,
  readConfig,
  readContent,
  requestIn,
  toConfig,
  toVersion,
} from '../../calls/prompts/prompt.ts';
import {
  type Draft,
  emptyDraft,
  fillDraft,
  parametersIn,
  toDraft,
  toDraftMessages,
  toMessages,
  valuesOfCall,
} from './draft.ts';

/** A version of a prompt, as a link names it. */
export interface PromptVersion {
  readonly prompt: string;
  /** A digest, `latest`, or `v0`, `v1`, …. */
  readonly version: string;
}

/** A stored version of a prompt, with its messages as a draft has them. */
export interface StoredPrompt {
  readonly name: string;
  /** Its `version_index`. */
  readonly version: number;
  readonly messages: Draft['messages'];
}

/** What a prompt begins: its messages are templates, and its `config` leaves open what it does not name. */
export interface PromptDraft {
  readonly messages: Draft['messages'];
  readonly model: string | undefined;
  readonly parameters: Draft['parameters'] | undefined;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The draft that a version of a prompt begins; undefined if the object has no messages. */
export const draftOfPrompt = (value: unknown): PromptDraft | undefined => {
  const content = readContent(value);
  const messages = content
    ? asMessages(content).flatMap((message) => toDraftMessages(parseMessage(message)))
    : [];
  if (messages.length === 0) return undefined;
  const config = readConfig(value);
  const { model, parameters } = requestIn(config);
  return { messages, model, parameters: parameters && JSON.stringify(parameters, null, 2), config };
};

/** A recorded call's request, with what a prompt has in its place, and the values that its variables had. */
export const seedDraft = (
  original: Pick<Call, 'inputs' | 'output'> | undefined,
  prompted: PromptDraft | undefined,
): Draft => {
  const recorded = (original && toDraft(original)) ?? emptyDraft();
  if (!prompted) return recorded;
  const draft: Draft = {
    model: prompted.model ?? recorded.model,
    messages: prompted.messages,
    parameters: prompted.parameters ?? recorded.parameters,
    values: {},
  };
  return original ? { ...draft, values: valuesOfCall(draft, original) } : draft;
};

const sentText = (draft: Draft): string => JSON.stringify(toMessages(fillDraft(draft).messages));

/** Whether what a draft sends is what a version says, with its variables filled in. Model and parameters may differ. */
export const isMadeOf = (draft: Draft, { messages }: Pick<StoredPrompt, 'messages'>): boolean =>
  sentText(draft) === sentText({ ...draft, messages, values: draft.values ?? {} });

/**
 * The body that saves a draft as a version of a prompt, or what is wrong with it.
 *
 * @param before the `config` of the version that it began with
 */
export const toPrompt = (
  project: string,
  name: string,
  draft: Draft,
  before: Readonly<Record<string, unknown>>,
): { readonly body: Request<'/prompt/create'> } | { readonly problem: string } => {
  const written = toMessages(draft.messages);
  if ('problem' in written) return written;
  const parameters = parametersIn(draft);
  if (!parameters) return { problem: 'The parameters are not a JSON object.' };
  return {
    body: toVersion(project, name, { messages: written.messages }, toConfig(draft.model, parameters, before)),
  };
};
