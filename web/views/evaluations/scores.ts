import { hashKey } from '@tanstack/react-query';
import { judgedBy } from '../../../api/shared/evaluators.ts';
import { askedBy } from '../../../api/shared/feedback.ts';
import type { CallFeedback } from '../../api/contract.ts';
import { isObject } from '../../data/values.ts';

/*
 * What evaluations report: those of the examples, and those of Weave's SDKs, which nest the scores of
 * a scorer and name some fields otherwise.
 */

/** Scores by their names: `correct`, or `exact.correct` for a field of what a scorer answers. */
export interface Scores {
  /** Numbers; 1 and 0 for true and false. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Labels and reasons. */
  readonly texts: ReadonlyMap<string, string>;
}

const maxDepth = 4;

const joined = (name: string, key: string): string => (key === 'value' ? name : `${name}.${key}`);

/** Reads the scores of a row. Lists and null are none. */
export const scoresIn = (scores: unknown): Scores => {
  const numbers = new Map<string, number>();
  const texts = new Map<string, string>();
  const read = (name: string, value: unknown, depth: number): void => {
    if (typeof value === 'number' || typeof value === 'boolean') numbers.set(name, Number(value));
    else if (typeof value === 'string') texts.set(name, value);
    else if (isObject(value) && depth < maxDepth)
      for (const [key, inner] of Object.entries(value)) read(joined(name, key), inner, depth + 1);
  };
  if (isObject(scores)) for (const [name, value] of Object.entries(scores)) read(name, value, 1);
  return { numbers, texts };
};

/** Fields of a summary that are no scores. */
const noScores = new Set(['model_latency', 'model_output', 'model_success']);

/** Where Weave's logger has what a program gives as a summary itself. */
const givenField = 'output';

/** The mean in a part of a summary, as the examples and Weave's SDKs write it; undefined for none. */
const summedIn = ({ mean, true_fraction }: Readonly<Record<string, unknown>>): number | undefined =>
  [mean, true_fraction].find((value) => typeof value === 'number');

/**
 * The mean of each score, from the output of an evaluation: `{"mean"}`, `{"true_fraction"}`, or a
 * number that a program gave itself.
 */
export const meansIn = (output: unknown): ReadonlyMap<string, number> => {
  const means = new Map<string, number>();
  /** @param onlyReported whether only what a program gave itself counts */
  const read = (name: string, value: unknown, onlyReported: boolean, depth: number): void => {
    if (typeof value === 'number' || typeof value === 'boolean') means.set(name, Number(value));
    if (!isObject(value) || depth > maxDepth) return;
    const summed = summedIn(value);
    if (summed === undefined)
      for (const [key, inner] of Object.entries(value))
        read(name === '' ? key : joined(name, key), inner, onlyReported, depth + 1);
    else if (!onlyReported) means.set(name, summed);
  };
  if (!isObject(output)) return means;
  for (const [name, value] of Object.entries(output)) {
    // What the outputs of the function come to is no score.
    if (name === givenField && isObject(value)) read('', value, true, 1);
    else if (!noScores.has(name)) read(name, value, false, 1);
  }
  return means;
};

/** The mean latency of a row that an evaluation's output has, in ms; undefined without one. */
export const latencyIn = (output: unknown): number | undefined => {
  const latency = isObject(output) && isObject(output.model_latency) ? output.model_latency.mean : undefined;
  return typeof latency === 'number' ? latency * 1000 : undefined;
};

/** Something that an evaluation names: a dataset, a model. */
export interface Named {
  readonly name: string;
  /** The digest of its version, short. @default - none is known */
  readonly version?: string;
}

/** How much of a digest tells versions apart. */
const shortDigest = 7;

/** What a ref, an object or a text names; undefined if it names nothing. */
export const namedBy = (value: unknown): Named | undefined => {
  if (isObject(value)) return namedBy(value.name);
  if (typeof value !== 'string' || value === '') return undefined;
  const ref = /^\w+:\/\/\/[^/]+\/[^/]+\/(?:object|op)\/([^/:]+):([^/]+)/.exec(value);
  const [, name, version = ''] = ref ?? [];
  return name === undefined ? { name: value } : { name, version: version.slice(0, shortDigest) };
};

/** What tells an example from others: its content, or the digest in its ref. */
export const exampleKey = (example: unknown): string =>
  typeof example === 'string'
    ? (/\/attr\/rows\/id\/([^/]+)$/.exec(example)?.[1] ?? example)
    : hashKey([example]);

/** Fields of an example that say what is expected. */
export const expectedFields = ['expected', 'expected_output', 'target'] as const;

/** What an example gives to the function, and what it expects; undefined if it does not say. */
export const splitExample = (example: unknown): { readonly inputs: unknown; readonly expected: unknown } => {
  if (!isObject(example)) return { inputs: example, expected: undefined };
  const field = expectedFields.find((name) => Object.hasOwn(example, name));
  const expected = field && example[field];
  if (Object.hasOwn(example, 'inputs')) return { inputs: example.inputs, expected };
  const inputs = Object.fromEntries(Object.entries(example).filter(([name]) => name !== field));
  return { inputs, expected };
};

/** Fields in which scorers say why. */
const reasonFields = ['reason', 'explanation', 'rationale', 'reasoning', 'comment'] as const;

/** The name of a score's scorer: that of the op which made it. */
const getScorer = (score: string): string => score.split('.', 1)[0] ?? score;

/** Whether an operation is a scorer's, by its name: `correct`, or `Correct.score` for a class. */
export const isScorer = (op: string, score: string): boolean =>
  op === getScorer(score) || op === `${getScorer(score)}.score`;

/** Why a scorer scored as it did; undefined if its output does not say. */
export const reasonIn = (output: unknown): string | undefined => {
  if (!isObject(output)) return undefined;
  const found = reasonFields.map((field) => output[field]).find((text) => typeof text === 'string');
  return typeof found === 'string' ? found : undefined;
};

/** What an evaluator, or a person in a review, said of a call. */
export interface Verdict {
  /** Undefined if it came to none. */
  readonly value: unknown;
  readonly reason: string | undefined;
}

/** The verdicts in feedback, by the names of evaluators and of fields of reviews: the latest of each. */
export const verdictsIn = (
  records: readonly Pick<CallFeedback, 'feedback_type' | 'payload'>[],
): Map<string, Verdict> =>
  new Map(
    records.flatMap(({ feedback_type, payload }): [string, Verdict][] => {
      const name = judgedBy(feedback_type) ?? askedBy(feedback_type);
      if (name === undefined || !isObject(payload)) return [];
      const { value, reason, error } = payload;
      return [[name, { value, reason: [reason, error].find((text) => typeof text === 'string') }]];
    }),
  );

/** Scores with verdicts beside them. A score keeps its place if a verdict has the same name. */
export const withVerdicts = (
  { numbers, texts }: Scores,
  verdicts: ReadonlyMap<string, Verdict> | undefined,
): Scores => {
  const values = [...(verdicts ?? [])].map(([name, { value }]) => [name, value] as const);
  const reportedScores = scoresIn(Object.fromEntries(values));
  return {
    numbers: new Map([...reportedScores.numbers, ...numbers]),
    texts: new Map([...reportedScores.texts, ...texts]),
  };
};
