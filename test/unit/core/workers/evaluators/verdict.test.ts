import { describe, expect, it } from 'vitest';
import type { JudgeAnswer } from '../../../../../api/evaluators.ts';
import type { LoadedEvaluator } from '../../../../../core/workers/evaluators/evaluator.ts';
import { isSampled, verdictId } from '../../../../../core/workers/evaluators/evaluator.ts';
import { answerRule, readVerdict } from '../../../../../core/workers/evaluators/verdict.ts';
import { parseProjectId } from '../../../../../foundations/wire/index.ts';

const answer = (fields: Partial<JudgeAnswer>): JudgeAnswer => ({
  type: 'boolean',
  labels: null,
  minimum: null,
  maximum: null,
  ...fields,
});
const boolean = answer({});
const number = answer({ type: 'number', minimum: 1, maximum: 5 });
const label = answer({ type: 'label', labels: ['Good', 'Bad'] });

describe('the answer of a judge', () => {
  it.each<[string, JudgeAnswer, string, unknown]>([
    ['as it was asked for', boolean, '{"value": true, "reason": "so"}', true],
    ['within a fence and sentences', boolean, 'Sure:\n```json\n{"value": false}\n```\nDone.', false],
    ['with yes or no', boolean, '{"value": "No"}', false],
    ['with a number as a text', number, '{"value": "4.5"}', 4.5],
    ['with a label in another case', label, '{"value": "bad "}', 'Bad'],
  ])('is read %s', (_, asked, text, value) => {
    expect(readVerdict(asked, text)?.value).toBe(value);
  });

  it.each<[string, JudgeAnswer, string]>([
    ['is no JSON', boolean, 'true'],
    ['has no value', boolean, '{"verdict": true}'],
    ['has neither true nor false', boolean, '{"value": "maybe"}'],
    ['is below the least', number, '{"value": 0}'],
    ['is above the most', number, '{"value": 6}'],
    ['is no number', number, '{"value": ""}'],
    ['is none of the labels', label, '{"value": "so so"}'],
  ])('is of no use if it %s', (_, asked, text) => {
    expect(readVerdict(asked, text)).toBeUndefined();
  });

  it('is asked for in words that say what it may be', () => {
    expect(answerRule(number)).toContain('a number, at least 1 and at most 5');
    expect(answerRule(label)).toContain('one of "Good", "Bad"');
  });
});

describe('an evaluator', () => {
  const projectId = parseProjectId('acme/shop') ?? ('' as never);
  const loaded = (sampleRate: number): LoadedEvaluator =>
    ({ projectId, objectId: 'e', identity: 'i', evaluator: { sampleRate } }) as LoadedEvaluator;
  const ids = Array.from({ length: 2000 }, (_, n) => `call-${n}`);
  const takeSample = (rate: number) => ids.filter((id) => isSampled(loaded(rate), id));

  it('samples about its share of calls, always the same, and more of them with a larger share', () => {
    expect(takeSample(0)).toEqual([]);
    expect(takeSample(1)).toEqual(ids);
    expect(takeSample(0.25).length / ids.length).toBeCloseTo(0.25, 1);
    expect(takeSample(0.5)).toEqual(expect.arrayContaining(takeSample(0.25)));
  });

  it('gives each call a verdict of one id, which another prompt or another object changes', () => {
    const id = verdictId(loaded(1), 'c');
    expect(verdictId(loaded(0.5), 'c')).toBe(id);
    expect(
      new Set([
        id,
        verdictId(loaded(1), 'd'),
        verdictId({ ...loaded(1), identity: 'j' }, 'c'),
        verdictId({ ...loaded(1), objectId: 'f' }, 'c'),
      ]).size,
    ).toBe(4);
  });
});
