import * as z from 'zod/mini';
import { type Expression, optionalQuery, pathsIn, type RecordKind } from '../foundations/expression/index.ts';
import {
  count,
  displayText,
  documented,
  field,
  finite,
  freeObject,
  freeValue,
  id,
  integerWith,
  listSchema,
  nullish,
  problem,
  record,
  rule,
  time,
} from '../foundations/wire/schema.ts';
import { batch, endpoint } from './endpoint.ts';
import { flag, ignoredUser, project, queryNames, queryText } from './fields.ts';
import { refs } from './objects.ts';
import { callKind, filter, noIncludes } from './queries.ts';
import { evaluatorClass } from './shared/classes.ts';
import { maxScored } from './shared/evaluators.ts';

// What a judge answers.

const maxLabels = 50;

/** A text of 1 to so many characters, without lone surrogates. */
export const textUpTo = (most: number) =>
  z
    .string()
    .check(
      z.refine(
        (text) => text.length > 0 && text.length <= most && text.isWellFormed(),
        rule(`should be 1 to ${most} characters, without lone surrogates`),
      ),
    )
    .register(documented, { keywords: { minLength: 1, maxLength: most } });

const label = textUpTo(100);

const answerFields = () => ({
  type: field(
    z.enum(['boolean', 'number', 'label']),
    'What its value is: true or false, a number, or one of some labels.',
  ),
  labels: field(nullish(listSchema(label, maxLabels)), 'At least two labels.'),
  minimum: field(nullish(finite()), 'The least number.'),
  maximum: field(nullish(finite()), 'The largest number.'),
});

/** What a judge is to answer. */
const answer = () =>
  record(
    answerFields(),
    {},
    undefined,
    z.check(({ value, issues }) => {
      const { type, labels, minimum, maximum } = value;
      const named = labels ?? [];
      if (type === 'label' && (named.length < 2 || new Set(named).size < named.length))
        issues.push(problem('should be at least two labels, each once', value, 'labels'));
      if (type !== 'label' && labels) issues.push(problem('is only for the type "label"', value, 'labels'));
      for (const name of ['minimum', 'maximum'] as const)
        if (type !== 'number' && typeof value[name] === 'number')
          issues.push(problem('is only for the type "number"', value, name));
      if (typeof minimum === 'number' && typeof maximum === 'number' && minimum >= maximum)
        issues.push(problem('should be above the minimum', value, 'maximum'));
    }),
  );

/** What a judge's value may be. */
export type JudgeAnswer = z.output<ReturnType<typeof answer>>;

// What a judge is asked.

/**
 * Finds placeholders, `{{inputs.question}}`, with what they name, perhaps between spaces. An expression
 * that leaves these out takes hours for thousands of them.
 */
export const placeholder = /\{\{([^{}]*)\}\}/g;

const whole: ReadonlySet<string> = new Set(['inputs', 'output', 'attributes', 'conversation', 'expected']);

/** Whether a placeholder names something of a call. */
const isPlaceholder = (name: string): boolean =>
  whole.has(name) || /^(?:inputs|output|attributes)\.[^\s]+$/.test(name);

const placeholderRule =
  'is not a placeholder: write {{inputs.<path>}}, {{output}}, {{output.<path>}}, {{attributes.<path>}}, {{conversation}} or {{expected}}';

const maxMessages = 20;
const maxContent = 20_000;

const message = () =>
  record({
    role: field(z.enum(['system', 'developer', 'user', 'assistant']), 'Who says it.'),
    content: field(
      textUpTo(maxContent).check(
        z.check(({ value, issues }) => {
          for (const [text, name = ''] of value.matchAll(placeholder))
            if (!isPlaceholder(name.trim())) issues.push(problem(`${text} ${placeholderRule}`, value));
        }),
      ),
      'The text, with placeholders for what is judged.',
    ),
  });

const maxTokens = integerWith(z.minimum(1), z.maximum(100_000));

/** What of a request a judge may set: nothing that would cost more than was reserved for it. */
const parameters = () =>
  z.strictObject({
    temperature: field(nullish(finite(z.minimum(0), z.maximum(2))), 'Passed on.'),
    top_p: field(nullish(finite(z.minimum(0), z.maximum(1))), 'Passed on.'),
    presence_penalty: field(nullish(finite(z.minimum(-2), z.maximum(2))), 'Passed on.'),
    frequency_penalty: field(nullish(finite(z.minimum(-2), z.maximum(2))), 'Passed on.'),
    seed: field(nullish(integerWith()), 'Passed on.'),
    max_tokens: field(nullish(maxTokens), 'The most tokens of the answer, for upstreams of this name.'),
    max_completion_tokens: field(nullish(maxTokens), 'The most tokens of the answer; 1000 without it.'),
    reasoning_effort: field(nullish(textUpTo(20)), 'Passed on.'),
    verbosity: field(nullish(textUpTo(20)), 'Passed on.'),
  });

const judge = () =>
  record({
    model: field(id, "The model's name. It decides on the upstream, and it needs a price in dollars."),
    messages: field(
      listSchema(message(), maxMessages).check(
        z.refine(
          (list) => list.some(({ content }) => content.search(placeholder) >= 0),
          rule('should hold at least one placeholder: a judge needs something to judge'),
        ),
      ),
      'The prompt.',
    ),
    answer: field(answer(), 'What it is to answer.'),
    parameters: field(nullish(parameters()), 'Further fields of the request.'),
  });

/** A model as the judge of calls. */
export type Judge = z.output<ReturnType<typeof judge>>;

// What needs no judge.

const maxContained = 10_000;
const maxRegex = 1000;

const checkNames = [
  'contains',
  'regex',
  'json_schema',
  'max_latency_ms',
  'max_cost_usd',
  'max_tool_calls',
] as const;

const check = () =>
  record(
    {
      contains: field(nullish(textUpTo(maxContained)), 'A text that the output holds.'),
      regex: field(nullish(textUpTo(maxRegex)), 'A regular expression of RE2 that is found in the output.'),
      json_schema: field(
        nullish(freeValue),
        'A JSON Schema (2020-12, without patterns) that the output fits, or the JSON in its text.',
      ),
      max_latency_ms: field(nullish(count), 'The most milliseconds from start to end.'),
      max_cost_usd: field(nullish(finite(z.minimum(0))), 'The most that it may have cost, in dollars.'),
      max_tool_calls: field(nullish(count), 'The most calls of tools.'),
    },
    {},
    undefined,
    z.check(({ value, issues }) => {
      const given = checkNames.filter((name) => value[name] !== undefined && value[name] !== null);
      if (given.length !== 1)
        issues.push(problem(`should have exactly one of ${checkNames.join(', ')}`, value));
    }),
  );

/** A check of calls that takes no model. One of its fields is not null. */
export type Check = z.output<ReturnType<typeof check>>;

// Evaluators.

/** What the filter and the query of an evaluator may ask for: what is stored of a call. */
const evaluatedKind = (): RecordKind => callKind(noIncludes);

const asksOnlyOfCalls = z.check<{ readonly query?: Expression | null | undefined }>(({ value, issues }) => {
  if (value.query && pathsIn(value.query).some(({ field }) => field === 'feedback'))
    issues.push(problem('should not ask for feedback, which comes after the call', value, 'query'));
});

const oneOfBoth = z.check<{
  readonly judge?: Judge | null | undefined;
  readonly check?: Check | null | undefined;
  readonly max_usd_per_day?: number | null | undefined;
}>(({ value, issues }) => {
  if (!value.judge === !value.check)
    issues.push(problem('should have exactly one of judge and check', value));
  if (value.judge && typeof value.max_usd_per_day !== 'number')
    issues.push(problem('is required with a judge: the daily budget in dollars', value, 'max_usd_per_day'));
});

/** A name that can be a part of a type of feedback, also between brackets. */
export const typeName = displayText.check(
  z.refine(
    (text) => text.length <= 128 && !/[[\]]/.test(text),
    rule('should be at most 128 characters, without brackets'),
  ),
);

/** The value of an object of class `Evaluator`. */
export const evaluator = () =>
  record(
    {
      _type: field(z.literal(evaluatorClass), 'Its class.'),
      name: field(typeName, 'Its verdicts are feedback of the type `evaluation.<name>`.'),
      filter: filter(),
      query: field(optionalQuery(evaluatedKind()), queryText),
      on: field(
        z.enum(['call', 'trace']),
        'Whether it judges each call that matches once it ends, or traces whose root matches.',
      ),
      sample_rate: field(finite(z.minimum(0), z.maximum(1)), 'The share of what matches, from 0 to 1.'),
      judge: field(nullish(judge()), 'A model, and what it is asked.'),
      check: field(nullish(check()), 'A check that takes no model.'),
      max_usd_per_day: field(
        nullish(finite(z.minimum(0), z.maximum(1_000_000))),
        'The most dollars that its judge may cost in a UTC day.',
      ),
      enabled: field(z.boolean(), 'Whether it judges what ends from now on.'),
      saved_at: field(nullish(time), 'When it was saved.'),
    },
    { ...queryNames, _type: 'type' },
    undefined,
    asksOnlyOfCalls as never,
    oneOfBoth as never,
  ).register(documented, { name: 'Evaluator' });

/** The value as it is sent and stored. */
export type EvaluatorValue = z.input<ReturnType<typeof evaluator>>;

/** What judges calls, checked. Either its judge or its check is not null. */
export type Evaluator = z.output<ReturnType<typeof evaluator>>;

const maxScorers = 10;

const scoreBody = () =>
  record({
    project_id: project,
    call_ids: field(listSchema(id, maxScored), 'The calls.'),
    scorer_refs: field(
      nullish(refs(maxScorers)),
      'Refs to versions of objects of class `Evaluator`, in the same project.',
    ),
    evaluator: field(
      nullish(freeObject),
      'Instead of refs: the value of an object of class `Evaluator` that is not stored, to try it. It judges up to 10 calls at once, and the answer has its verdicts. With a judge it takes the role `admin`.',
    ),
    dry_run: flag('Whether nothing is judged, and only the price given.'),
    svc_user_id: ignoredUser,
  });

/** Which calls are to be judged, and by whom. */
export type ScoreRequest = z.output<ReturnType<typeof scoreBody>>;

const tried = () =>
  z
    .object({
      call_id: field(z.string(), 'The call.'),
      value: field(
        z.nullable(z.union([z.boolean(), z.number(), z.string()])),
        'What the evaluator says; null if it could not judge.',
      ),
      reason: field(z.optional(z.string()), 'Why it says so.'),
      error: field(z.optional(z.string()), 'Why there is no value.'),
      call_ref: field(
        z.nullable(z.string()),
        "The judge's own call; null for a check, or if none is of use.",
      ),
      usd: field(z.nullable(z.number()), 'What the judge cost, in dollars; null if nobody knows.'),
    })
    .register(documented, { name: 'TriedVerdict' });

export const callsScore = /* @__PURE__ */ endpoint({
  path: '/calls/score',
  role: 'write',
  shape: { ...batch, timeoutSeconds: 120 },
  stores: { calls: 'get', payloads: 'read', objects: 'read', costs: 'read', feedback: 'find' },
  evaluations: true,
  tag: 'calls',
  name: 'CallsScore',
  summary: 'Judge existing calls',
  description:
    'Has evaluators judge calls, whatever their filter, query and sample rate. The switch and the limit of the latest version hold for all versions of an evaluator with a judge; a check judges even if it is not enabled. Their verdicts come as feedback of the type `evaluation.<name>` soon after. Calls that an evaluator has judged already, calls that have not ended, and calls of judges are passed over. An `evaluator` that is not stored is tried: the answer has its verdicts, and none is stored. It takes the setting `evaluators`: without it the answer is a 422 that says so, unless it is a dry run.',
  request: scoreBody,
  answer: () =>
    z.object({
      calls: field(z.int(), 'How many of the calls will be judged, or were.'),
      estimated_usd: field(
        z.nullable(z.number()),
        'About what the judges will cost, in dollars; null if the price of a model is not known.',
      ),
      is_on: field(z.boolean(), 'Whether the setting `evaluators` is on, so that anything is judged.'),
      spent_today_usd: field(
        z.array(z.number()),
        'What each of the refs has spent of its `max_usd_per_day`, in dollars; none without the setting.',
      ),
      verdicts: field(z.array(tried()), 'Of an evaluator that is tried; otherwise none.'),
    }),
  examples: {
    price: {
      summary: 'What it would cost to judge the turn',
      body: {
        project_id: 'acme/shop',
        call_ids: ['turn-1'],
        scorer_refs: ['svc:///acme/shop/object/brief:latest'],
        dry_run: true,
      },
      answer: { calls: 1, estimated_usd: 0, is_on: false, spent_today_usd: [], verdicts: [] },
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const evaluatorRoutes = [callsScore] as const;
