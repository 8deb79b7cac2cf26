import { type DemoCall, newId, tokensIn, toUsage } from './conversations.ts';

/*
 * What the shop's team works with beside its traces: a dataset with two evaluations, an evaluator, an alert,
 * and a queue of reviews that has begun.
 */

/** What people ask, and what is expected of an answer. */
export const questions = [
  { inputs: { question: 'Where is my order W1001?' }, expected: 'It is on its way, with DHL.' },
  { inputs: { question: 'Can I return a helmet that I wore once?' }, expected: 'Yes, within 30 days.' },
  { inputs: { question: 'Does the Tourer 7 take 2.2 inch tires?' }, expected: 'No, 2.0 inches at most.' },
  { inputs: { question: 'My chain skips. What now?' }, expected: 'Measure it: chain or cassette are worn.' },
  { inputs: { question: 'Do you ship to Switzerland?' }, expected: 'Yes, for 19 francs.' },
  { inputs: { question: 'Which pump fits a Presta valve?' }, expected: 'Any of ours.' },
  { inputs: { question: 'I was charged twice.' }, expected: 'One is a hold, and ends within three days.' },
  { inputs: { question: 'When is my bike back?' }, expected: 'Thursday at noon.' },
] as const;

/** The models that were evaluated, with the questions that each gets wrong, the earlier one first. */
const runs = [
  { model: 'gpt-4o', wrong: [2], hoursAgo: 26, slower: 1.6 },
  { model: 'gpt-4o-mini', wrong: [1, 4, 5], hoursAgo: 3, slower: 1 },
] as const;

/** What a model says that does not know better. */
const evasion = 'Please ask our service team.';

/** How long a model takes for a question, in ms. */
const latencyOf = (at: number, slower: number): number => Math.round((300 + ((at * 130) % 170)) * slower);

const computeMean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const attributes = { source: 'evaluation' };

/** An evaluation as its runner reports it: a root, rows below it, and in each row the model and the score. */
const toRun = (
  self: string,
  now: number,
  { model, wrong, hoursAgo, slower }: (typeof runs)[number],
): DemoCall[] => {
  const root = newId();
  const began = now - hoursAgo * 3_600_000;
  const place = { trace: root, thread: null, turn: null, attributes };
  const lengthMs = 900;
  const rows = questions.flatMap((example, at): DemoCall[] => {
    const correct = !wrong.some((each) => each === at);
    const output = correct ? example.expected : evasion;
    const id = newId();
    const ms = latencyOf(at, slower);
    const start = began + 5 + at * lengthMs;
    const messages = [{ role: 'user', content: example.inputs.question }];
    const usage = toUsage(model, 40 + tokensIn(messages), tokensIn(output));
    const scores = { correct: Number(correct), brevity: Math.round(100 - output.length) / 100 };
    const scored = { value: correct, reason: correct ? 'It says what is expected.' : 'It does not answer.' };
    return [
      {
        ...place,
        id,
        parent: root,
        op: 'Evaluation.predict_and_score',
        start,
        ms: ms + 10,
        inputs: { example, model },
        output: { output, scores, model_latency: ms / 1000 },
      },
      {
        ...place,
        id: newId(),
        parent: id,
        op: 'answer',
        start: start + 1,
        ms,
        inputs: { model, messages },
        output,
        summary: usage,
      },
      {
        ...place,
        id: newId(),
        parent: id,
        op: 'correct',
        start: start + ms + 2,
        ms: 2,
        inputs: { output, example },
        output: scored,
      },
    ];
  });
  const latencies = questions.map((_, at) => latencyOf(at, slower) / 1000);
  const share = (questions.length - wrong.length) / questions.length;
  const evaluation: DemoCall = {
    ...place,
    id: root,
    parent: null,
    op: 'Evaluation.evaluate',
    start: began,
    ms: questions.length * lengthMs + 20,
    inputs: { self, model },
    output: { correct: { mean: share }, model_latency: { mean: computeMean(latencies) } },
  };
  return [evaluation, ...rows];
};

/** Two evaluations of the dataset. */
export const evaluationsOf = (self: string, now: number): DemoCall[] =>
  runs.flatMap((run) => toRun(self, now, run));

/** What users did, and not what evaluations and judges try. */
const ofUsers = { sources: ['production'] } as const;

/** Judges all turns of the assistants, by a check that costs nothing. */
export const evaluator = {
  _type: 'Evaluator',
  name: 'in_time',
  on: 'call',
  filter: { ...ofUsers, trace_roots_only: true },
  sample_rate: 1,
  check: { max_latency_ms: 3000 },
  enabled: true,
} as const;

/** Fires when more than a tenth of an hour's calls failed. It tells nobody until a target is added. */
export const alert = {
  _type: 'Alert',
  name: 'Too many errors',
  filter: ofUsers,
  metric: { metric: 'error_count', aggregation: 'avg' },
  window_minutes: 60,
  direction: 'above',
  warn: 0.05,
  alert: 0.1,
  tell: [],
  enabled: true,
} as const;

/** What reviewers are asked, by the ids of the fields. */
export const reviewFields = {
  correct: {
    _type: 'AnnotationSpec',
    name: 'Correct',
    description: 'Does the answer say what is true of the order?',
    field_schema: { type: 'boolean' },
  },
  tone: {
    _type: 'AnnotationSpec',
    name: 'Tone',
    field_schema: { type: 'string', enum: ['friendly', 'plain', 'rude'] },
  },
} as const;

/** From how many ms on people look at a turn. */
const slowMs = 3000;

/** The queue of turns that took long. */
export const toQueue = (fields: readonly string[]) => ({
  _type: 'ReviewQueue',
  name: 'Slow answers',
  filter: { ...ofUsers, trace_roots_only: true },
  query: { $expr: { $gt: [{ $getField: 'summary.svc.latency_ms' }, { $literal: slowMs }] } },
  fields,
});

/** The first reviews of the queue. */
export const reviewsOf = (
  project: string,
  calls: readonly DemoCall[],
  refs: { readonly correct: string; readonly tone: string },
): object[] =>
  calls
    .filter(({ parent, ms }) => parent === null && ms !== null && ms > slowMs)
    .slice(-3)
    .flatMap(({ id }, at) => {
      const common = { project_id: project, svc_ref: `svc:///${project}/call/${id}` };
      const value = at === 1 ? 'plain' : 'friendly';
      return [
        {
          ...common,
          feedback_type: 'annotation.correct',
          payload: { value: at !== 1 },
          annotation_ref: refs.correct,
        },
        { ...common, feedback_type: 'annotation.tone', payload: { value }, annotation_ref: refs.tone },
      ];
    });
