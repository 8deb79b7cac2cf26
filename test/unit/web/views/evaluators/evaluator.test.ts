import { describe, expect, it } from 'vitest';
import { type EvaluatorValue, evaluator } from '../../../../../api/evaluators.ts';
import {
  emptyDraft,
  evaluatorValue,
  kindText,
  onText,
  toDraft,
  toObjectId,
} from '../../../../../web/views/evaluators/evaluator.ts';
import { checking, politeness } from '../../../../support/values/evaluators.ts';

/** Evaluators of every kind, as the service takes them. */
const values = [
  politeness(),
  politeness({
    on: 'trace',
    sample_rate: 0.125,
    filter: { op_names: ['chat'], trace_roots_only: true },
    query: {
      $expr: {
        $and: [
          { $eq: [{ $getField: 'attributes.kind' }, { $literal: 'model' }] },
          { $gt: [{ $getField: 'output.n' }, { $literal: 3 }] },
          { $or: [{ $eq: [{ $getField: 'id' }, { $literal: 'a' }] }] },
        ],
      },
    },
    judge: {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be strict.' },
        { role: 'user', content: '{{inputs}}' },
      ],
      answer: { type: 'label', labels: ['good', 'bad'] },
      parameters: { temperature: 0 },
    },
  }),
  politeness({ judge: { ...politeness().judge, answer: { type: 'number', minimum: 1, maximum: 5 } } }),
  checking({ contains: 'x' }),
  checking({ json_schema: { type: 'object' } }),
  checking({ max_cost_usd: 0.01 }, { enabled: false }),
] as EvaluatorValue[];

describe('an evaluator in the form', () => {
  it.each(values)('is what was stored, whatever it is: %j', (value) => {
    expect(evaluatorValue(toDraft(value), value.enabled)).toEqual(value);
  });

  it('is one that the service takes, from the first draft on', () => {
    const draft = { ...emptyDraft('judge'), name: ' polite ', model: 'm' };
    const value = evaluatorValue(draft, true);
    expect(evaluator().safeParse(value).error).toBeUndefined();
    expect(value).toMatchObject({ name: 'polite', sample_rate: 1, enabled: true });
  });

  it('says what is no number and no JSON', () => {
    const draft = { ...emptyDraft('judge'), name: 'x' };
    expect(() => evaluatorValue({ ...draft, sample: 'all' }, true)).toThrow('should be a number');
    expect(() => evaluatorValue({ ...draft, parameters: '{' }, true)).toThrow('should be JSON');
    expect(() =>
      evaluatorValue({ ...emptyDraft('check'), check: 'max_latency_ms', checked: '' }, true),
    ).toThrow('should be a number');
    expect(() => evaluatorValue(emptyDraft('check'), true)).toThrow('The output contains nothing');
  });

  it('is told in words', () => {
    expect(values.map(kindText)).toEqual([
      'gpt-4o-mini: true or false',
      'm: good, bad',
      'gpt-4o-mini: 1 to 5',
      'check: contains “x”',
      'check: fits a JSON Schema',
      'check: costs at most $0.0100',
    ]);
    expect(values.slice(0, 2).map(onText)).toEqual([
      'all calls, all sources',
      '12.5 % of traces, all sources, 4 filters',
    ]);
    const roots = { ...politeness(), filter: { trace_roots_only: true, sources: ['production'] } };
    expect(onText(roots as (typeof values)[number])).toBe('all traces, production');
    expect(toObjectId(' Is it polite? ')).toBe('Is-it-polite');
  });
});
