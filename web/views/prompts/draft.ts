import type { PromptContent, PromptMessage } from '../../../api/shared/prompt-variables.ts';
import { parseTemplate, variablesIn } from '../../../api/shared/prompt-variables.ts';
import { parseTyped, readConfig, readContent } from '../../calls/prompts/prompt.ts';
import { isObject, jsonIn, nonEmptyString } from '../../data/values.ts';
import { valueText } from '../../ui/diff.ts';

/* A version of a prompt as it is edited. */

type Fields = Readonly<Record<string, unknown>>;

/** A message as it is edited: role and text, or, if it has anything else, JSON. */
export interface DraftMessage {
  /** Tells the messages of a draft apart. */
  readonly key: number;
  readonly role: string;
  readonly text: string;
  /** The whole message as JSON; undefined if role and text are all. */
  readonly json: string | undefined;
}

export interface Draft {
  readonly kind: 'messages' | 'text';
  readonly messages: readonly DraftMessage[];
  readonly text: string;
  readonly model: string;
  /** The parts of `config` as JSON; empty for none. */
  readonly parameters: string;
  readonly tools: string;
  readonly schema: string;
  /** What else `config` has, as JSON. */
  readonly others: string;
  /** The number of the newest version when it was begun; -1 for a new prompt. */
  readonly newest: number;
}

const toJson = (value: unknown): string => JSON.stringify(value, null, 2);

let count = 0;

/** A message to begin with. */
export const draftMessage = (role: string, text = '', json?: string): DraftMessage => ({
  key: ++count,
  role,
  text,
  json,
});

const toDraftMessage = (message: PromptMessage): DraftMessage => {
  const { role, content, ...others } = message;
  return typeof role === 'string' && typeof content === 'string' && Object.keys(others).length === 0
    ? draftMessage(role, content)
    : draftMessage(typeof role === 'string' ? role : '', '', toJson(message));
};

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : toJson(value));

/**
 * The draft that a version begins.
 *
 * @param value undefined for a new prompt
 * @param newest the number of the newest version; -1 for a new prompt
 */
export const toDraft = (value: unknown, newest: number): Draft => {
  const content = readContent(value);
  const { model, parameters, tools, response_schema: schema, ...others } = readConfig(value);
  return {
    kind: content && 'text' in content ? 'text' : 'messages',
    messages:
      content && 'messages' in content
        ? content.messages.map(toDraftMessage)
        : [draftMessage('system'), draftMessage('user')],
    text: content && 'text' in content ? content.text : '',
    model: nonEmptyString(model) ?? '',
    parameters: textOf(parameters),
    tools: textOf(tools),
    schema: textOf(schema),
    others: Object.keys(others).length > 0 ? toJson(others) : '',
    newest,
  };
};

/** What a draft says, or what is wrong with it, in words. */
export type Read =
  | { readonly content: PromptContent; readonly config: Fields }
  | { readonly problem: string };

const readMessages = (messages: readonly DraftMessage[]): readonly PromptMessage[] | string => {
  if (messages.length === 0) return 'Write at least one message.';
  const read: PromptMessage[] = [];
  for (const [at, { role, text, json }] of messages.entries()) {
    const message = json === undefined ? { role, content: text } : jsonIn(json);
    if (!isObject(message)) return `Message ${at + 1} is not a JSON object.`;
    if (nonEmptyString(message.role) === undefined) return `Message ${at + 1} has no role.`;
    read.push(message);
  }
  return read;
};

const parts = [
  ['parameters', 'parameters', 'object', 'The parameters are not a JSON object.'],
  ['tools', 'tools', 'list', 'The tools are not a JSON list.'],
  ['schema', 'response_schema', 'object', 'The response schema is not a JSON object.'],
] as const;

/** Reads a draft. */
export const readDraft = (draft: Draft): Read => {
  const others = draft.others.trim() === '' ? {} : parseTyped(draft.others, 'object');
  if (!others) return { problem: 'The other settings are not a JSON object.' };
  const config: Record<string, unknown> = {
    ...others,
    ...(draft.model.trim() !== '' && { model: draft.model.trim() }),
  };
  for (const [part, name, kind, problem] of parts) {
    if (draft[part].trim() === '') continue;
    const value = parseTyped(draft[part], kind);
    if (value === undefined) return { problem };
    config[name] = value;
  }
  if (draft.kind === 'text')
    return draft.text === '' ? { problem: 'Write a text.' } : { content: { text: draft.text }, config };
  const messages = readMessages(draft.messages);
  return typeof messages === 'string' ? { problem: messages } : { content: { messages }, config };
};

/** A version as text that can be compared: roles and texts with their lines, then what goes with them. */
export const versionText = (content: PromptContent | undefined, config: Fields, value?: unknown): string => {
  if (!content) return valueText(value);
  const said =
    'text' in content
      ? [content.text]
      : content.messages.map((message) => {
          const { role, content: text, ...others } = message;
          const more = Object.keys(others).length > 0 ? `\n${valueText(others)}` : '';
          return `${String(role)}:\n${typeof text === 'string' ? text : valueText(text)}${more}`;
        });
  return [...said, ...(Object.keys(config).length > 0 ? [`config:\n${valueText(config)}`] : [])].join('\n\n');
};

/** What of drafts is compared. */
const comparable = ({ newest: _newest, messages, ...others }: Draft): string =>
  JSON.stringify([others, messages.map(({ role, text, json }) => [role, text, json ?? null])]);

/** Whether a draft differs from the one that it began as. */
export const isChanged = (draft: Draft, first: Draft): boolean => comparable(draft) !== comparable(first);

/** The variables of a draft; none while it cannot be read. */
export const variablesOfDraft = (read: Read): readonly string[] =>
  'problem' in read ? [] : variablesIn(read.content);

/** Names in doubled braces, as other tools have variables: here they are text. */
export const doubledNames = (template: string): readonly string[] => {
  const text = parseTemplate(template)
    .map((part) => ('text' in part ? part.text : ' '))
    .join('');
  const names = [...template.matchAll(/\{\{\s*([\p{XID_Start}_]\p{XID_Continue}*)\s*\}\}/gu)].map(
    ([, name]) => name ?? '',
  );
  return [...new Set(names)].filter((name) => text.includes(name));
};
