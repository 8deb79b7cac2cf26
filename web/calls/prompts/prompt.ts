import {
  type PromptContent,
  type PromptMessage,
  parseTemplate,
  type TemplatePart,
} from '../../../api/shared/prompt-variables.ts';
import type { Request } from '../../api/contract.ts';
import { asString, isObject, jsonIn, nonEmptyString, valueAt } from '../../data/values.ts';

/*
 * Versions of prompts, as the service and Weave's SDKs store them: a `MessagesPrompt` has `messages`, a
 * `StringPrompt` has `content`, an `EasyPrompt` has `data`.
 */

type Fields = Readonly<Record<string, unknown>>;

/** What a version says; undefined if it is of no shape that is known. */
export const readContent = (value: unknown): PromptContent | undefined => {
  if (!isObject(value)) return undefined;
  const { messages, content, data } = value;
  const list = [messages, data].find(
    (each) => Array.isArray(each) && each.length > 0 && each.every(isObject),
  );
  if (list) return { messages: list as readonly PromptMessage[] };
  return typeof content === 'string' ? { text: content } : undefined;
};

/** What goes with a version: model, parameters, tools, a response schema, and others. */
export const readConfig = (value: unknown): Fields =>
  isObject(value) && isObject(value.config) ? value.config : {};

/** Messages of a prompt, for whatever takes messages: a text is one of the user's. */
export const asMessages = (content: PromptContent): readonly PromptMessage[] =>
  'text' in content ? [{ role: 'user', content: content.text }] : content.messages;

/** How a response schema stands in a request. */
const toFormat = (schema: unknown) => ({
  type: 'json_schema',
  json_schema: { name: 'answer', schema },
});

/** The model and the parameters of a request, as a version has them; undefined for what it leaves open. */
export const requestIn = ({
  model,
  parameters,
  tools,
  response_schema: schema,
}: Fields): { readonly model: string | undefined; readonly parameters: Fields | undefined } => {
  const all = {
    ...(isObject(parameters) && parameters),
    ...(Array.isArray(tools) && tools.length > 0 && { tools }),
    ...(isObject(schema) && { response_format: toFormat(schema) }),
  };
  return {
    model: nonEmptyString(model),
    parameters: Object.keys(all).length > 0 ? all : undefined,
  };
};

/** The other way: what of a request goes with its messages. What a former version had beside it stays. */
export const toConfig = (model: string, parameters: Fields, before: Fields = {}): Fields => {
  const {
    model: _model,
    parameters: _parameters,
    tools: _tools,
    response_schema: _schema,
    ...others
  } = before;
  const { tools, response_format: format, ...rest } = parameters;
  const { json_schema: named } = isObject(format) ? format : {};
  const schema = isObject(named) ? named.schema : undefined;
  const kept = { ...rest, ...(format !== undefined && !isObject(schema) && { response_format: format }) };
  return {
    ...others,
    ...(model.trim() !== '' && { model: model.trim() }),
    ...(Object.keys(kept).length > 0 && { parameters: kept }),
    ...(Array.isArray(tools) && tools.length > 0 && { tools }),
    ...(isObject(schema) && { response_schema: schema }),
  };
};

/** The body that makes a version of a prompt. */
export const toVersion = (
  project: string,
  name: string,
  content: PromptContent,
  config: Fields,
): Request<'/prompt/create'> => ({
  project_id: project,
  name,
  ...('text' in content
    ? { text: content.text }
    : { messages: content.messages as Request<'/prompt/create'>['messages'] }),
  ...(Object.keys(config).length > 0 && { config: config as Request<'/prompt/create'>['config'] }),
});

// The prompt of a call.

/** The prompt that a call says it was made of. */
export interface CalledPrompt {
  readonly name: string;
  /** As the call has it; undefined if it names none. */
  readonly version: string | undefined;
}

/** A value of an attribute in words: a text or a number. */
const wordOf = (value: unknown): string | undefined =>
  typeof value === 'number' ? String(value) : nonEmptyString(value);

/** The prompt of a call, by its attributes; undefined for none. */
export const getPrompt = (call: { readonly attributes?: unknown }): CalledPrompt | undefined => {
  const name = wordOf(valueAt(call.attributes, 'prompt.name'));
  return name === undefined
    ? undefined
    : { name, version: wordOf(valueAt(call.attributes, 'prompt.version')) };
};

/** How a version is called beside the name of its prompt: `v12` by its number, else as it is. */
export const versionText = (version: string): string => (/^\d+$/.test(version) ? `v${version}` : version);

/** A version of many, by its digest or its number, as links and calls have it: `3`, `v3`. */
export const findVersion = <Version extends { readonly digest: string; readonly version_index: number }>(
  versions: readonly Version[],
  sought: string,
): Version | undefined => {
  const index = /^v?(\d+)$/.exec(sought)?.[1];
  return versions.find(({ digest, version_index }) =>
    index === undefined ? digest === sought : version_index === Number(index),
  );
};

// Values of variables, as a call had them.

/**
 * What stood in the place of variables, if a text was made of a template; undefined if it was not. A
 * value ends where the text that follows it in the template comes first.
 */
export const matchTemplate = (template: string, text: string): ReadonlyMap<string, string> | undefined => {
  const parts = parseTemplate(template);
  const values = new Map<string, string>();
  let at = 0;
  for (const [number, part] of parts.entries()) {
    if ('text' in part) {
      if (!text.startsWith(part.text, at)) return undefined;
      at += part.text.length;
      continue;
    }
    const end = endOfValue(text, at, parts, number);
    if (end === undefined) return undefined;
    const value = text.slice(at, end);
    if ((values.get(part.variable) ?? value) !== value) return undefined;
    values.set(part.variable, value);
    at = end;
  }
  return at === text.length ? values : undefined;
};

/** Where the value of a variable ends. The last text of a template is the last of what was made of it. */
const endOfValue = (
  text: string,
  at: number,
  parts: readonly TemplatePart[],
  number: number,
): number | undefined => {
  const next = parts[number + 1];
  if (next === undefined) return text.length;
  // Nobody knows where one of two values ends that stand side by side.
  if (!('text' in next)) return undefined;
  const end = number + 2 === parts.length ? text.length - next.text.length : text.indexOf(next.text, at);
  return end < at ? undefined : end;
};

/**
 * The same for a text that was made of another version of the template: of the lines that both have. A line
 * that is all variable says nothing.
 */
const matchLines = (template: string, text: string): ReadonlyMap<string, string> => {
  const lines = text.split('\n');
  const found = new Map<string, string>();
  for (const line of template.split('\n')) {
    const parts = parseTemplate(line);
    const isTelling = parts.some((part) => 'text' in part && part.text.trim() !== '');
    if (!isTelling || parts.every((part) => 'text' in part)) continue;
    const values = lines.map((each) => matchTemplate(line, each)).find((match) => match !== undefined);
    for (const [name, value] of values ?? []) found.set(name, value);
  }
  return found;
};

/** The texts of a message that are templates, in their order. */
const textsOf = (message: PromptMessage): string[] => {
  const { content } = message;
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) =>
    isObject(part) ? (asString(part.text) ?? []) : (asString(part) ?? []),
  );
};

/**
 * The values that the variables of a prompt had in a call, of whichever version: what its messages have in
 * their place, then what its inputs have by their names.
 *
 * @param sent the messages of the call
 */
export const valuesIn = (
  content: PromptContent,
  variables: readonly string[],
  inputs: unknown,
  sent: readonly PromptMessage[],
): Readonly<Record<string, string>> => {
  const found = new Map<string, string>();
  for (const message of asMessages(content))
    for (const template of textsOf(message))
      for (const candidate of sent) {
        if (candidate.role !== message.role && 'messages' in content) continue;
        const texts = textsOf(candidate);
        const values =
          texts.map((text) => matchTemplate(template, text)).find((match) => match !== undefined) ??
          matchLines(template, texts.join('\n'));
        if (values.size === 0) continue;
        for (const [name, value] of values) if (!found.has(name)) found.set(name, value);
        break;
      }
  const given = isObject(inputs) ? inputs : {};
  for (const name of variables) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value !== undefined && value !== null && !found.has(name))
      found.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return Object.fromEntries([...found].filter(([name]) => variables.includes(name)));
};

/** An object that was typed as JSON, a list if that is wanted; undefined if it is something else. */
export const parseTyped = (
  text: string,
  kind: 'object' | 'list',
): Fields | readonly unknown[] | undefined => {
  const value = jsonIn(text);
  if (kind === 'list') return Array.isArray(value) ? (value as readonly unknown[]) : undefined;
  return isObject(value) ? value : undefined;
};
