import { describe, expect, it } from 'vitest';
import { isVerdictId, judgedBy, toVerdictType } from '../../../../api/shared/evaluators.ts';
import { verdictId } from '../../../../core/workers/evaluators/evaluator.ts';
import { deriveId, type ProjectId } from '../../../../foundations/wire/index.ts';

describe('the id of a verdict', () => {
  const loaded = { projectId: 'acme/shop' as ProjectId, objectId: 'polite', identity: 'digest' };

  it('tells it from what clients give', () => {
    expect(isVerdictId(verdictId(loaded, 'call-1'))).toBe(true);
    expect(isVerdictId(deriveId(1_790_847_000_000, 'of a client'))).toBe(false);
  });
});

describe('the type of a verdict', () => {
  it('names the evaluator', () => {
    expect(toVerdictType('polite.tone')).toBe('evaluation.polite.tone');
    expect(judgedBy(toVerdictType('polite.tone'))).toBe('polite.tone');
  });

  it.each(['evaluation.', 'evaluations.x', 'annotation.x', ''])('is not %j', (type) => {
    expect(judgedBy(type)).toBeUndefined();
  });
});
