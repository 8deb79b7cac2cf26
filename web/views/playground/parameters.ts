/** A parameter of OpenAI's chat, and how it is asked for. */
export type Field =
  | { readonly kind: 'number'; readonly name: string; readonly label: string; readonly hint: string }
  | {
      readonly kind: 'choice';
      readonly name: string;
      readonly label: string;
      readonly values: readonly string[];
    }
  | { readonly kind: 'lines'; readonly name: string; readonly label: string; readonly hint: string }
  | { readonly kind: 'format'; readonly name: string; readonly label: string }
  | { readonly kind: 'json'; readonly name: string; readonly label: string };

type Parameters = Readonly<Record<string, unknown>>;

const number = (name: string, label: string, hint: string): Field => ({ kind: 'number', name, label, hint });

const effort: Field = {
  kind: 'choice',
  name: 'reasoning_effort',
  label: 'Reasoning effort',
  values: ['none', 'minimal', 'low', 'medium', 'high'],
};

/** Models that think before they answer take no temperature, and count thoughts as tokens. */
const thinks = (model: string): boolean => /^(o\d|gpt-[5-9])/.test(model.slice(model.lastIndexOf('/') + 1));

/** Fields that a request has stay, whatever its model takes. */
const isSet = (parameters: Parameters, name: string): boolean => parameters[name] !== undefined;

/**
 * The fields of a request: those that its model knows, and any that it has already. Everything else
 * can be written as JSON.
 */
export const fieldsFor = (model: string, parameters: Parameters): readonly Field[] => {
  const thinking = thinks(model);
  const limit =
    isSet(parameters, 'max_completion_tokens') || (thinking && !isSet(parameters, 'max_tokens'))
      ? 'max_completion_tokens'
      : 'max_tokens';
  const shown = (field: Field, isKnown: boolean) => (isKnown || isSet(parameters, field.name) ? [field] : []);
  return [
    ...shown(number('temperature', 'Temperature', '0 to 2'), !thinking),
    number(limit, 'Max tokens', 'of the answer'),
    ...shown(number('top_p', 'Top p', '0 to 1'), !thinking),
    ...shown(effort, thinking),
    ...shown({ kind: 'lines', name: 'stop', label: 'Stop sequences', hint: 'one per line' }, !thinking),
    number('seed', 'Seed', 'an integer'),
    { kind: 'format', name: 'response_format', label: 'Response format' },
    { kind: 'json', name: 'tools', label: 'Tools' },
    ...shown(
      { kind: 'choice', name: 'tool_choice', label: 'Tool choice', values: ['auto', 'none', 'required'] },
      isSet(parameters, 'tools'),
    ),
  ];
};

/** The names of tools, as a request lists them. */
export const toolNames = (tools: unknown): string[] =>
  Array.isArray(tools)
    ? tools.flatMap((tool: { function?: { name?: unknown } } | null) => {
        const name = tool?.function?.name;
        return typeof name === 'string' ? [name] : [];
      })
    : [];

/** The number of a text; null for one that is none. */
export const numberIn = (text: string): number | undefined | null => {
  if (text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
};

/** Texts to stop at as lines. */
export const toLines = (stop: unknown): string =>
  Array.isArray(stop) ? stop.join('\n') : typeof stop === 'string' ? stop : '';

/** What lines mean: nothing, one text, or a list. */
export const parseStop = (lines: string): string | readonly string[] | undefined => {
  const texts = lines.split('\n').filter((line) => line !== '');
  return texts.length > 1 ? texts : texts[0];
};
