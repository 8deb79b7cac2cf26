import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('names of Weave', () => {
  it('come before all others', () => {
    const attributes = { 'wandb.thread_id': 'w', 'session.id': 's' };
    expect(translate(spanOf({ attributes })).threadId).toBe('w');
  });
});
