import type { Request } from '../../api/contract.ts';
import { parseMessage } from '../../../api/shared/conversation.ts';
import { isObject } from '../../data/values.ts';
import { type Draft, emptyDraft, toDraftMessages, toMessages } from './draft.ts';

/*
 * Prompts are objects of the class `Prompt`, as Weave's SDKs publish them: `MessagesPrompt` has
 * `messages`, `StringPrompt` has `content`. A saved one is a `MessagesPrompt` that they read.
 */

type ObjectValue = Request<'/obj/create'>['obj']['val'];

/** A version of a prompt, as a link names it. */
export interface PromptVersion {
  readonly prompt: string;
  /** A digest, `latest`, or `v0`, `v1`, …. */
  readonly version: string;
}

/** The draft that a prompt begins; undefined if the object has no messages. */
export const draftOfPrompt = (value: unknown): Draft | undefined => {
  if (!isObject(value)) return undefined;
  const { messages, content, data } = value;
  const list = Array.isArray(messages) ? messages : Array.isArray(data) ? data : undefined;
  const all = list ?? (typeof content === 'string' ? [{ role: 'user', content }] : []);
  const drafted = all.flatMap((message) => toDraftMessages(parseMessage(message)));
  return drafted.length > 0 ? { ...emptyDraft(), messages: drafted } : undefined;
};

/** The value of a prompt with the messages of a draft, or what is wrong with them. */
export const toPrompt = (
  { messages }: Draft,
  name: string,
): { readonly value: ObjectValue } | { readonly problem: string } => {
  const written = toMessages(messages);
  if ('problem' in written) return written;
  return {
    value: {
      _type: 'MessagesPrompt',
      _class_name: 'MessagesPrompt',
      _bases: ['Prompt', 'Object', 'BaseModel'],
      name,
      description: null,
      messages: written.messages as ObjectValue[],
    },
  };
};
