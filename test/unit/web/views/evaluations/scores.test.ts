import { describe, expect, it } from 'vitest';
import {
  exampleKey,
  isScorer,
  latencyIn,
  meansIn,
  namedBy,
  reasonIn,
  scoresIn,
  splitExample,
  verdictsIn,
  withVerdicts,
} from '../../../../../web/views/evaluations/scores.ts';

describe('what evaluations report', () => {
  it('has the scores of a row, also those that scorers of Weave nest', () => {
    const { numbers, texts } = scoresIn({
      correct: true,
      brevity: 0.9,
      exact: { match: false, reason: 'too long' },
      judged: { value: 3, reason: 'fair' },
      tone: 'polite',
      lost: null,
      many: [1, 2],
    });
    expect([...numbers]).toEqual([
      ['correct', 1],
      ['brevity', 0.9],
      ['exact.match', 0],
      ['judged', 3],
    ]);
    expect([...texts]).toEqual([
      ['exact.reason', 'too long'],
      ['judged.reason', 'fair'],
      ['tone', 'polite'],
    ]);
    expect(scoresIn(undefined).numbers.size).toBe(0);
  });

  it('has the means of the examples and of Weave in its output', () => {
    expect([...meansIn({ correct: { mean: 0.5 }, model_latency: { mean: 0.2 } })]).toEqual([
      ['correct', 0.5],
    ]);
    const ofWeave = {
      output: { mean: 3.5 },
      exact: { correct: { true_count: 2, true_fraction: 2 / 3 } },
      Distance: { distance: { mean: 0.3 } },
      model_success: { true_count: 3, true_fraction: 1 },
    };
    expect([...meansIn(ofWeave)]).toEqual([
      ['exact.correct', 2 / 3],
      ['Distance.distance', 0.3],
    ]);
    // The logger in Python puts what a program says itself into `output`, the one in JavaScript does not.
    expect([...meansIn({ correct: { true_fraction: 1 }, output: { of: 3 } })]).toEqual([
      ['correct', 1],
      ['of', 3],
    ]);
    expect([...meansIn({ of: 3 })]).toEqual([['of', 3]]);
    expect(meansIn(null).size).toBe(0);
    expect(latencyIn({ model_latency: { mean: 0.25 } })).toBe(250);
    expect(latencyIn('done')).toBeUndefined();
  });

  it('names models and datasets by refs, objects and texts', () => {
    const digest = 'a1b2c3d4e5f6';
    expect(namedBy(`weave:///acme/shop/object/questions:${digest}`)).toEqual({
      name: 'questions',
      version: 'a1b2c3d',
    });
    expect(namedBy(`svc:///acme/shop/op/answer:v1`)).toEqual({ name: 'answer', version: 'v1' });
    expect(namedBy({ name: 'a-model' })).toEqual({ name: 'a-model' });
    expect(namedBy('careful')).toEqual({ name: 'careful' });
    expect(namedBy(undefined)).toBeUndefined();
  });

  it('has examples that are the same whatever the order of their keys, or by the digest of a row', () => {
    expect(exampleKey({ a: 1, b: { c: 2, d: 3 } })).toBe(exampleKey({ b: { d: 3, c: 2 }, a: 1 }));
    expect(exampleKey({ a: 1 })).not.toBe(exampleKey({ a: '1' }));
    const ref = (version: string) => `weave:///acme/shop/object/questions:${version}/attr/rows/id/row1`;
    expect(exampleKey(ref('v1'))).toBe(exampleKey(ref('v2')));
  });

  it('has what an example gives and expects', () => {
    expect(splitExample({ inputs: { x: 1 }, expected: 2, source: 's' })).toEqual({
      inputs: { x: 1 },
      expected: 2,
    });
    expect(splitExample({ x: 1, target: 2 })).toEqual({ inputs: { x: 1 }, expected: 2 });
    expect(splitExample('a ref')).toEqual({ inputs: 'a ref', expected: undefined });
  });

  it('has reasons in what scorers answer, who are functions or classes', () => {
    expect(reasonIn({ value: 1, reason: 'good' })).toBe('good');
    expect(reasonIn({ match: false, explanation: 'short' })).toBe('short');
    expect(reasonIn(true)).toBeUndefined();
    expect(isScorer('exact', 'exact.correct')).toBe(true);
    expect(isScorer('Distance.score', 'Distance.distance')).toBe(true);
    expect(isScorer('inexact', 'exact.correct')).toBe(false);
  });

  it('has verdicts of evaluators and of reviews beside the scores, the latest of each', () => {
    const verdicts = verdictsIn([
      { feedback_type: 'evaluation.polite', payload: { value: false, reason: 'rude' } },
      { feedback_type: 'evaluation.polite', payload: { value: true, reason: 'kind' } },
      { feedback_type: 'evaluation.lost', payload: { error: 'no answer' } },
      { feedback_type: 'wandb.annotation.tone', payload: { value: 'warm' } },
      { feedback_type: 'evaluation.correct', payload: { value: 0 } },
      { feedback_type: 'thumbs', payload: { up: true } },
    ]);
    expect([...verdicts.keys()]).toEqual(['polite', 'lost', 'tone', 'correct']);
    expect(verdicts.get('polite')).toEqual({ value: true, reason: 'kind' });
    expect(verdicts.get('lost')).toEqual({ value: undefined, reason: 'no answer' });
    const { numbers, texts } = withVerdicts(scoresIn({ correct: 1 }), verdicts);
    expect(Object.fromEntries(numbers)).toEqual({ polite: 1, correct: 1 });
    expect([...texts]).toEqual([['tone', 'warm']]);
  });
});
