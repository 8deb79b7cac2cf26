import type { EvaluatorValue } from '../../../api/evaluators.ts';
import { evaluatorClass } from '../../../api/shared/classes.ts';
import {
  everyTrace,
  type Kept,
  type KeptFilter,
  keptTexts,
  toFilter,
  toKept,
} from '../../calls/filters/kept-filter.ts';
import { costText, countedText, durationText } from '../../data/format.ts';
import { isObject, jsonIn } from '../../data/values.ts';
import type { EvaluatorsSearch } from '../../navigation/search.ts';

/** The checks by their fields, as the form names them. */
export const checks = {
  contains: 'The output contains',
  regex: 'The output matches',
  json_schema: 'The output fits the JSON Schema',
  max_latency_ms: 'Latency is at most, in ms',
  max_cost_usd: 'Cost is at most, in USD',
  max_tool_calls: 'Tool calls are at most',
} as const;

export type CheckName = keyof typeof checks;

export const checkNames = Object.keys(checks) as readonly CheckName[];

type Judge = NonNullable<EvaluatorValue['judge']>;

/** What a judge answers, in words. */
const answerText = ({ type, labels, minimum, maximum }: Judge['answer']): string => {
  if (type === 'label') return (labels ?? []).join(', ');
  if (type === 'boolean') return 'true or false';
  const from = minimum ?? undefined;
  const to = maximum ?? undefined;
  if (from !== undefined && to !== undefined) return `${from} to ${to}`;
  return from !== undefined ? `${from} or more` : to !== undefined ? `up to ${to}` : 'a number';
};

const describeCheck = (check: NonNullable<EvaluatorValue['check']>): string => {
  if (typeof check.contains === 'string') return `contains “${check.contains}”`;
  if (typeof check.regex === 'string') return `matches ${check.regex}`;
  if (typeof check.max_latency_ms === 'number') return `takes at most ${durationText(check.max_latency_ms)}`;
  if (typeof check.max_cost_usd === 'number') return `costs at most ${costText(check.max_cost_usd)}`;
  if (typeof check.max_tool_calls === 'number')
    return `at most ${countedText(check.max_tool_calls, 'call')} of tools`;
  return 'fits a JSON Schema';
};

/** How an evaluator judges, in words. */
export const kindText = ({ judge, check }: EvaluatorValue): string => {
  if (judge) return `${judge.model}: ${answerText(judge.answer)}`;
  return check ? `check: ${describeCheck(check)}` : 'nothing';
};

/** What an evaluator is about, as the filters of lists read it. */
const keptIn = ({ filter, query }: EvaluatorValue): Kept => ({
  ...(isObject(filter) && { filter }),
  ...(isObject(query) && { query: query as NonNullable<Kept['query']> }),
});

/** What an evaluator is on, in words: `12.5 % of traces, production, 1 filter`. */
export const onText = (value: EvaluatorValue): string => {
  const share = Math.round(value.sample_rate * 10_000) / 100;
  const filter = toFilter(keptIn(value));
  const things = value.on === 'trace' || !filter.all ? 'traces' : 'calls';
  return [`${share === 100 ? 'all' : `${share} % of`} ${things}`, ...keptTexts(filter)].join(', ');
};

/** A message of a judge as it is edited. */
export interface DraftMessage {
  /** Tells it from others while they change. */
  readonly number: number;
  readonly role: Judge['messages'][number]['role'];
  readonly content: string;
}

/** An evaluator as it is edited: what is typed is text. */
export interface Draft {
  readonly name: string;
  readonly on: EvaluatorValue['on'];
  readonly filter: KeptFilter;
  /** In percent. */
  readonly sample: string;
  readonly kind: 'judge' | 'check';
  readonly model: string;
  readonly messages: readonly DraftMessage[];
  readonly answer: Judge['answer']['type'];
  readonly labels: readonly string[];
  readonly minimum: string;
  readonly maximum: string;
  /** As JSON; empty for none. */
  readonly parameters: string;
  /** In dollars. */
  readonly limit: string;
  readonly check: CheckName;
  readonly checked: string;
}

const jsonText = (value: unknown): string =>
  value === undefined || value === null ? '' : JSON.stringify(value, null, 2);

const numberText = (value: number | null | undefined): string =>
  typeof value === 'number' ? String(value) : '';

const firstPrompt = 'Did the assistant do what the user asked for?\n{{conversation}}';

/** A draft to begin with. */
export const emptyDraft = (kind: Draft['kind']): Draft => ({
  name: '',
  on: 'call',
  filter: { all: true, others: [], rest: {} },
  sample: '100',
  kind,
  model: '',
  messages: [{ number: 1, role: 'user', content: firstPrompt }],
  answer: 'boolean',
  labels: ['good', 'bad'],
  minimum: '1',
  maximum: '5',
  parameters: '',
  limit: '1',
  check: 'contains',
  checked: '',
});

/** How many calls of tools a trace may have that is no loop, to begin with. */
const fewToolCalls = '20';

/** A new evaluator: one that watches for an issue, or an empty one. */
export const draftFrom = (
  { watch, loops, all, status, text, where }: EvaluatorsSearch,
  kind: Draft['kind'],
): Draft => {
  if (watch === undefined) return emptyDraft(kind);
  const draft = { ...emptyDraft(loops ? 'check' : kind), name: watch.slice(0, 100) };
  if (loops)
    return { ...draft, on: 'trace', filter: everyTrace, check: 'max_tool_calls', checked: fewToolCalls };
  // Braces of a title are no placeholders.
  const title = JSON.stringify(watch).replace(/\{(?=\{)/g, '{ ');
  const content = `This went wrong before: ${title}\nDoes it go wrong here, too? Answer true if it does not, and false if it does.\n\n{{inputs}}\n\n{{output}}`;
  return {
    ...draft,
    filter: {
      ...(all && { all }),
      ...(status && { status }),
      ...(text && { text }),
      ...(where && { where }),
      others: [],
      rest: {},
    },
    messages: [{ number: 1, role: 'user', content }],
  };
};

/** An evaluator as a draft. */
export const toDraft = (value: EvaluatorValue): Draft => {
  const { judge, check } = value;
  const before = emptyDraft(judge ? 'judge' : 'check');
  const checkName = checkNames.find((name) => check?.[name] !== undefined && check[name] !== null);
  const checked = checkName && check?.[checkName];
  return {
    ...before,
    name: value.name,
    on: value.on,
    filter: toFilter(keptIn(value)),
    sample: String(Math.round(value.sample_rate * 1e6) / 1e4),
    limit: numberText(value.max_usd_per_day) || before.limit,
    ...(judge && {
      model: judge.model,
      messages: judge.messages.map(({ role, content }, at) => ({ number: at + 1, role, content })),
      answer: judge.answer.type,
      ...(judge.answer.labels && { labels: judge.answer.labels }),
      ...(judge.answer.type === 'number' && {
        minimum: numberText(judge.answer.minimum),
        maximum: numberText(judge.answer.maximum),
      }),
      parameters: jsonText(judge.parameters),
    }),
    ...(checkName && {
      check: checkName,
      checked: typeof checked === 'string' ? checked : jsonText(checked),
    }),
  };
};

/** What is wrong with a draft, for the one who writes it. */
class Problem extends Error {}

const numberIn = (text: string, what: string): number => {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new Problem(`${what} should be a number.`);
  return value;
};

const parseJson = (text: string, what: string): unknown => {
  const value = jsonIn(text);
  if (value === undefined) throw new Problem(`${what} should be JSON.`);
  return value;
};

const toAnswer = ({ answer: type, labels, minimum, maximum }: Draft): Judge['answer'] => {
  if (type === 'label') return { type, labels: [...labels] };
  if (type === 'boolean') return { type };
  return {
    type,
    ...(minimum.trim() && { minimum: numberIn(minimum, 'The least number') }),
    ...(maximum.trim() && { maximum: numberIn(maximum, 'The largest number') }),
  };
};

const toCheck = ({ check, checked }: Draft): NonNullable<EvaluatorValue['check']> => {
  if (check === 'contains' || check === 'regex') {
    if (checked === '') throw new Problem(`${checks[check]} nothing: write what it should be.`);
    return { [check]: checked };
  }
  if (check === 'json_schema') return { json_schema: parseJson(checked, 'The JSON Schema') as never };
  return { [check]: numberIn(checked, 'The limit of the check') };
};

/**
 * The value of a draft.
 *
 * @throws Error in words, for what is no number, no JSON or not there; all else the service checks
 */
export const evaluatorValue = (draft: Draft, enabled: boolean): EvaluatorValue => {
  const { name, on, filter, sample, kind, model, messages, parameters, limit } = draft;
  return {
    _type: evaluatorClass,
    name: name.trim(),
    ...(toKept(filter) as Pick<EvaluatorValue, 'filter' | 'query'>),
    on,
    sample_rate: numberIn(sample, 'The share of calls') / 100,
    ...(kind === 'judge'
      ? {
          judge: {
            model: model.trim(),
            messages: messages.map(({ role, content }) => ({ role, content })),
            answer: toAnswer(draft),
            ...(parameters.trim() && {
              parameters: parseJson(parameters, 'Parameters') as NonNullable<Judge['parameters']>,
            }),
          },
          max_usd_per_day: numberIn(limit, 'The limit of a day'),
        }
      : { check: toCheck(draft) }),
    enabled,
  };
};

/** The name of the object of a new evaluator: letters, digits and signs that every name may have. */
export const toObjectId = (name: string): string =>
  name
    .trim()
    .normalize('NFKD')
    .replace(/[^\w.-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 100) || `evaluator-${Date.now().toString(36)}`;
