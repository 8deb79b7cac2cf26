import { hashKey } from '@tanstack/react-query';
import { fillPrompt } from '../../../api/shared/prompt-variables.ts';
import type { Answer } from '../../api/contract.ts';
import type { Row } from '../../calls/datasets/rows.ts';
import { asString, isObject, jsonIn, nonEmptyString, valueAt } from '../../data/values.ts';
import { expectedFields } from './scores.ts';

/*
 * What an evaluation of a prompt is to do. It is stored with the evaluation, in `attributes.plan` of its root, so
 * that it can be continued wherever somebody opens it.
 */

/** The most rows that a page evaluates. */
export const maxRows = 200;

/** What the score of an exact match is called. */
export const exactName = 'exact_match';

/** A version of a prompt. */
export type PromptVersion = Answer<'/prompt/read'>;

/** A version of a prompt with a model, on a dataset. */
export interface Plan {
  readonly prompt: string;
  readonly version: number;
  readonly model: string;
  /** The column of each variable: a path into rows. */
  readonly variables: Readonly<Record<string, string>>;
  /** The column that answers are to equal. @default - they are compared with nothing */
  readonly exact?: string;
  /** Refs of the evaluators that score answers. */
  readonly evaluators: readonly string[];
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** The plan in the attributes of an evaluation; undefined if it has none, such as one that a program ran. */
export const parsePlan = (attributes: unknown): Plan | undefined => {
  const { prompt, plan } = isObject(attributes) ? attributes : {};
  if (!isObject(prompt) || !isObject(plan)) return undefined;
  const name = nonEmptyString(prompt.name);
  const version = Number(prompt.version ?? Number.NaN);
  const model = nonEmptyString(plan.model);
  if (name === undefined || model === undefined || !Number.isSafeInteger(version)) return undefined;
  const exact = nonEmptyString(plan.exact);
  const variables = Object.entries(isObject(plan.variables) ? plan.variables : {});
  return {
    prompt: name,
    version,
    model,
    variables: Object.fromEntries(variables.map(([variable, column]) => [variable, String(column)])),
    ...(exact !== undefined && { exact }),
    evaluators: textsOf(plan.evaluators),
  };
};

/** The attributes of an evaluation with a plan. */
export const toAttributes = ({ prompt, version, ...plan }: Plan) => ({
  source: 'evaluation',
  prompt: { name: prompt, version: String(version) },
  plan,
});

/** What is evaluated, in words. */
export const planText = ({ prompt, version, model }: Pick<Plan, 'prompt' | 'version' | 'model'>): string =>
  `${prompt} v${version} · ${model}`;

/** Rows whose columns are offered. */
const looked = 50;

/** The columns of rows as paths, those in `inputs` first: `inputs.question`, `expected`. */
export const columnsIn = (rows: readonly Row[]): readonly string[] => {
  const paths = rows
    .slice(0, looked)
    .flatMap((row) =>
      Object.entries(row).flatMap(([key, value]) =>
        isObject(value) ? [...Object.keys(value).map((inner) => `${key}.${inner}`), key] : [key],
      ),
    );
  const isInput = (path: string) => Number(!path.startsWith('inputs.'));
  return [...new Set(paths)].toSorted((one, other) => isInput(one) - isInput(other));
};

/** The columns of variables: of those of the same name, that of the inputs first. Others have none. */
export const matchColumns = (
  variables: readonly string[],
  columns: readonly string[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    variables.flatMap((name) => {
      const column = [`inputs.${name}`, name].find((path) => columns.includes(path));
      return column === undefined ? [] : [[name, column]];
    }),
  );

/** The column that says what is expected; undefined if there is none. */
export const findExpected = (columns: readonly string[]): string | undefined =>
  expectedFields.find((name) => columns.includes(name));

type Fields = Readonly<Record<string, unknown>>;

/** What a prompt sets of a request besides its messages. */
const toSettings = ({ parameters, tools, response_schema: schema }: Fields): Fields => {
  // An answer comes whole here.
  const { stream: _stream, stream_options: _options, ...others } = isObject(parameters) ? parameters : {};
  return {
    ...others,
    ...(Array.isArray(tools) && tools.length > 0 && { tools }),
    ...(isObject(schema) && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    }),
  };
};

/** The body of a chat. */
export type Chat = Fields & { readonly model: string; readonly messages: readonly Fields[] };

/** What a row asks of the model, or why it cannot. */
export const toChat = (
  { messages, text = '', config }: PromptVersion,
  { model, variables }: Plan,
  row: Row,
): { readonly body: Chat } | { readonly problem: string } => {
  const values = Object.fromEntries(
    Object.entries(variables).map(([name, column]) => [name, valueAt(row, column) ?? undefined]),
  );
  const { filled, missing } = fillPrompt(messages ? { messages } : { text }, values);
  const [name] = missing;
  if (name !== undefined)
    return { problem: `The row has nothing for {${name}} in ${variables[name] ?? 'any column'}.` };
  const sent = 'messages' in filled ? filled.messages : [{ role: 'user', content: filled.text }];
  return { body: { ...toSettings(config), model, messages: sent } };
};

/** What a model answered: its text, or its message if it calls tools. */
export const answerIn = (completion: unknown): unknown => {
  const choices = isObject(completion) ? completion.choices : undefined;
  const [first] = Array.isArray(choices) ? (choices as unknown[]) : [];
  const message = isObject(first) && isObject(first.message) ? first.message : undefined;
  if (!message) return completion ?? null;
  const calls = message.tool_calls;
  if (Array.isArray(calls) && calls.length > 0) return message;
  return asString(message.content) ?? asString(message.refusal) ?? message;
};

/**
 * Whether an answer is what was expected: a text but for white space at its ends, anything else as JSON, in
 * whatever order its fields are.
 */
export const isExact = (answer: unknown, expected: unknown): boolean => {
  if (typeof expected === 'string') return typeof answer === 'string' && answer.trim() === expected.trim();
  const value = typeof answer === 'string' ? jsonIn(answer) : answer;
  return expected !== undefined && value !== undefined && hashKey([value]) === hashKey([expected]);
};

/** What a token costs, in dollars. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
}

/** What a token has in bytes of usual text, and the tokens of a usual answer, as the service takes for judges. */
const bytesOfToken = 4;
export const usualAnswer = 150;

const bytesIn = (value: unknown): number =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value)).length;

/** The tokens that a request may take, about. */
export const estimateTokens = (body: Fields): { readonly input: number; readonly output: number } => {
  const { messages, tools, max_completion_tokens: some, max_tokens: others } = body;
  const limits = [some, others].filter((limit) => typeof limit === 'number');
  return {
    input: Math.ceil((bytesIn(messages ?? '') + (tools === undefined ? 0 : bytesIn(tools))) / bytesOfToken),
    output: Math.min(usualAnswer, ...limits),
  };
};

/** What requests may cost in dollars, about. */
export const estimateUsd = (bodies: readonly Fields[], { input, output }: TokenPrice): number =>
  bodies.reduce((sum, body) => {
    const tokens = estimateTokens(body);
    return sum + tokens.input * input + tokens.output * output;
  }, 0);

/** What the service puts around what is judged, in bytes, and what it says of the answer. */
const judgesFrame = 500;

/** A judge as far as its price goes. */
export interface Judged {
  readonly messages: readonly { readonly content: string }[];
  readonly parameters?: Fields | null | undefined;
}

/** What a judge may be asked about an answer: its own messages, and what the model was asked and answered. */
export const toJudgesChat = ({ messages, parameters }: Judged, body: Chat): Fields => ({
  ...parameters,
  messages: [...messages, ...body.messages, 'x'.repeat(usualAnswer * bytesOfToken + judgesFrame)],
});

/*
 * The ids of an evaluation's calls follow from that of its trace and the places of rows. So what was reported once
 * is reported again under the same id, and whoever continues finds it.
 */

/** Hex digits of a span's id, and of half of a trace's. */
const digits = 16;

const toSpan = (place: number): string => place.toString(16).padStart(digits, '0');

/** The spans of an evaluation: of its root, of a row and of the request for it, and of scorers. */
export const spans = {
  root: toSpan(1),
  row: (at: number): string => toSpan(2 * at + 2),
  request: (at: number): string => toSpan(2 * at + 3),
  scorer: (at: number, scorer: number): string => toSpan(2 ** 32 + 256 * at + scorer),
} as const;

/** The id of a span's call, as the service makes it of `traceparent`. */
export const toCallId = (trace: string, span: string): string => trace.slice(digits) + span;

/** The id of a new trace. */
export const newTraceId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(digits)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

/** What is chosen for an evaluation. */
export interface Choices {
  readonly versions: readonly PromptVersion[];
  /** Models for all versions. @default - that of each version's own `config` */
  readonly models: readonly string[];
  /** The dataset's rows. */
  readonly rows: readonly Row[];
  readonly variables: Readonly<Record<string, string>>;
  readonly exact: string | undefined;
  /** Refs of evaluators with the names of their scores. */
  readonly evaluators: readonly { readonly ref: string; readonly name: string }[];
}

/** The model that a version of a prompt says itself. */
export const modelOf = ({ config }: Pick<PromptVersion, 'config'>): string | undefined =>
  nonEmptyString(config.model);

/** The variables of versions, each once. */
export const variablesOf = (versions: readonly PromptVersion[]): readonly string[] => [
  ...new Set(versions.flatMap(({ variables }) => variables)),
];

/** The evaluations that choices mean, or what is missing. At most `most` are compared. */
export const toPlans = (
  { versions, models, rows, variables, exact, evaluators }: Choices,
  most: number,
):
  | { readonly plans: readonly Plan[]; readonly scorers: readonly string[] }
  | { readonly problem: string } => {
  if (versions.length === 0) return { problem: 'Choose at least one version of a prompt.' };
  const without = versions.find((version) => models.length === 0 && modelOf(version) === undefined);
  if (without) return { problem: `v${without.version_index} of ${without.name} names no model: choose one.` };
  if (rows.length === 0) return { problem: 'Choose a dataset with rows.' };
  const unfilled = variablesOf(versions).find((name) => variables[name] === undefined);
  if (unfilled !== undefined) return { problem: `Choose a column for {${unfilled}}.` };
  const scorers = [...(exact === undefined ? [] : [exactName]), ...evaluators.map(({ name }) => name)];
  if (scorers.length === 0) return { problem: 'Choose at least one score.' };
  const twice = scorers.find((name, at) => scorers.indexOf(name) !== at);
  if (twice !== undefined) return { problem: `Two scores are called ${twice}: choose one of them.` };
  const plans = versions.flatMap((version) =>
    (models.length > 0 ? models : [modelOf(version) ?? '']).map((model): Plan => {
      const own = Object.entries(variables).filter(([name]) => version.variables.includes(name));
      return {
        prompt: version.name,
        version: version.version_index,
        model,
        variables: Object.fromEntries(own),
        ...(exact !== undefined && { exact }),
        evaluators: evaluators.map(({ ref }) => ref),
      };
    }),
  );
  return plans.length > most
    ? { problem: `These are ${plans.length} evaluations, and ${most} can be compared: choose fewer.` }
    : { plans, scorers };
};
