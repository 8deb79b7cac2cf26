/*
 * Prompts and their variables, as the service, the page and clients read them. A variable is `{name}`, and
 * `{{` and `}}` are braces, as in Weave's prompts. Any other brace is text, so JSON may stand in a prompt.
 * Nothing is imported here, so that browsers can load this as it is.
 *
 * test/unit/api/prompt-variables.json has cases for whoever reads prompts in another language.
 */

/** A message of a prompt, as chat models take it. */
export type PromptMessage = Readonly<Record<string, unknown>>;

/** What a prompt says: messages, or one text. */
export type PromptContent = { readonly messages: readonly PromptMessage[] } | { readonly text: string };

/** A piece of a template: text as it is meant, or the name of a variable. */
export type TemplatePart = { readonly text: string } | { readonly variable: string };

/**
 * What is not text. A name is an identifier (https://unicode.org/reports/tr31), which Python's
 * `str.isidentifier` knows, too. Words of some scripts have joiners, of which versions of Unicode disagree.
 */
const token = /\{\{|\}\}|\{([\p{XID_Start}_](?:\p{XID_Continue}|[\u200c\u200d])*)\}/gu;

/** A piece of a template as it is written. `{{` and `}}` are pieces of their own. */
export interface WrittenPart {
  readonly written: string;
  /** The name, if it is a variable. */
  readonly variable?: string;
}

/** The pieces of a template as they are written, from left to right. They add up to it. */
export const splitTemplate = (template: string): readonly WrittenPart[] => {
  const parts: WrittenPart[] = [];
  let from = 0;
  for (const { 0: written, 1: variable, index } of template.matchAll(token)) {
    if (index > from) parts.push({ written: template.slice(from, index) });
    parts.push(variable === undefined ? { written } : { written, variable });
    from = index + written.length;
  }
  if (from < template.length) parts.push({ written: template.slice(from) });
  return parts;
};

/** Reads a template from left to right. No two of its pieces in a row are text. */
export const parseTemplate = (template: string): readonly TemplatePart[] => {
  const parts: TemplatePart[] = [];
  let text = '';
  const endText = () => {
    if (text !== '') parts.push({ text });
    text = '';
  };
  for (const { written, variable } of splitTemplate(template)) {
    if (variable === undefined) text += written === '{{' || written === '}}' ? written.charAt(0) : written;
    else {
      endText();
      parts.push({ variable });
    }
  }
  endText();
  return parts;
};

/** A value as it stands in a text: a text as it is, anything else as JSON. */
const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

type Values = Readonly<Record<string, unknown>>;

const hasValue = (values: Values, name: string): boolean =>
  Object.hasOwn(values, name) && values[name] !== undefined;

/** A template with values in the place of its variables. Those without a value stay as `{name}`. */
const fillTemplate = (template: string, values: Values): string =>
  parseTemplate(template)
    .map((part) => {
      if ('text' in part) return part.text;
      return hasValue(values, part.variable) ? toText(values[part.variable]) : `{${part.variable}}`;
    })
    .join('');

const isObject = (value: unknown): value is PromptMessage =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A message with its templates changed: the texts in it, and in the objects of its lists, as Weave's SDKs
 * have it. What lies deeper, such as the URL of an image, is no template.
 */
const mapTemplates = (message: PromptMessage, change: (template: string) => string): PromptMessage =>
  Object.fromEntries(
    Object.entries(message).map(([key, value]) => {
      if (typeof value === 'string') return [key, change(value)];
      if (!Array.isArray(value) || !value.every(isObject)) return [key, value];
      return [key, value.map((part) => mapTemplates(part, change))];
    }),
  );

/** The variables of a prompt, each once, in the order in which they come. */
export const variablesIn = (content: PromptContent): readonly string[] => {
  const names = new Set<string>();
  const look = (template: string): string => {
    for (const part of parseTemplate(template)) if ('variable' in part) names.add(part.variable);
    return template;
  };
  if ('text' in content) look(content.text);
  else for (const message of content.messages) mapTemplates(message, look);
  return [...names];
};

/**
 * Fills a prompt in.
 *
 * @param values texts, or anything else, which stands in the prompt as JSON
 * @returns the prompt as it is sent to a model, and the variables without a value, which stay as `{name}`
 */
export const fillPrompt = (
  content: PromptContent,
  values: Values,
): { readonly filled: PromptContent; readonly missing: readonly string[] } => {
  const fill = (template: string): string => fillTemplate(template, values);
  return {
    filled:
      'text' in content
        ? { text: fill(content.text) }
        : { messages: content.messages.map((message) => mapTemplates(message, fill)) },
    missing: variablesIn(content).filter((name) => !hasValue(values, name)),
  };
};
