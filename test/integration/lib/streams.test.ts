import { describe, expect, it } from 'vitest';
import { lanesOfShard } from '../../../bin/cost/bill.ts';
import { findResources, synthesize } from '../../support/stack/template.ts';

/** The readers of streams with these settings: the ids of their mappings, and how each reads. */
const readersWith = (settings: Record<string, unknown>) =>
  [...findResources(synthesize(settings), 'AWS::Lambda::EventSourceMapping')]
    .filter(([, { Properties }]) => Properties.StartingPosition !== undefined)
    .map(([id, { Properties }]) => ({
      id,
      from: Properties.StartingPosition,
      lanes: Properties.ParallelizationFactor,
    }));

describe('a reader of streams', () => {
  it.each<[string, Record<string, unknown>]>([
    ['alone', { events: true }],
    ['on a stack that has analytics', { events: true, analytics: true }],
    ['on a stack that has evaluators', { events: true, evaluators: true }],
  ])('of events begins with what comes from then on, %s', (_, settings) => {
    const readers = readersWith(settings).filter(({ id }) => id.startsWith('Events'));
    expect(readers.map(({ from }) => from)).toEqual(['LATEST', 'LATEST']);
  });

  it('of anything else begins with all that there is, for that hurts nobody', () => {
    const readers = readersWith({ analytics: true, evaluators: true });
    expect(readers.map(({ from }) => from)).toEqual(['TRIM_HORIZON', 'TRIM_HORIZON', 'TRIM_HORIZON']);
  });

  it.each(['events', 'analytics', 'evaluators'] as const)(
    'of %s works on as many batches of a shard at once as its bill says',
    (setting) => {
      for (const { lanes } of readersWith({ [setting]: true })) expect(lanes).toBe(lanesOfShard[setting]);
    },
  );
});
